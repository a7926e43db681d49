import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startOnly } from "./builds.ts";
import { run, timed } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { Served, World } from "./measure/world.ts";
import { requestsPerSecond } from "./measure/wrk.ts";

const megabyte = 1_000_000;

async function prepareStart(world: World): Promise<Pair> {
	const dataDir = await world.dataFolder(world.layers, "start");
	const repository = join(dataDir, "repository.git");
	// The first start renders everything; from then on the layers are unchanged.
	await (await world.startAgain(dataDir)).stop();
	return {
		ours: () => timeStart(world, dataDir),
		reference: async () =>
			(await timed("git", ["archive", "--output=/dev/null", "--format=tar", "refs/heads/main"], repository)) +
			(await startOnly()),
		close: () => world.remove("start"),
	};
}

/** Seconds from the start of the process to the first 200 of /healthz. */
async function timeStart(world: World, dataDir: string): Promise<number> {
	const start = performance.now();
	const service = await world.startAgain(dataDir);
	const { status } = await fetch(`${service.url}/healthz`);
	const seconds = (performance.now() - start) / 1000;
	await service.stop();
	if (status !== 200) throw new Error(`/healthz: ${status}`);
	return seconds;
}

async function prepareMemory(world: World): Promise<Pair> {
	const dataDir = await world.dataFolder(world.layers, "memory");
	await (await world.startAgain(dataDir)).stop();
	const [smallkey] = world.smallkeys(1);
	return {
		ours: async () => {
			const service = await world.startAgain(dataDir);
			await requestsPerSecond(`${service.url}/v0.9/doc/en/${smallkey}`);
			const resident = await residentMegabytes(service);
			await service.stop();
			return resident;
		},
		reference: () => fragmentMegabytes(join(dataDir, "dist/v0.9/doc")),
		close: () => world.remove("memory"),
	};
}

async function residentMegabytes(service: Served): Promise<number> {
	const status = await readFile(`/proc/${service.pid}/status`, "utf8");
	return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / megabyte;
}

/** The bytes of the files themselves, not the blocks that they take. */
async function fragmentMegabytes(folder: string): Promise<number> {
	const printed = await run("find", [folder, "-type", "f", "-printf", "%s\\n"]);
	const sizes = printed.trim().split("\n").map(Number);
	return sizes.reduce((sum, size) => sum + size, 0) / megabyte;
}

/** Rows about the service's process and its repository. */
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
