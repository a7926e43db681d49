import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startOnly } from "./builds.ts";
import { run, timed } from "./measure/process.ts";
import type { Row } from "./measure/row.ts";
import { wrk } from "./reads.ts";

/** Reads the sizes of a data folder's fragments in bytes: of the contents, not of the disk blocks. */
export async function fragmentSizes(dataDir: string): Promise<number[]> {
	const printed = await run("find", [join(dataDir, "dist/v0.9/doc"), "-type", "f", "-printf", "%s\\n"]);
	return printed.trim().split("\n").map(Number);
}

export function megabytesOf(sizes: readonly number[]): number {
	return sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
}

/** Rows about the service's process. */
export const serviceRows: Row[] = [
	{
		name: "start",
		ours: "server start, unchanged layers, until /healthz",
		reference: "git archive to nowhere + npx fragments build --help",
		unit: "s",
		reach: { of: "ratio", most: 2 },
		prepare: async (world) => {
			const dataDir = await world.dataFolder("start");
			// The first start renders everything. At later starts the layers are unchanged.
			await (await world.start(dataDir)).stop();
			const archive = ["archive", "--output=/dev/null", "--format=tar", "refs/heads/main"];
			return {
				ours: async () => {
					const start = performance.now();
					const service = await world.start(dataDir);
					const { status } = await fetch(`${service.url}/healthz`);
					const seconds = (performance.now() - start) / 1000;
					await service.stop();
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
		ours: "resident memory after that, serving",
		reference: "the fragments' own bytes",
		unit: "MB",
		reach: { of: "ratio", most: 3 },
		prepare: async (world) => {
			const { dataDir, stop } = await world.serve("memory");
			await stop();
			return {
				ours: async () => {
					const service = await world.start(dataDir);
					await wrk(`${service.url}/v0.9/doc/en/${world.smallkeys()[0]}`);
					const status = await readFile(`/proc/${service.pid}/status`, "utf8");
					await service.stop();
					return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1_000_000;
				},
				reference: async () => megabytesOf(await fragmentSizes(dataDir)),
			};
		},
	},
];
