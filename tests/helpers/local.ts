import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { answerFailure, answerPlain, routeOf } from "../../api/app.ts";
import type { Context } from "../../api/context.ts";
import { answerRead } from "../../api/read.ts";
import type { Reply } from "../../api/reply.ts";
import { parseSenders, sign } from "../../api/senders.ts";
import { answerWrite, type WriteBody, type Write as WriteHead } from "../../api/write.ts";
import type { FolderTimes } from "../../publish/folder-sink.ts";
import type { Publication } from "../../publish/publication.ts";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { targetNames, targetPath } from "../../registry/targets/table.ts";
import { type LocalService, type Outside, openLocal } from "../../service/composition.ts";
import { readConfiguration } from "../../service/settings.ts";
import type { StoreLimits } from "../../store/git/base.ts";
import type { GitStore } from "../../store/git/git-store.ts";
import { filesBelow } from "../../system/files/below.ts";
import { readTextIfThere } from "../../system/files/if-there.ts";
import { runGit } from "../../system/git/run.ts";
import { assertFrench } from "./french.ts";
import { temporaryFolder } from "./world.ts";

/** Noon of a day on which all clocks of these tests stand, unless a test moves them. */
export const noon = Date.UTC(2026, 2, 4, 12, 0, 0);

export const secrets = { jstest: "test_-k", narrow: "narrow secret", careful: "careful secret" };

const senders = {
	jstest: { key: secrets.jstest, name: "Office of Maps · Bureau des cartes" },
	narrow: { key: secrets.narrow, smallkeys: ["ab*", "x?"] },
	careful: { key: secrets.careful, review: true },
};

/** Copies layers with their descriptions into the folder `layers` of a folder, as a checkout of the project has them. */
export async function copyLayers(folder: string): Promise<void> {
	for (const name of ["layers", "descriptions"]) {
		const from = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
		await cp(from, join(folder, "layers"), { recursive: true });
	}
}

/** The manual's own payload. */
export const manual =
	'{"version":"1.0.0","payload_type":"wms","en":{"service_url":"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en","layer":"limits"},"fr":{"service_url":"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en","layer":"limits"}}';

/** Where a layer is read that every target can express, as its receipt has it. */
export function everyPath(smallkey: string): string[] {
	return targetNames.flatMap((name) => langs.map((lang) => `/${targetPath(name, lang, smallkey)}`));
}

/** No hook: what is pushed comes in as what is fetched or copied into the repository does, whatever is in it. */
export const unguarded: Outside["guard"] = async () => false;

/** A wms payload whose layer is called `layer`. */
export function wms(layer: string): string {
	return manual.replaceAll("limits", layer);
}

/** A registration of 16 kB, which in the form in which it is stored has over 64 KiB. */
export const largeWhenStored = JSON.stringify({
	version: "2.0",
	en: {
		service_type: "esriMapServer",
		service_url: "https://host.example/en/MapServer",
		scrape_only: Array(8_000).fill(7),
	},
	fr: { service_type: "esriMapServer", service_url: "https://host.example/fr/MapServer", scrape_only: [7] },
});

export const feature =
	'{"version":"1.0.0","payload_type":"feature","en":{"service_url":"https://host.example/MapServer/1"},"fr":{"service_url":"https://host.example/MapServer/1"}}';

/** A registration whose services are not asked what they are. */
export const tiles = JSON.stringify({
	version: "2.0",
	en: { service_type: "esriTile", service_url: "https://host.example/en/MapServer" },
	fr: { service_type: "esriTile", service_url: "https://host.example/fr/MapServer" },
});

/** What one write says; what is left out is right. */
export interface Write {
	method?: string;
	target: string;
	body?: string | Uint8Array;
	sender?: string;
	secret?: string;
	timestamp?: string;
	/** Headers instead of, or beside, the signed ones; null leaves one out. */
	headers?: Record<string, string | null>;
}

/**
 * What the first repository of this process has for settings, and the others have when they are made: the service
 * writes each of a dozen by a process of git's own, unless it finds it.
 */
let gitSettings: string | undefined;

