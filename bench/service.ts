import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startOnly } from "./builds.ts";
import { run, timed } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { Served, World } from "./measure/world.ts";
import { wrk } from "./measure/wrk.ts";

const megabyte = 1_000_000;

async function prepareStart(world: World): Promise<Pair> {
	const dataDir = await world.dataFolder(world.layers, "start");
	const repository = join(dataDir, "repository.git");
	// The first start renders everything. At later starts the layers are unchanged.
	await (await world.start(dataDir)).stop();
	const archive = ["archive", "--output=/dev/null", "--format=tar", "refs/heads/main"];
	return {
		ours: () => timeStart(world, dataDir),
		reference: async () => (await timed("git", archive, repository)) + (await startOnly()),
	};
}

/** Measures the seconds from the start of the process to its first answer of /healthz. */
async function timeStart(world: World, dataDir: string): Promise<number> {
	const start = performance.now();
	const service = await world.start(dataDir);
	const { status } = await fetch(`${service.url}/healthz`);
	const seconds = (performance.now() - start) / 1000;
	await service.stop();
	if (status !== 200) throw new Error(`/healthz: ${status}`);
	return seconds;
}

async function prepareMemory(world: World): Promise<Pair> {
	const { dataDir, stop } = await world.serve(world.layers, "memory");
	await stop();
	const [smallkey] = world.smallkeys(1);
	return {
		ours: async () => {
			const service = await world.start(dataDir);
			await wrk(`${service.url}/v0.9/doc/en/${smallkey}`);
			const resident = await residentMegabytes(service);
			await service.stop();
			return resident;
		},
		reference: async () => megabytesOf(await fragmentSizes(dataDir)),
	};
}

async function residentMegabytes(service: Served): Promise<number> {
	const status = await readFile(`/proc/${service.pid}/status`, "utf8");
	return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / megabyte;
}

/** Reads the sizes of a data folder's fragments in bytes: of the contents, not of the disk blocks. */
export async function fragmentSizes(dataDir: string): Promise<number[]> {
	const printed = await run("find", [join(dataDir, "dist/v0.9/doc"), "-type", "f", "-printf", "%s\\n"]);
	return printed.trim().split("\n").map(Number);
}

export function megabytesOf(sizes: readonly number[]): number {
	return sizes.reduce((sum, size) => sum + size, 0) / megabyte;
}

/** Rows about the service's process. */
export const serviceRows: Row[] = [
	{
		name: "start",
		ours: "server start, unchanged layers, until /healthz",
		reference: "git archive to nowhere + npx fragments build --help",
		unit: "s",
		reach: { of: "ratio", most: 2 },
		prepare: prepareStart,
	},
	{
		name: "memory",
		ours: "resident memory after that, serving",
		reference: "the fragments' own bytes",
		unit: "MB",
		reach: { of: "ratio", most: 3 },
		prepare: prepareMemory,
	},
];
