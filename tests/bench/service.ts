import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { built, startOnly } from "./builds.ts";
import { timed } from "./measure/process.ts";
import { putsBefore } from "./measure/publish.ts";
import { designLayers, type Row } from "./measure/row.ts";
import { pushed } from "./pushed.ts";
import { wrk } from "./reads.ts";

/** Megabytes added to the fragments' size in the reference: Node with its modules, and git's processes. */
const allowanceMegabytes = 100;
/** Rows about a push of all layers at once. */
export const pushRows: Row[] = [
	{
		name: "push",
		ours: "push of all layers, from git's end until the last one is served",
		reference: "the full build",
		unit: "s",
		reach: () => ({ of: "ratio", most: 1.2 }),
		rounds: 1,
		prepare: async (world) => ({
			ours: async () => (await pushed(world)).seconds,
			reference: async () => (await built(world)).seconds,
		}),
	},
	{
		name: "push-delay",
		ours: "longest delay of a read meanwhile",
		reference: "none",
		unit: "ms",
		reach: () => ({ of: "ours", most: 50 }),
		rounds: 1,
		prepare: async (world) => ({
			ours: async () => (await pushed(world)).delayMs,
			reference: async () => 0,
		}),
	},
	{
		name: "push-memory",
		ours: `most memory during that push and ${putsBefore.toLocaleString("en")} PUTs after it`,
		reference: `bytes of the v0.9 fragments plus ${allowanceMegabytes} MB`,
		unit: "MB",
		reach: (layers) => (layers <= designLayers ? { of: "ours", most: 330 } : { of: "ratio", most: 4 }),
		rounds: 1,
		prepare: async (world) => ({
			ours: async () => (await pushed(world)).megabytes,
			reference: async () => (await pushed(world)).fragments + allowanceMegabytes,
		}),
	},
];

/** Rows about the service's start, which end its process. */
export const serviceRows: Row[] = [
	{
		name: "start",
		ours: "start until `/healthz`",
		reference: "`git archive` to nowhere + `npx fragment-publisher build --help`",
		unit: "s",
		reach: () => ({ of: "ratio", most: 2 }),
		prepare: async (world) => {
			const { service } = await pushed(world);
			const { dataDir } = service;
			await service.stop();
			const archive = ["archive", "--output=/dev/null", "--format=tar", "refs/heads/main"];
			return {
				ours: async () => {
					const start = performance.now();
					const started = await world.start(dataDir);
					const { status } = await fetch(`${started.url}/healthz`);
					const seconds = (performance.now() - start) / 1000;
					await started.stop();
					if (status !== 200) throw new Error(`/healthz: ${status}`);
					return seconds;
				},
				reference: async () =>
					(await timed("git", archive, join(dataDir, "repository.git"))) + (await startOnly()),
			};
		},
	},
	{
		name: "memory",
		ours: "memory after 3 s of reads",
		reference: "bytes of the v0.9 fragments",
		unit: "MB",
		reach: (layers) => (layers <= designLayers ? { of: "ours", most: 250 } : { of: "ratio", most: 3 }),
		rounds: 1,
		prepare: async (world) => {
			const { service, fragments } = await pushed(world);
			await service.stop();
			return {
				ours: async () => {
					const { url, pid, stop } = await world.start(service.dataDir);
					await wrk(`${url}/v0.9/doc/en/${world.smallkeys()[0]}`);
					const status = await readFile(`/proc/${pid}/status`, "utf8");
					await stop();
					return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1_000_000;
				},
				reference: async () => fragments,
			};
		},
	},
];
