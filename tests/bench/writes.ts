import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { generateLayers, renamed } from "./layers.ts";
import { cpuDuring, environment } from "./measure/process.ts";
import {
	aloneMs,
	perSecond,
	publishers,
	putsAlone,
	putsBefore,
	putsPerRound,
	sendMany,
} from "./measure/publish.ts";
import { quantile, type Reach, type Row } from "./measure/row.ts";
import type { Served } from "./measure/world.ts";
import { pushed } from "./pushed.ts";

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

const many = `PUTs of ${publishers} publishers`;
const alone = "one PUT alone, until its 201";
const none = async () => 0;

/** A row about the CPU of each of many PUTs, in milliseconds. */
function cpuRow(name: string, process: "service" | "catalogue", what: string, most: number): Row {
	return {
		name,
		ours: `CPU of ${what} for each PUT of ${publishers} publishers`,
		reference: "none",
		unit: "ms",
		reach: () => ({ of: "ours", most }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const ours = async () => {
				let puts = 0;
				const seconds = await cpuDuring(service.pid, async () => {
					puts = (await sendMany(service, world.layers)).milliseconds.length;
				});
				return (1_000 * seconds[process]) / puts;
			};
			return { ours, reference: none };
		},
	};
}

/** A row about one PUT alone, right after many others. */
function afterRow(name: string, what: string, part: number, most: number): Row {
	return {
		name,
		ours: `${what} of a PUT alone, after ${putsBefore.toLocaleString("en")} others`,
		reference: "none",
		unit: "ms",
		reach: () => ({ of: "ours", most }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const ours = async () => {
				await sendMany(service, world.layers, putsBefore);
				return aloneMs(service, part);
			};
			return { ours, reference: none };
		},
	};
}

/** Rows about signed PUTs. Every PUT is durable when it is answered. */
export const writeRows: Row[] = [
	{
		name: "put-alone",
		ours: alone,
		reference: "a durable commit by `git fast-import`",
		unit: "ms",
		reach: () => ({ of: "ratio", most: 2 }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const bare = join(await world.dataFolder("alone-git"), "repository.git");
			return { ours: () => aloneMs(service, 0.5), reference: (round) => importAloneMs(bare, round) };
		},
	},
	afterRow("put-after", "median", 0.5, 20),
	afterRow("put-after-p99", "99th percentile", 0.99, 80),
	cpuRow("put-cpu", "service", "the service's process", 1.8),
	cpuRow("put-cpu-catalogue", "catalogue", "the catalogue's process", 0.3),
];

/** A row with two services on the same layers: this version's and the first release's. One is idle while the other is measured. */
function beside(
	name: string,
	ours: string,
	unit: Row["unit"],
	reach: Reach,
	measure: (service: Served, layers: number) => Promise<number>,
): Row {
	return {
		name,
		ours,
		reference: "the first release",
		unit,
		reach: () => reach,
		isOnce: true,
		prepare: async (world) => {
			const { beside } = world;
			if (beside === null) throw new Error(`${name}: needs --beside <checkout>`);
			const { service } = await pushed(world);
			const other = await world.shared("beside", async () => {
				const served = await world.serve("beside", { checkout: beside });
				// Both services have the same layers then.
				await sendMany(served, world.layers, putsBefore);
				return served;
			});
			return { ours: () => measure(service, world.layers), reference: () => measure(other, world.layers) };
		},
	};
}

/** Rows that compare this version with the first release, alternately, on the same layers. */
export const besideRows: Row[] = [
	beside("puts", many, "changes/s", { of: "ratio", least: 0.9 }, async (service, layers) =>
		perSecond(await sendMany(service, layers)),
	),
	beside(
		"puts-folder",
		`${many}, all keys in one folder`,
		"changes/s",
		{ of: "ratio", least: 0.9 },
		async (service, layers) => perSecond(await sendMany(service, layers, putsPerRound, true)),
	),
	beside("put-alone-beside", alone, "ms", { of: "ratio", most: 1.3 }, (service) => aloneMs(service, 0.5)),
];
