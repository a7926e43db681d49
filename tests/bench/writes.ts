import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { generateLayers, renamed } from "./layers.ts";
import type { Order, Sent } from "./publisher.ts";
import { quantile, type Row } from "./rows.ts";
import { pushed } from "./service.ts";
import { environment, run, type Served, sender } from "./world.ts";

/** Concurrent publishers in the row with many, and their PUTs in a round: with fewer layers, one for each layer. */
const [publishers, putsPerRound] = [32, 3_000];
/** PUTs of many publishers after the push of all layers. */
export const putsBefore = 4_000;
/** PUTs of one publisher alone in a round. */
const putsAlone = 100;

let orders = 0;

/**
 * Sends signed PUTs to different keys from a process of its own. The keys are the same each time, so that the number of
 * layers does not grow; the registrations are new.
 */
async function publish({ url, secret }: Served, count: number, publishers: number): Promise<Sent> {
	orders += 1;
	const order: Order = { url, secret, sender, order: orders, publishers, count };
	const words = ["--import", "tsx", "tests/bench/publisher.ts"];
	return JSON.parse(await run(process.execPath, words, undefined, JSON.stringify(order))) as Sent;
}

export function sendMany(service: Served, layers: number, maxPuts = putsPerRound): Promise<Sent> {
	return publish(service, Math.min(maxPuts, layers), publishers);
}

/**
 * Measures `git fast-import` with the commits that PUTs would make, one after the other.
 * @param round number that is written into the files, so that every commit changes something
 * @returns milliseconds of one commit, the median
 */
async function importAloneMs(repository: string, round: number): Promise<number> {
	const settings = ["core.fsync=committed", "core.fsyncMethod=fsync", "fastimport.unpackLimit=0"];
	const words = [...settings.flatMap((setting) => ["-c", setting]), "-C", repository];
	const git = spawn("git", [...words, "fast-import", "--quiet", "--force"], {
		env: environment,
		stdio: ["pipe", "pipe", "inherit"],
	});
	const lines = createInterface({ input: git.stdout })[Symbol.asyncIterator]();
	const times: number[] = [];
	for (const { smallkey, registration } of generateLayers(putsAlone)) {
		const start = performance.now();
		const body = canonicalText(renamed(registration, `Round ${round}`));
		const commit = [
			"commit refs/heads/main\n",
			`committer bench <bench@sender.invalid> ${Math.floor(Date.now() / 1000)} +0000\n`,
			`data <<END\nregister ${smallkey}\nEND\n`,
			times.length === 0 ? "from refs/heads/main^0\n" : "",
			`M 100644 inline ${layerPath(smallkey)}\ndata ${Buffer.byteLength(body)}\n${body}\n`,
		];
		git.stdin.write(`${commit.join("")}checkpoint\nprogress checked\n`);
		await lines.next();
		for (const name of ["objects/pack", "refs/heads"]) {
			const folder = openSync(join(repository, name), "r");
			fsyncSync(folder);
			closeSync(folder);
		}
		times.push(performance.now() - start);
	}
	git.stdin.end();
	await once(git, "close");
	return quantile(times, 0.5);
}

/** Rows about signed PUTs. Every PUT is durable when it is answered. */
export const writeRows: Row[] = [
	{
		name: "put-alone",
		what: "one PUT alone, until its 201",
		reference: "a durable commit by `git fast-import`",
		unit: "ms",
		goal: () => ({ of: "ratio", most: 2 }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const bare = await world.clone("alone.git", "--bare");
			return {
				ours: async () => quantile((await publish(service, putsAlone, 1)).milliseconds, 0.5),
				reference: (round) => importAloneMs(bare, round),
			};
		},
	},
	{
		name: "puts",
		what: `PUTs of ${publishers} publishers`,
		reference: "",
		unit: "changes/s",
		goal: () => ({ of: "ours", least: 250 }),
		isOnce: true,
		prepare: async (world) => {
			const { service } = await pushed(world);
			const ours = async () => {
				const { seconds, milliseconds } = await sendMany(service, world.layers);
				return milliseconds.length / seconds;
			};
			return { ours };
		},
	},
];