/** The refs of a repository with their objects, read without a process (gitrepository-layout(5)). */
async function refsOf(repository: string): Promise<string[]> {
	const packed = (await readTextIfThere(join(repository, "packed-refs"))) ?? "";
	const refs = new Map([...packed.matchAll(/^(\w+) (refs\/.+)$/gm)].map(([, id, name]) => [name, id]));
	for (const name of filesBelow(join(repository, "refs")))
		refs.set(`refs/${name}`, (await readFile(join(repository, "refs", name), "utf8")).trim());
	return [...refs].map(([name, id]) => `${name} ${id}`).sort();
}

/** What a test gives to its service; without it, the service starts empty. */
export interface LocalParts {
	/** The files of the first commit: path → text. */
	files?: Record<string, string>;
	filesTimes?: Partial<FolderTimes>;
	storeLimits?: Partial<StoreLimits>;
	guard?: Outside["guard"];
	variables?: Record<string, string>;
}

/** The service without a port, as it is composed to run: in a temporary folder, with a clock that tests move. */
export class Local {
	now = noon;
	readonly reported: unknown[] = [];
	readonly warnings: string[] = [];
	/** Variables over the tests' own, from the next start on. */
	variables: Record<string, string>;
	guard: Outside["guard"];
	/** Other limits of the catalogue than those of tests. */
	catalogueLimits: Outside["catalogueLimits"] = {};
	/** Bytes that the disk has left, as the service sees it; an error where it cannot be read. */
	freeBytes: number | Error = 2 ** 40;
	/** What is wrong with the senders file, as the service sees it. */
	sendersProblem: string | null = null;
	readonly log: object[] = [];
	readonly #remove: () => Promise<void>;

	private constructor(
		/** `DATA_DIR`. */
		readonly folder: string,
		readonly parts: LocalParts,
		remove: () => Promise<void>,
	) {
		this.variables = parts.variables ?? {};
		this.guard = parts.guard ?? unguarded;
		this.#remove = remove;
	}

	/** The bare repository, and the rendered files. */
	get repository(): string {
		return join(this.folder, "repository.git");
	}

	get out(): string {
		return join(this.folder, "dist");
	}

	#service!: LocalService;

	store!: GitStore;
	publication!: Publication;
	context!: Context;
	catalogue!: LocalService["catalogue"];
	pages!: LocalService["pages"];

	static async open(parts: LocalParts = {}): Promise<Local> {
		const folder = await temporaryFolder();
		const local = new Local(folder.path, parts, folder.remove);
		const config = join(local.repository, "config");
		if (gitSettings !== undefined) {
			await mkdir(local.repository);
			await writeFile(config, gitSettings);
		}
		await local.start(parts.files);
		gitSettings ??= await readFile(config, "utf8");
		return local;
	}

