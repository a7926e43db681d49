import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { wms } from "../helpers/local.ts";
import { ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { gate } from "../helpers/wait.ts";
import { gitIn, temporaryFolder } from "../helpers/world.ts";

const secret = "a publisher's secret";

interface Known {
	/** Layer name of the last answer 201; null before the first, and after an answer 204. */
	acknowledged: string | null;
	unanswered: (string | null)[];
}

class Publishers {
	readonly known = new Map<string, Known>();
	readonly refused: string[] = [];
	answers = 0;

	constructor(readonly round: number) {}

	async work(url: string, index: number, enough: () => void): Promise<void> {
		const smallkey = `k${this.round}-${index}`;
		const known: Known = { acknowledged: null, unanswered: [] };
		this.known.set(smallkey, known);
		for (let turn = 0; ; turn += 1) {
			const layer = turn % 5 === 4 ? null : `layer-${this.round}-${index}-${turn}`;
			known.unanswered.push(layer);
			const status = await send(url, smallkey, layer, secret).catch(() => null);
			if (status === null) return;
			assert.is(status, layer === null ? 204 : 201);
			known.acknowledged = layer;
			known.unanswered = [];
			if (!(await this.#sendRefused(url, `refused-${this.round}-${index}-${turn}`))) return;
			this.answers += 1;
			enough();
		}
	}

	async #sendRefused(url: string, smallkey: string): Promise<boolean> {
		this.refused.push(smallkey);
		const status = await send(url, smallkey, "wrong", "another secret").catch(() => null);
		if (status !== null) assert.is(status, 401);
		return status !== null;
	}
}

async function send(url: string, smallkey: string, layer: string | null, key: string): Promise<number> {
	const path = `/register/${smallkey}`;
	const who = { sender: "crash", secret: key, method: layer === null ? "DELETE" : "PUT" };
	const answer = await fetch(url + path, await signed(path, layer === null ? "" : wms(layer), who));
	// An answer counts once it is whole.
	await answer.arrayBuffer();
	return answer.status;
}

async function branchFiles(repository: string): Promise<Set<string>> {
	return new Set((await gitIn(repository)("ls-tree", "-r", "--name-only", "main")).split("\n"));
}

async function readLayer(url: string, smallkey: string): Promise<string | null> {
	const answer = await fetch(`${url}/v0.9/doc/en/${smallkey}`);
	if (answer.status === 404) return null;
	const fragment = (await answer.json()) as { layers: { wms: { layerName: string }[] } };
	return fragment.layers.wms[0]?.layerName ?? null;
}

async function checkRound(url: string, repository: string, writers: Publishers): Promise<void> {
	const files = await branchFiles(repository);
	for (const [smallkey, { acknowledged, unanswered }] of writers.known) {
		const found = await readLayer(url, smallkey);
		// What had no answer may have been stored or not.
		assert.ok([acknowledged, ...unanswered].includes(found), `${smallkey}: ${found}, not ${acknowledged}`);
		assert.is(files.has(layerPath(smallkey)), found !== null, smallkey);
	}
	for (const smallkey of writers.refused) assert.not(files.has(layerPath(smallkey)), smallkey);
}

/** Whether every object is whole; asked while no service repacks, which removes packs that are being read. */
async function checkObjects(repository: string): Promise<void> {
	assert.is(await gitIn(repository)("fsck", "--strict", "--no-dangling"), "");
}

/**
 * Kills a service with publishers at work, starts it again, and checks that every answer holds; so many times.
 * Every second time its git processes die with it, in the middle of what they write.
 */
export async function killAtWork(rounds: number, publishers = 32): Promise<void> {
	await using folder = await temporaryFolder();
	const env = { DATA_DIR: folder.path, SENDERS: JSON.stringify({ crash: secret }) };
	const repository = join(folder.path, "repository.git");
	let server = await ServerProcess.start(env);
	let answers = 0;
	for (let round = 0; round < rounds; round += 1) {
		const writers = new Publishers(round);
		// The moment of the kill: after a number of answers that differs from round to round.
		const moment = 1 + ((round * 37) % 150);
		const [reached, reach] = gate();
		const enough = () => {
			if (writers.answers >= moment) reach();
		};
		const working = Promise.all(
			Array.from({ length: publishers }, (_, index) => writers.work(server.url, index, enough)),
		);
		await Promise.race([reached, working]);
		await server.kill(round % 2 === 0);
		await working;
		answers += writers.answers;
		await checkObjects(repository);
		server = await ServerProcess.start(env);
		await checkRound(server.url, repository, writers);
	}
	assert.ok(answers >= rounds, `${answers} answers`);
	assert.is(await server.stop(), 0);
	await checkObjects(repository);
}
