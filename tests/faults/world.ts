import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { GitDamage, GitFailure, runGit } from "../../store/git/commands/run.ts";
import { reasonOf } from "../../store/git/health.ts";
import { wms } from "../helpers/local.ts";
import { ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { noteFault } from "./row.ts";
import type { SeenFault } from "./table.mjs";

export const secret = "a publisher's secret";

export class World implements AsyncDisposable {
	server!: ServerProcess;
	/** Smallkey → layer name of what was acknowledged; null: acknowledged to be gone. */
	readonly acknowledged = new Map<string, string | null>();
	readonly senders = JSON.stringify({ faults: secret });
	/** What the last receipt said of the files: they may also be behind on a machine that has much to do. */
	warned: string[] = [];
	#loggedBefore = 0;

	private constructor(
		readonly folder: string,
		readonly remove: () => Promise<void>,
		readonly env: Record<string, string>,
	) {}

	/**
	 * A folder for a service that has not started.
	 * @param folder a folder that somebody else removes
	 */
	static async of(folder: string | null = null, env: Record<string, string> = {}): Promise<World> {
		if (folder !== null) return new World(await realpath(folder), async () => undefined, env);
		const temporary = await temporaryFolder();
		return new World(await realpath(temporary.path), temporary.remove, env);
	}

	static async started(folder: string | null = null, env: Record<string, string> = {}): Promise<World> {
		const world = await World.of(folder, env);
		await world.start();
		try {
			for (const smallkey of ["one", "two"]) assert.is(await world.put(smallkey), "201");
			return world;
		} catch (error) {
			await world.end();
			throw error;
		}
	}

	get repository(): string {
		return join(this.folder, "repository.git");
	}

	async start(): Promise<void> {
		const env = { DATA_DIR: this.folder, SENDERS: this.senders, ...this.env };
		this.server = await ServerProcess.start(env);
		this.#loggedBefore = 0;
	}

	async refusedStart(): Promise<string[]> {
		const said = await this.start().then(
			() => "",
			(error: Error) => error.message,
		);
		assert.match(said, /^ended with 2: /);
		const lines = said
			.replace(/^ended with 2: /, "")
			.split("\n")
			.filter(Boolean);
		return lines.map((line) => this.#mask(line));
	}

	async stop(): Promise<void> {
		assert.is(await this.server.stop(), 0);
	}

	async put(smallkey: string, layer = smallkey): Promise<string> {
		const path = `/register/${smallkey}`;
		const request = await signed(path, wms(layer), { sender: "faults", secret });
		const answer = await fetch(this.server.url + path, request);
		const said = (await answer.json()) as { errors?: string[]; warnings?: string[] };
		if (answer.status === 201) this.acknowledged.set(smallkey, layer);
		if (answer.status === 503) assert.ok(Number(answer.headers.get("Retry-After")) > 0);
		this.warned = said.warnings?.filter((warning) => warning.startsWith("the files")) ?? [];
		if (!said.errors) return String(answer.status);
		return `${answer.status}: ${said.errors.map((error) => error.split(":")[0]).join("; ")}`;
	}

	async putAtLast(smallkey: string): Promise<string> {
		let heard = "";
		await eventually(async () => {
			heard = await this.put(smallkey, `${smallkey} at last`);
			return heard.startsWith("201");
		});
		return heard;
	}

	async read(smallkey: string): Promise<string> {
		const answer = await fetch(`${this.server.url}/v0.9/doc/en/${smallkey}`);
		if (answer.status !== 200) return String(answer.status);
		const { layers } = (await answer.json()) as { layers: { wms: { layerName: string }[] } };
		return layers.wms[0]?.layerName ?? "";
	}

	async readAll(): Promise<string> {
		for (const [smallkey, layer] of this.acknowledged) {
			const found = await this.read(smallkey);
			if (found !== (layer ?? "404")) return `${smallkey}: ${found}`;
		}
		return "200";
	}

	fileOf(smallkey: string): string {
		return join(this.folder, "dist/v0.9/doc/en", smallkey);
	}

	async untilWritten(smallkey = "one"): Promise<void> {
		await eventually(async () => {
			const text = await readFile(this.fileOf(smallkey), "utf8").catch(() => "");
			return text.includes(`"layerName":"${this.acknowledged.get(smallkey)}"`) && text.endsWith("}");
		});
	}

	async readiness(): Promise<string> {
		const answer = await fetch(`${this.server.url}/readyz`);
		return `${answer.status} ${(await answer.text()).trim()}`;
	}

	log(): string[] {
		const lines = this.server.log.slice(this.#loggedBefore);
		this.#loggedBefore += lines.length;
		const texts = lines.flatMap(({ warning, error }) => {
			if (error !== undefined) return [this.#mask(errorKind(String(error)))];
			return warning === undefined ? [] : [this.#mask(String(warning).split("\n")[0] as string)];
		});
		return [...new Set(texts)];
	}

	async note(
		section: SeenFault["section"],
		fault: string,
		seen: Omit<SeenFault, "section" | "fault" | "log"> & { log?: string[] },
	): Promise<void> {
		noteFault({ section, fault, log: this.log(), ...seen });
		await this.check();
	}

	async check(): Promise<void> {
		assert.is(await this.readAll(), "200");
		await this.stop();
		const fsck = await runGit(this.repository, ["fsck", "--strict", "--no-dangling"]);
		assert.is(fsck.toString(), "");
		await this.start();
		assert.is(await this.readAll(), "200");
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.end();
	}

	async end(): Promise<void> {
		await this.server?.kill(true).catch(() => undefined);
		await this.remove();
	}

	#mask(text: string): string {
		return text
			.replaceAll(this.folder, "DATA_DIR")
			.replaceAll(/\b[0-9a-f]{40,64}\b/g, "<id>")
			.replaceAll(/\bof \d+ layers\b/g, "of … layers")
			.replaceAll(/tmp_[a-z]+_\w+/g, "tmp_…")
			.replaceAll(/\.dist\.\d+\.\d+\.tmp/g, ".dist.….tmp");
	}
}

/** What kind of error a line of the log tells: its own words differ with the moment. */
function errorKind(error: string): string {
	const failure = error.startsWith("GitDamage") ? new GitDamage(error) : new GitFailure(error);
	if (reasonOf(failure) === "git failed")
		return `an error: ${error.split("\n")[0]?.replaceAll(/[0-9a-f]{40}/g, "<id>")}`;
	return `an error: ${reasonOf(failure)}`;
}