	async start(files: Record<string, string> = {}): Promise<void> {
		const seed = Object.entries(files).map(([path, text]) => ({ path, text }));
		const environment = { DATA_DIR: this.folder, HARVEST: "off", SITE: "off", ...this.variables };
		this.#service = await openLocal(
			readConfiguration(environment),
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
				freeBytes: async () => {
					if (typeof this.freeBytes === "number") return this.freeBytes;
					throw this.freeBytes;
				},
				// A slow machine changes no receipt.
				filesTimes: { waitMs: 120_000, ...this.parts.filesTimes },
				catalogueLimits: {
					collectMs: 10,
					checkMs: 200,
					retryMs: 100,
					maxRetryMs: 200,
					...this.catalogueLimits,
				},
				storeLimits: this.parts.storeLimits ?? {},
				guard: this.guard,
			},
		);
		this.store = this.#service.store;
		this.publication = this.#service.publication;
		this.context = this.#service.context;
		this.catalogue = this.#service.catalogue;
		this.pages = this.#service.pages;
	}

	async stop(): Promise<void> {
		await this.#service.close();
	}

	async restart(): Promise<void> {
		await this.stop();
		await this.start();
	}

	/** Checks the disk now, and not after ten seconds. */
	async lookAtDisk(): Promise<void> {
		await this.#service.disk.check();
	}

	/** Waits until the rendered files are complete, or known to have failed. */
	async filesIdle(): Promise<void> {
		await this.publication.files.idle();
	}

	async end(): Promise<void> {
		await this.stop();
		await this.#remove();
	}

	/** Ends it with a block of `await using`, however the block ends. */
	[Symbol.asyncDispose](): Promise<void> {
		return this.end();
	}

	/** Signs a request and sends it through the routes. Its answer has no English sentence in French. */
	async write({ method = "PUT", target, ...write }: Write): Promise<Response> {
		const route = routeOf(method, target, this.context.settings);
		if (route.kind === "refused") return writtenOf(route.reply);
		if (route.kind !== "write") throw new Error(`${method} ${target} is no write`);
		const signed = await signedWrite({ method, target, ...write }, this.now);
		return writtenOf(await handleWrite({ ...signed, action: route.action }, this.context));
	}

	put(smallkey: string, body = manual): Promise<Response> {
		return this.write({ target: `/register/${smallkey}`, body });
	}

	delete(smallkey: string): Promise<Response> {
		return this.write({ method: "DELETE", target: `/register/${smallkey}` });
	}

	get(target: string, ifNoneMatch: string | null = null, method = "GET"): Reply {
		const route = routeOf(method, target, this.context.settings);
		if (route.kind === "page" || route.kind === "records" || route.kind === "moved")
			throw new Error(`${target} is a page`);
		if (route.kind === "write" || route.kind === "status")
			throw new Error(`${method} ${target} is answered later`);
		if (!("items" in route)) return answerPlain(route, this.context);
		return answerRead(route, ifNoneMatch, this.publication.table.find);
	}

	async git(...args: string[]): Promise<string> {
		return (await runGit(this.repository, args)).toString("utf8").trim();
	}

	/** What is stored and published: the branches and every fragment. A refusal leaves it as it was. */
	async state(): Promise<string> {
		const fragments = [...this.publication.table.smallkeys()].sort();
		return JSON.stringify([await refsOf(this.repository), this.store.tip, fragments]);
	}
}

/** A write as the handlers take it, with its body. */
export type HandledWrite = WriteHead & { body: WriteBody };

function writtenOf(reply: Reply): Response {
	assertFrench(new TextDecoder().decode(reply.bodyIn?.("fr")));
	return responseOf(reply);
}

/** Answers a write as the adapters do. */
export function handleWrite({ body, ...write }: HandledWrite, context: Context): Promise<Reply> {
	const fail = (error: unknown) => answerFailure(error, "write", context.log);
	return answerWrite(write, async () => body, context).catch(fail);
}

/** A write as the handlers take it, signed at a time. */
export async function signedWrite(write: Write, now: number): Promise<HandledWrite> {
	const { method = "PUT", target, sender = "jstest", body = "" } = write;
	const secret = write.secret ?? secrets[sender as keyof typeof secrets] ?? "no such sender";
	const timestamp = write.timestamp ?? new Date(now).toISOString();
	const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
	const signature = await sign(secret, { path: target, sender, timestamp, body: bytes });
	const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp, ...write.headers };
	return {
		action: method === "DELETE" ? "remove" : "register",
		target,
		address: null,
		sender: headers.Sender ?? "",
		timestamp: headers.TimeStamp ?? "",
		signature: headers.Authorization ?? "",
		length: null,
		body: bytes.length > maxRegistrationBytes ? "too large" : bytes,
	};
}

/** The bytes of a reply's body. */
export function bytesOf({ body }: Reply): Uint8Array {
	return body instanceof Uint8Array ? body : Buffer.concat([...body]);
}

/** The text of a reply's body. */
export function textOf(reply: Reply): string {
	return new TextDecoder().decode(bytesOf(reply));
}

/** A reply as a Response, for what tests ask of one. */
export function responseOf(reply: Reply): Response {
	const bytes = bytesOf(reply) as Uint8Array<ArrayBuffer>;
	return new Response(bytes.length > 0 ? bytes : null, { status: reply.status, headers: reply.headers });
}
