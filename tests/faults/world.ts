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

/** A running service, its publishers and readers, and its answers to them. */
export class World implements AsyncDisposable {
	server!: ServerProcess;
	/** Smallkey → layer name of what was acknowledged; null: acknowledged to be gone. */
	readonly acknowledged = new Map<string, string | null>();
	/** The senders, as the variable has them. */
	readonly senders = JSON.stringify({ faults: secret });
	/** What the last receipt said of the files: they may also be behind on a machine that has much to do. */
	warned: string[] = [];
	#loggedBefore = 0;

	private constructor(
		/** `DATA_DIR`. */
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

	/** A service with the layers `one` and `two`. */
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

	/** What a start that is refused says, as lines. */
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

	/** Ends it; where it has to end well, with code 0. */
	async stop(): Promise<void> {
		assert.is(await this.server.stop(), 0);
	}

	/** Registers a layer; the answer: `201`, or `503: the service is busy`. */
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

	/** Repeats a PUT until it is stored; the last answer. */
	async putAtLast(smallkey: string): Promise<string> {
		let heard = "";
		await eventually(async () => {
			heard = await this.put(smallkey, `${smallkey} at last`);
			return heard.startsWith("201");
		});
		return heard;
	}

	/** What a reader of a layer gets: its layer name, or the status. */
	async read(smallkey: string): Promise<string> {
		const answer = await fetch(`${this.server.url}/v0.9/doc/en/${smallkey}`);
		if (answer.status !== 200) return String(answer.status);
		const { layers } = (await answer.json()) as { layers: { wms: { layerName: string }[] } };
		return layers.wms[0]?.layerName ?? "";
	}

	/** What readers got of all that was acknowledged: `200` if it is the last good state, or what is wrong. */
	async readAll(): Promise<string> {
		for (const [smallkey, layer] of this.acknowledged) {
			const found = await this.read(smallkey);
			if (found !== (layer ?? "404")) return `${smallkey}: ${found}`;
		}
		return "200";
	}

	/** Where the rendered file of a layer is. */
	fileOf(smallkey: string): string {
		return join(this.folder, "dist/v0.9/doc/en", smallkey);
	}

	/** Waits until the rendered file of a layer is as it should be. */
	async untilWritten(smallkey = "one"): Promise<void> {
		await eventually(async () => {
			const text = await readFile(this.fileOf(smallkey), "utf8").catch(() => "");
			return text.includes(`"layerName":"${this.acknowledged.get(smallkey)}"`) && text.endsWith("}");
		});
	}

	/** Whether the service is ready; its reason where it is not. */
	async readiness(): Promise<string> {
		const answer = await fetch(`${this.server.url}/readyz`);
		return `${answer.status} ${(await answer.text()).trim()}`;
	}

	/** Warnings since the last look at the log, without paths and ids, and the kinds of errors, each once. */
	log(): string[] {
		const lines = this.server.log.slice(this.#loggedBefore);
		this.#loggedBefore += lines.length;
		const texts = lines.flatMap(({ warning, error }) => {
			if (error !== undefined) return [this.#mask(errorKind(String(error)))];
			return warning === undefined ? [] : [this.#mask(String(warning).split("\n")[0] as string)];
		});
		return [...new Set(texts)];
	}

	/** Notes what became of a fault, and checks the service after it. */
	async note(
		section: SeenFault["section"],
		fault: string,
		seen: Omit<SeenFault, "section" | "fault" | "log"> & { log?: string[] },
	): Promise<void> {
		noteFault({ section, fault, log: this.log(), ...seen });
		await this.check();
	}

	/** Everything that was acknowledged is there, now and after a restart, and every object is whole. */
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
