import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { generateLayers, renamed } from "./layers.ts";
import { environment, maxMegabytes, run, secondsOf } from "./measure/process.ts";
import type { Order, Sent } from "./measure/publisher.ts";
import { quantile, type Row } from "./measure/row.ts";
import { type Served, sender, type World } from "./measure/world.ts";

/** Concurrent publishers in the rows with many, and in the row that is compared with git's own commands. */
const publishers = 32;
const publishersBesideGit = 64;
/** PUTs of one round in the rows with many publishers; with fewer layers, one for each layer. */
const putsPerRound = 3_000;
/** PUTs of many publishers that precede the PUTs of one publisher alone, or follow a push. */
export const putsBefore = 4_000;
/** Per round: commits of `git add` and `git commit`, and PUTs of one publisher alone. */
const commitsPerRound = 5;
const putsAlone = 100;

let orders = 0;

/**
 * Sends signed PUTs to different keys from a process of its own. The keys are the same each time, so that the number of
 * layers does not grow; the registrations are new.
 */
async function publish({ url, secret }: Served, count: number, publishers: number): Promise<Sent> {
	orders += 1;
	const order: Order = { url, secret, sender, order: orders, publishers, count };
	const words = ["--import", "tsx", "scripts/bench/measure/publisher.ts"];
	return JSON.parse(await run(process.execPath, words, { input: JSON.stringify(order) })) as Sent;
}

export function sendMany(service: Served, layers: number, maxPuts = putsPerRound): Promise<Sent> {
	return publish(service, Math.min(maxPuts, layers), publishers);
}

const perSecond = ({ seconds, milliseconds }: Sent) => milliseconds.length / seconds;

/** Measures PUTs of one publisher, one after the other. @returns the quantile of their milliseconds */
async function aloneMs(service: Served, part: number): Promise<number> {
	return quantile((await publish(service, putsAlone, 1)).milliseconds, part);
}

/** Measures what a publisher would do without the service: write a file, `git add`, `git commit`, with fsync. */
async function commitsPerSecond(world: World, clone: string, first: number): Promise<number> {
	const seconds = await secondsOf(async () => {
		for (const [index, { registration }] of [...generateLayers(commitsPerRound)].entries()) {
			const path = layerPath(`commit-${first + index}`);
			await mkdir(dirname(join(clone, path)), { recursive: true });
			await writeFile(join(clone, path), canonicalText(registration));
			await world.git(clone, "-c", "core.fsync=committed", "add", path);
			await world.git(clone, "-c", "core.fsync=committed", "commit", "-q", "-m", `register ${path}`);
		}
	});
	return commitsPerRound / seconds;
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
	for (const { smallkey, registration } of [...generateLayers(putsAlone)]) {
		const start = performance.now();
		const body = canonicalText(renamed(registration, `Round ${round}`));
		const message = `register ${smallkey}`;
		const commit = [
			"commit refs/heads/main\n",
			`committer bench <bench@sender.invalid> ${Math.floor(Date.now() / 1000)} +0000\n`,
			`data ${Buffer.byteLength(message)}\n${message}\n`,
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

const many = `signed PUTs, ${publishers} publishers at once`;
const manyBesideGit = `signed PUTs, ${publishersBesideGit} publishers at once`;
const alone = "one signed PUT alone, until its 201";

/** Rows about signed PUTs. Every PUT is durable when it is answered. */
export const writeRows: Row[] = [
	{
		name: "puts",
		ours: manyBesideGit,
		reference: "git add + git commit, core.fsync=committed",
		unit: "changes/s",
		reach: { of: "ratio", least: 150 },
		prepare: async (world) => {
			const service = await world.serve("puts");
			const clone = await world.clone("puts-clone");
			return {
				ours: async () =>
					perSecond(await publish(service, Math.min(putsPerRound, world.layers), publishersBesideGit)),
				reference: (round) => commitsPerSecond(world, clone, round * commitsPerRound),
			};
		},
	},
	{
		name: "put-alone",
		ours: alone,
		reference: "one commit of `git fast-import`, core.fsync=committed, both folders synced",
		unit: "ms",
		reach: { of: "ratio", most: 2 },
		prepare: async (world) => {
			const service = await world.serve("alone");
			const bare = join(await world.dataFolder("alone-git"), "repository.git");
			return {
				ours: () => aloneMs(service, 0.5),
				reference: (round) => importAloneMs(bare, round),
			};
		},
	},
];

/** A row with two services on the same layers: this checkout's and the other's. One is idle while the other is measured. */
function beside(
	name: string,
	ours: string,
	unit: Row["unit"],
	reach: Row["reach"],
	measure: (service: Served, layers: number) => Promise<number>,
): Row {
	const prepare: Row["prepare"] = async (world) => {
		if (world.beside === null) throw new Error(`${name}: needs --beside <checkout>`);
		const own = await world.serve("ours");
		const other = await world.serve("other", { checkout: world.beside });
		return { ours: () => measure(own, world.layers), reference: () => measure(other, world.layers) };
	};
	return { name, ours, reference: "the same of the other version", unit, reach, prepare };
}

const after = `99th percentile of one PUT alone, right after ${putsBefore.toLocaleString("en")} others`;
const memory = `most memory (PSS) of all processes during ${many}`;

/** Rows that compare this version with another one, alternately, on the same layers. */
export const besideRows: Row[] = [
	beside("puts-beside", many, "changes/s", { of: "ratio", least: 0.9 }, async (service, layers) =>
		perSecond(await sendMany(service, layers)),
	),
	beside(
		"puts-beside-p99",
		`99th percentile of ${many}`,
		"ms",
		{ of: "ours", most: 250 },
		async (service, layers) => quantile((await sendMany(service, layers)).milliseconds, 0.99),
	),
	beside("put-alone-beside", alone, "ms", { of: "ratio", most: 1.2 }, (service) => aloneMs(service, 0.5)),
	beside("put-after-beside", after, "ms", { of: "ours", most: 50 }, async (service, layers) => {
		await sendMany(service, layers, putsBefore);
		return aloneMs(service, 0.99);
	}),
	beside("puts-beside-memory", memory, "MB", { of: "ratio", most: 1 }, (service, layers) =>
		maxMegabytes(service.pid, () => sendMany(service, layers)),
	),
];
