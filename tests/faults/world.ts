import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { runGit } from "../../store/git/commands/run.ts";
import { wms } from "../helpers/local.ts";
import { ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { noteRow } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";
import type { SeenFault, SeenLoss } from "./table.mjs";

export const noteFault = (fault: SeenFault): void => noteRow(fault);

export const noteLoss = (loss: SeenLoss): void => noteRow(loss);

export const secret = "a publisher's secret";

export class World implements AsyncDisposable {
	server!: ServerProcess;
	/** Smallkey → layer name of what was acknowledged; null: acknowledged to be gone. */
	readonly acknowledged = new Map<string, string | null>();
	readonly senders = JSON.stringify({ faults: secret });
	/** Warnings of the last receipt about the files, which may be behind on a busy machine. */
	warned: string[] = [];

	private constructor(
		readonly folder: string,
		readonly remove: () => Promise<void>,
		readonly env: Record<string, string>,
	) {}

	/** Of a service that has not started. @param folder that the caller removes */
	static async of(folder: string | null = null, env: Record<string, string> = {}): Promise<World> {
		if (folder !== null) return new World(await realpath(folder), async () => undefined, env);
		const temporary = await temporaryFolder();
		return new World(await realpath(temporary.path), temporary.remove, env);
	}

	static async started(folder: string | null = null): Promise<World> {
		const world = await World.of(folder);
		await world.start();
		for (const smallkey of ["one", "two"]) assert.is(await world.put(smallkey), "201");
		return world;
	}

	get repository() {
		return join(this.folder, "repository.git");
	}

	async start() {
		this.server = await ServerProcess.start({ DATA_DIR: this.folder, SENDERS: this.senders, ...this.env });
	}

	async refusedStart(reason: RegExp) {
		const refusal = String(await this.start().catch(String));
		assert.match(refusal, /^Error: ended with 2: /);
		assert.match(refusal, reason);
	}

	async stop() {
		assert.is(await this.server.stop(), 0);
	}

	/** @param text of a registration; empty: removes the layer */
	async send(smallkey: string, text: string, { url } = this.server) {
		const path = `/register/${smallkey}`;
		const method = text === "" ? "DELETE" : "PUT";
		return fetch(url + path, await signed(path, text, { sender: "faults", secret, method }));
	}

	async put(smallkey: string, layer = smallkey) {
		const answer = await this.send(smallkey, wms(layer));
		const said = (await answer.json()) as { errors?: string[]; warnings?: string[] };
		if (answer.status === 201) this.acknowledged.set(smallkey, layer);
		if (answer.status === 503) assert.ok(Number(answer.headers.get("Retry-After")) > 0);
		this.warned = said.warnings?.filter((warning) => warning.startsWith("the files")) ?? [];
		if (!said.errors) return String(answer.status);
		return `${answer.status}: ${said.errors.map((error) => error.split(":")[0]).join("; ")}`;
	}

	async putAtLast(smallkey: string) {
		let last = "";
		await eventually(async () => {
			last = await this.put(smallkey, `${smallkey} at last`);
			return last.startsWith("201");
		});
		return last;
	}

	async read(smallkey: string) {
		const answer = await fetch(`${this.server.url}/v0.9/doc/en/${smallkey}`);
		if (answer.status !== 200) return String(answer.status);
		const { layers } = (await answer.json()) as { layers: { wms: { layerName: string }[] } };
		return layers.wms[0]?.layerName ?? "";
	}

	async readAll() {
		for (const [smallkey, layer] of this.acknowledged) {
			const found = await this.read(smallkey);
			if (found !== (layer ?? "404")) return `${smallkey}: ${found}`;
		}
		return "200";
	}

	fileOf(smallkey: string) {
		return join(this.folder, "dist/v0.9/doc/en", smallkey);
	}

	async untilWritten(smallkey = "one") {
		await eventually(async () => {
			const text = await readFile(this.fileOf(smallkey), "utf8").catch(() => "");
			return text.includes(`"layerName":"${this.acknowledged.get(smallkey)}"`) && text.endsWith("}");
		});
	}

	async readiness() {
		const answer = await fetch(`${this.server.url}/readyz`);
		return `${answer.status} ${(await answer.text()).trim()}`;
	}

	/** Notes what readers and publishers get, by default now, and checks it. */
	async note(section: SeenFault["section"], fault: string, seen: Partial<SeenFault> = {}) {
		const { reader = await this.readAll(), publisher = await this.put("three") } = seen;
		noteFault({ section, fault, reader, publisher });
		await this.check();
	}

	/** Notes the refusal that a publisher gets, and what follows a repair. */
	async noteRefusal(
		section: SeenFault["section"],
		fault: string,
		[after, repair]: [string, () => Promise<unknown>],
		smallkey = "three",
	) {
		const first = await this.put(smallkey, "other");
		const reader = await this.readAll();
		await repair();
		const publisher = first === "201" ? first : `${first}; ${after} ${await this.putAtLast(smallkey)}`;
		await this.note(section, fault, { reader, publisher });
	}

	async check() {
		assert.is(await this.readAll(), "200");
		await this.stop();
		const fsck = await runGit(this.repository, ["fsck", "--strict", "--no-dangling"]);
		assert.is(fsck.toString(), "");
		await this.start();
		assert.is(await this.readAll(), "200");
	}

	[Symbol.asyncDispose]() {
		return this.end();
	}

	async end() {
		await this.server?.kill(true).catch(() => undefined);
		await this.remove();
	}
}
