import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { buildAnew, startOnly } from "./builds.ts";
import { cpuSeconds, familyOf, maxMegabytes, run, secondsOf, timed, until } from "./measure/process.ts";
import type { Row } from "./measure/row.ts";
import type { Served, World } from "./measure/world.ts";
import { wrk } from "./reads.ts";
import { putsBefore, sendMany } from "./writes.ts";

/** Megabytes added to the fragments' size in the reference: Node with its modules, and git's processes. */
const allowanceMegabytes = 100;
/** CPU seconds between two checks below which a service is idle: watching its event loop needs some. */
const maxIdleSeconds = 0.1;

/**
 * Runs a task with a service without layers.
 * @param task gets a function that pushes all layers, and returns the seconds from the end of `git push` until the last
 * layer is served
 * @returns the task's result
 */
async function withPush<T>(
	world: World,
	task: (service: Served, push: () => Promise<number>) => Promise<T>,
): Promise<T> {
	const preloads = ["./scripts/bench/measure/loop-delay.ts"];
	const service = await world.start(await world.emptyDataFolder("push"), { preloads });
	const checkout = await world.checkout();
	const last = world.smallkeys().sort().at(-1) as string;
	const isServed = async () => (await fetch(`${service.url}/v0.9/doc/en/${last}`)).status === 200;
	await run("sync", []);
	const result = await task(service, async () => {
		await world.git(checkout, "push", "-q", join(service.dataDir, "repository.git"), "main");
		return secondsOf(() => until("the last layer", isServed, 20));
	});
	await world.clear();
	return result;
}

/** Reads the longest delay of a service's event loop since the last call, in milliseconds. */
async function readLongestDelay({ dataDir, pid }: Served): Promise<number> {
	const file = `${dataDir}.delay`;
	await rm(file, { force: true });
	process.kill(pid, "SIGUSR2");
	return until("the delay", async () => Number(await readFile(file, "utf8").catch(() => "")) || false, 20);
}

/** Reads the commit of a service's index on the disk; empty while there is no index. */
async function commitIn(dataDir: string): Promise<string> {
	const text = await readFile(join(dataDir, "dist/changes/index.json"), "utf8").catch(() => "{}");
	return (JSON.parse(text) as { commit?: string }).commit ?? "";
}

/** Reads the sizes of a data folder's fragments in bytes: of the contents, not of the disk blocks. */
async function fragmentSizes(dataDir: string): Promise<number[]> {
	const printed = await run("find", [join(dataDir, "dist/v0.9/doc"), "-type", "f", "-printf", "%s\\n"]);
	return printed.trim().split("\n").map(Number);
}

function megabytesOf(sizes: readonly number[]): number {
	return sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
}

/**
 * Waits until all files of the layers are written, the catalogue is complete and all processes of the service are idle.
 * @returns the sizes of the fragments
 */
function waitForFiles({ url, dataDir, pid }: Served, layers: number): Promise<number[]> {
	const repository = join(dataDir, "repository.git");
	let before = { family: "", seconds: 0 };
	const check = async () => {
		const sizes = await fragmentSizes(dataDir);
		const isReady = (await fetch(`${url}/readyz`)).status === 200;
		const tip = (await run("git", ["-C", repository, "rev-parse", "refs/heads/main"])).trim();
		const isComplete = sizes.length >= 2 * layers && (await commitIn(dataDir)) === tip;
		// The process that builds the whole catalogue still works after its last file; then another process replaces it.
		const now = { family: familyOf(pid).join(" "), seconds: cpuSeconds(pid) };
		const isIdle = now.family === before.family && now.seconds - before.seconds < maxIdleSeconds;
		before = now;
		return isReady && isComplete && isIdle && sizes;
	};
	return until("all files", check, 500);
}

/** Rows about a push of all layers at once. */
export const pushRows: Row[] = [
	{
		name: "push",
		ours: "a push of all layers, from the repository's yes until the last is served from memory",
		reference: "npx fragments build --repo of the same layers, empty output",
		unit: "s",
		reach: { of: "ratio", most: 1.2 },
		prepare: async (world) => ({
			ours: () => withPush(world, (_service, push) => push()),
			reference: async () => buildAnew(world.path("push-build-out"), "--repo", await world.checkout()),
		}),
	},
	{
		name: "push-delay",
		ours: "longest delay of the event loop while that push is taken in",
		reference: "none",
		unit: "ms",
		reach: { of: "ours", most: 50 },
		prepare: async (world) => ({
			ours: () =>
				withPush(world, async (service, push) => {
					await readLongestDelay(service);
					await push();
					return readLongestDelay(service);
				}),
			reference: async () => 0,
		}),
	},
	{
		name: "push-memory",
		ours: `most memory (PSS) of all processes during that push and ${putsBefore.toLocaleString("en")} PUTs after it`,
		reference: `the fragments' own bytes plus ${allowanceMegabytes} MB`,
		unit: "MB",
		reach: { of: "ratio", most: 3 },
		prepare: async (world) => {
			/** Megabytes of the fragments of the last push: the reference of a round is measured after ours. */
			let fragments = 0;
			return {
				ours: () =>
					withPush(world, (service, push) =>
						maxMegabytes(service.pid, async () => {
							await push();
							fragments = megabytesOf(await waitForFiles(service, world.layers));
							await sendMany(service, world.layers, putsBefore);
						}),
					),
				reference: async () => fragments + allowanceMegabytes,
			};
		},
	},
];

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
