import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../../api/context.ts";
import { parseSenders } from "../../api/senders.ts";
import { openLocal, type ServiceOptions } from "../../api/service/composition.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { extensions } from "../../extensions/index.ts";
import type { Publication } from "../../publish/publication.ts";
import type { ReadFragment } from "../../registry/targets/facts.ts";
import { createSite } from "../../site/extension.ts";
import type { ServiceCatalogue } from "../../site/process/catalogue-process.ts";
import type { StoreLimits } from "../../store/git/base.ts";
import { runGit } from "../../store/git/commands/run.ts";
import type { GitStore } from "../../store/git/git-store.ts";
import { describedAt } from "../registry/targets/samples.ts";
import { Requests, senders } from "./handlers.ts";
import { root } from "./process.ts";
import { eventually } from "./wait.ts";
import { temporaryFolder, writeFiles } from "./world.ts";

export * from "./handlers.ts";

/** One has a service description. */
export async function copyLayers(folder: string): Promise<void> {
	await cp(join(root, "tests/fixtures/layers"), join(folder, "layers"), { recursive: true });
	const { service_url } = JSON.parse(await readFile(join(folder, "layers/oz/ozone.json"), "utf8")).en;
	writeFiles(folder, { "layers/oz/ozone.service.json": JSON.stringify(describedAt(service_url)) });
}

/** Judges no push. */
export const unguarded: ServiceOptions["guard"] = async () => undefined;

/** Of the first repository, for the others: the service writes each by a process of git. */
let gitSettings: string | undefined;

interface SiteParts {
	writer?: ServiceCatalogue;
}

export interface LocalParts {
	/** Of the first commit. */
	files?: Record<string, string>;
	filesRetryMs?: number;
	storeLimits?: Partial<StoreLimits>;
	guard?: ServiceOptions["guard"];
	variables?: Record<string, string>;
}

export class Local extends Requests {
	readonly reported: unknown[] = [];
	readonly warnings: string[] = [];
	variables: Record<string, string>;
	guard: ServiceOptions["guard"];
	sendersProblem: string | null = null;
	readonly log: object[] = [];
	readonly #remove: () => Promise<void>;

	private constructor(
		readonly folder: string,
		readonly parts: LocalParts,
		remove: () => Promise<void>,
	) {
		super();
		this.variables = parts.variables ?? {};
		this.guard = parts.guard ?? unguarded;
		this.#remove = remove;
	}

	get repository() {
		return join(this.folder, "repository.git");
	}

	get out() {
		return join(this.folder, "dist");
	}

	#service!: Awaited<ReturnType<typeof openLocal>>;

	store!: GitStore;
	publication!: Publication;
	context!: Context;
	catalogue: ServiceCatalogue | undefined;

	readonly file: ReadFragment = (folder, smallkey) => this.publication.cache.file(folder, smallkey);

	static async open(parts: LocalParts = {}): Promise<Local> {
		const { path, remove } = await temporaryFolder();
		const local = new Local(path, parts, remove);
		const config = join(local.repository, "config");
		if (gitSettings !== undefined) {
			await mkdir(local.repository);
			await writeFile(config, gitSettings);
		}
		await local.start(parts.files);
		gitSettings ??= await readFile(config, "utf8");
		return local;
	}

	async start(files: Record<string, string> = {}) {
		const seed = Object.entries(files).map(([path, text]) => ({ path, text }));
		const environment = { DATA_DIR: this.folder, HARVEST: "off", SITE: "off", ...this.variables };
		const limits = { checkMs: 200, everyMs: 10 };
		const site = createSite({ worker: new URL("../../scripts/catalogue.ts", import.meta.url), limits });
		const all = [site, ...extensions];
		const readers = all.flatMap(({ settings }) => settings ?? []);
		this.#service = await openLocal(
			readConfiguration(environment, ...readers),
			parseSenders(JSON.stringify(senders), ""),
			{
				now: () => new Date(this.now),
				log: {
					info: (fields) => this.log.push(fields),
					warn: (warning) => {
						this.log.push({ warning });
						this.warnings.push(warning);
					},
					error: (error) => this.reported.push(error),
				},
				seed: async () => seed,
				sendersState: () => this.sendersProblem,
				filesRetryMs: this.parts.filesRetryMs ?? 5_000,
				extensions: all,
				storeLimits: this.parts.storeLimits ?? {},
				guard: this.guard,
			},
		);
		this.store = this.#service.store;
		this.publication = this.#service.publication;
		this.context = this.#service.context;
		const [provided] = this.#service.started.map(({ provides }) => provides as SiteParts | undefined);
		this.catalogue = provided?.writer;
	}

	async stop() {
		await this.#service.close();
	}

	async restart() {
		await this.stop();
		await this.start();
	}

	async filesIdle() {
		const { files } = this.publication;
		while (files.working) await files.working;
	}

	async end() {
		await this.stop();
		await this.#remove();
	}

	[Symbol.asyncDispose]() {
		return this.end();
	}

	async git(...args: string[]) {
		return (await runGit(this.repository, args)).toString("utf8").trim();
	}

	/** Once `main` is read, and written to files. A refusal leaves it as it was. */
	async state(): Promise<string> {
		await eventually(async () => (await this.git("rev-parse", "refs/heads/main")) === this.store.tip);
		await this.filesIdle();
		return JSON.stringify([await this.git("for-each-ref"), [...this.publication.files.layers.keys()].sort()]);
	}
}
