import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { canonicalText } from "../registry/canonical.ts";
import { layerPath } from "../registry/smallkey.ts";
import { generateLayers } from "./layers.ts";
import { environment, run } from "./measure/process.ts";
import type { Order, Sent } from "./measure/publisher.ts";
import { type Pair, quantile, type Row } from "./measure/row.ts";
import { type Served, sender, type World } from "./measure/world.ts";

/** Concurrent publishers in the rows with many. */
export const publishers = 32;
/** PUTs of one round in the rows with many publishers; with fewer layers, one for each layer. */
export const putsPerRound = 3_000;
/** Per round: commits of `git add` and `git commit`, and PUTs of one publisher alone. */
const commitsPerRound = 5;
export const putsAlone = 100;

let orders = 0;

/**
 * Sends signed PUTs to different keys from a process of its own. The keys are the same each time, so that the number of
 * layers does not grow; the registrations are new.
 */
export async function publish(service: Served, order: Partial<Order>): Promise<Sent> {
	orders += 1;
	const { url, secret } = service;
	const input = JSON.stringify({ url, secret, sender, order: orders, publishers: 1, ...order });
	const words = ["--import", "tsx", "bench/measure/publisher.ts"];
	return JSON.parse(await run(process.execPath, words, { input })) as Sent;
}

async function prepareMany(world: World): Promise<Pair> {
	const service = await world.serve(world.layers, "puts", { site: "on" });
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
	};
}

/** Measures what a publisher would do without the service: write a file, `git add`, `git commit`, with fsync. */
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
	const service = await world.serve(world.layers, "alone", { site: "on" });
	const bare = join(await world.dataFolder(world.layers, "alone-git"), "repository.git");
	let round = 0;
	return {
		ours: async () => quantile((await publish(service, { count: putsAlone })).milliseconds, 0.5),
		reference: async () => {
			round += 1;
			return importAlone(bare, round);
		},
	};
}

/**
 * Measures `git fast-import` with the commits that PUTs would make, one after the other.
 * @param round number that is written into the files, so that every commit changes something
 * @returns milliseconds of one commit, the median
 */
async function importAlone(repository: string, round: number): Promise<number> {
	const settings = ["core.fsync=committed", "core.fsyncMethod=fsync", "fastimport.unpackLimit=0"];
	const words = [...settings.flatMap((setting) => ["-c", setting]), "-C", repository];
	const git = spawn("git", [...words, "fast-import", "--quiet", "--force"], {
		env: environment(),
		stdio: ["pipe", "pipe", "inherit"],
	});
	const lines = createInterface({ input: git.stdout })[Symbol.asyncIterator]();
	const layers = [...generateLayers(putsAlone)];
	const times: number[] = [];
	for (const [index, { smallkey, registration }] of layers.entries()) {
		const start = performance.now();
		const en = { ...registration.en, service_name: `Round ${round}` };
		const body = canonicalText({ ...registration, en });
		const message = `register ${smallkey}`;
		const commit = [
			"commit refs/heads/main\n",
			`committer bench <bench@sender.invalid> ${Math.floor(Date.now() / 1000)} +0000\n`,
			`data ${Buffer.byteLength(message)}\n${message}\n`,
			index === 0 ? "from refs/heads/main^0\n" : "",
			`M 100644 inline ${layerPath(smallkey)}\ndata ${Buffer.byteLength(body)}\n${body}\n`,
		];
		git.stdin.write(`${commit.join("")}checkpoint\nprogress checked\n`);
		await lines.next();
		syncFolder(join(repository, "objects/pack"));
		syncFolder(join(repository, "refs/heads"));
		times.push(performance.now() - start);
	}
	git.stdin.end();
	await once(git, "close");
	return quantile(times, 0.5);
}

/** Writes a folder's directory entries to the disk (fsync). */
function syncFolder(path: string): void {
	const folder = openSync(path, "r");
	fsyncSync(folder);
	closeSync(folder);
}

/** Rows about signed PUTs. Every PUT is durable when it is answered. */
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
