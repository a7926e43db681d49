import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonicalText } from "../registry/canonical.ts";
import { layerPath } from "../registry/smallkey.ts";
import { generateLayers } from "./layers.ts";
import { runProgram } from "./measure/process.ts";
import type { Order, Sent } from "./measure/publisher.ts";
import { type Pair, type Row, spreadOf } from "./measure/row.ts";
import { type Served, sender, type World } from "./measure/world.ts";

/** Publishers at once, where there are many. */
const publishers = 32;
/** Most PUTs of one round, where there are many publishers. */
const putsPerRound = 3_000;
/** Commits of one round of `git add` and `git commit`, and PUTs of one publisher alone. */
const commitsPerRound = 5;
const putsAlone = 100;

let orders = 0;

/**
 * Sends signed PUTs to different keys from a process of its own. The keys are the same each time, so that the number
 * of layers stays; what is registered is new.
 */
export async function publish(service: Served, order: Partial<Order>): Promise<Sent> {
	orders += 1;
	const { url, secret } = service;
	const whole = { url, secret, sender, order: orders, publishers: 1, ...order };
	return JSON.parse(await runProgram("bench/measure/publisher.ts", [], JSON.stringify(whole))) as Sent;
}

/** Milliseconds of one PUT of a publisher alone, in the median. */
async function alone(service: Served): Promise<number> {
	return spreadOf((await publish(service, { count: putsAlone })).milliseconds).median;
}

async function prepareMany(world: World): Promise<Pair> {
	const service = await world.serve(world.layers, "puts", "on");
	const clone = await world.clone(world.layers, "puts-clone");
	const count = Math.min(putsPerRound, world.layers);
	let commits = 0;
	return {
		ours: async () => {
			const { seconds, milliseconds } = await publish(service, { count, publishers });
			return milliseconds.length / seconds;
		},
		reference: async () => {
			commits += commitsPerRound;
			return commitsPerSecond(world, clone, commits);
		},
		close: async () => {
			await service.stop();
			await world.remove("puts");
			await world.remove("puts-clone");
		},
	};
}

/** What a publisher would do without the service: write a file, `git add`, `git commit`, with fsync. */
async function commitsPerSecond(world: World, clone: string, first: number): Promise<number> {
	const layers = [...generateLayers(commitsPerRound)];
	const start = performance.now();
	for (const [index, { registration }] of layers.entries()) {
		const path = layerPath(`commit-${first + index}`);
		await mkdir(dirname(join(clone, path)), { recursive: true });
		await writeFile(join(clone, path), canonicalText(registration));
		await world.git(clone, "-c", "core.fsync=committed", "add", path);
		await world.git(clone, "-c", "core.fsync=committed", "commit", "-q", "-m", `register ${path}`);
	}
	return commitsPerRound / ((performance.now() - start) / 1000);
}

async function prepareAlone(world: World): Promise<Pair> {
	const service = await world.serve(world.layers, "alone", "on");
	const bare = join(await world.dataFolder(world.layers, "alone-git"), "repository.git");
	let round = 0;
	return {
		ours: () => alone(service),
		reference: async () => {
			round += 1;
			const order = { repository: bare, count: putsAlone, round };
			const seconds = await runProgram("bench/measure/importer.ts", [], JSON.stringify(order));
			return (Number(seconds) * 1000) / putsAlone;
		},
		close: async () => {
			await service.stop();
			await world.remove("alone");
			await world.remove("alone-git");
		},
	};
}

/** Rows about signed PUTs. Every figure is of PUTs that are durable when they are answered. */
export const writeRows: Row[] = [
	{
		name: "puts",
		ours: `signed PUTs, ${publishers} publishers at once`,
		reference: "git add + git commit, core.fsync=committed",
		unit: "changes/s",
		reach: { of: "ratio", least: 150 },
		prepare: prepareMany,
	},
	{
		name: "put-alone",
		ours: "one signed PUT alone, until its 201",
		reference: "one commit of `git fast-import`, core.fsync=committed, both folders synced",
		unit: "ms",
		reach: { of: "ratio", most: 2 },
		prepare: prepareAlone,
	},
];
