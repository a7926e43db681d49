import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { putsBefore, sendMany } from "./beside.ts";
import { build, removeOutput } from "./builds.ts";
import { run, timed, until } from "./measure/process.ts";
import { cpuSeconds, familyOf, maxMegabytes } from "./measure/processes.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { Served, World } from "./measure/world.ts";
import { fragmentSizes, megabytesOf } from "./service.ts";

/** Megabytes added to the fragments' size in the reference: Node with its modules, and git's processes. */
const allowanceMegabytes = 100;
/** CPU seconds between two checks below which a service is idle: watching its event loop needs some. */
const maxIdleSeconds = 0.1;

const loopDelay = "./bench/measure/loop-delay.ts";

/** A service without layers, and a clone of its repository with one commit of all layers, which is not pushed yet. */
interface Push {
	service: Served;
	/** Pushes. @returns seconds from the end of `git push` until the last layer is served */
	run: () => Promise<number>;
}

/** Prepares a new push and runs a task with it. @returns the task's result */
async function withPush<T>(world: World, task: (push: Push) => Promise<T>): Promise<T> {
	const service = await world.start(await world.emptyDataFolder("push"), { preloads: [loopDelay] });
	const clone = world.path("push-clone");
	await run("git", ["clone", "-q", join(service.dataDir, "repository.git"), clone]);
	await timed("cp", ["-r", join(await world.checkout(world.layers), "layers"), clone]);
	await world.git(clone, "add", "layers");
	await world.git(clone, "commit", "-q", "-m", "layers");
	await timed("sync", []);
	const last = world.smallkeys(world.layers).sort().at(-1) as string;
	const push = async () => {
		await run("git", ["push", "-q", "origin", "main"], { cwd: clone });
		const start = performance.now();
		const isServed = async () => (await fetch(`${service.url}/v0.9/doc/en/${last}`)).status === 200;
		await until("the last layer", isServed, 20);
		return (performance.now() - start) / 1000;
	};
	const result = await task({ service, run: push });
	await world.clear();
	return result;
}

async function preparePush(world: World): Promise<Pair> {
	const repository = await world.checkout(world.layers);
	const out = world.path("push-build-out");
	return {
		ours: () => withPush(world, (push) => push.run()),
		reference: async () => {
			await removeOutput(out);
			return build("--repo", repository, "--out", out);
		},
	};
}

/** Reads the longest delay of a service's event loop since the last call, in milliseconds. */
async function readLongestDelay({ dataDir, pid }: Served): Promise<number> {
	const file = `${dataDir}.delay`;
	await rm(file, { force: true });
	process.kill(pid, "SIGUSR2");
	return until("the delay", async () => Number(await readFile(file, "utf8").catch(() => "")) || false, 20);
}

async function prepareDelay(world: World): Promise<Pair> {
	return {
		ours: () =>
			withPush(world, async (push) => {
				await readLongestDelay(push.service);
				await push.run();
				return readLongestDelay(push.service);
			}),
		reference: async () => 0,
	};
}

async function prepareMemory(world: World): Promise<Pair> {
	/** Megabytes of the fragments of the last push: the reference of a round is measured after ours. */
	let fragments = 0;
	return {
		ours: () =>
			withPush(world, ({ service, run: push }) =>
				maxMegabytes(service.pid, async () => {
					await push();
					fragments = megabytesOf(await waitForFiles(service, world.layers));
					await sendMany(service, world.layers, putsBefore);
				}),
			),
		reference: async () => fragments + allowanceMegabytes,
	};
}

/** Reads the commit of a service's index on the disk; empty while there is no index. */
async function commitIn(service: Served): Promise<string> {
	const text = await readFile(join(service.dataDir, "dist/changes/index.json"), "utf8").catch(() => "{}");
	return (JSON.parse(text) as { commit?: string }).commit ?? "";
}

/**
 * Waits until all files of the layers are written, the catalogue is complete and all processes of the service are idle.
 * @returns the sizes of the fragments
 */
function waitForFiles(service: Served, layers: number): Promise<number[]> {
	const { url, dataDir, pid } = service;
	const repository = join(dataDir, "repository.git");
	let before = { family: "", seconds: 0 };
	const check = async () => {
		const sizes = await fragmentSizes(dataDir);
		const isReady = (await fetch(`${url}/readyz`)).status === 200;
		const tip = (await run("git", ["-C", repository, "rev-parse", "refs/heads/main"])).trim();
		const isComplete = sizes.length >= 2 * layers && (await commitIn(service)) === tip;
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
		prepare: preparePush,
	},
	{
		name: "push-delay",
		ours: "longest delay of the event loop while that push is taken in",
		reference: "none",
		unit: "ms",
		reach: { of: "ours", most: 50 },
		prepare: prepareDelay,
	},
	{
		name: "push-memory",
		ours: `most memory (PSS) of all processes during that push and ${putsBefore.toLocaleString("en")} PUTs after it`,
		reference: `the fragments' own bytes plus ${allowanceMegabytes} MB`,
		unit: "MB",
		reach: { of: "ratio", most: 3 },
		prepare: prepareMemory,
	},
];
