import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeOutput } from "./builds.ts";
import { run, timed } from "./measure/process.ts";
import { cpuSeconds, familyOf, pssMegabytes } from "./measure/processes.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { Served, World } from "./measure/world.ts";

/** Longest that a push may take until it is served, in milliseconds. */
const patienceMs = 300_000;
/** Megabytes that the fragments' own are put beside: Node with its modules, and git's processes. */
const allowanceMegabytes = 100;
const megabyte = 1_000_000;
/** CPU seconds between two looks below which a service is at rest: to watch its event loop takes some, too. */
const restSeconds = 0.1;

const loopDelay = "./bench/measure/loop-delay.ts";

/** A service without layers, and a clone of its repository that holds a commit of all of them, not pushed yet. */
class Push {
	private constructor(
		readonly world: World,
		readonly service: Served,
		readonly clone: string,
		readonly name: string,
	) {}

	static async prepare(world: World, name: string): Promise<Push> {
		const dataDir = await world.emptyDataFolder(name);
		const service = await world.startAgain(dataDir, [loopDelay]);
		const clone = world.path(`${name}-clone`);
		await run("git", ["clone", "-q", join(dataDir, "repository.git"), clone]);
		const layers = join(await world.checkout(world.layers), "layers");
		await timed("cp", ["-r", layers, clone]);
		await world.git(clone, "add", "layers");
		await world.git(clone, "commit", "-q", "-m", "layers");
		await timed("sync", []);
		return new Push(world, service, clone, name);
	}

	/** Pushes; seconds from the moment that the repository has taken it until its last layer is served. */
	async run(): Promise<number> {
		const last = this.world.smallkeys(this.world.layers).sort().at(-1) as string;
		await run("git", ["push", "-q", "origin", "main"], { cwd: this.clone });
		const start = performance.now();
		const deadline = start + patienceMs;
		while ((await fetch(`${this.service.url}/v0.9/doc/en/${last}`)).status !== 200) {
			if (performance.now() > deadline) throw new Error(`not served after ${patienceMs} ms`);
			await sleep(20);
		}
		return (performance.now() - start) / 1000;
	}

	/** Milliseconds of the longest delay of the service's event loop since this was last asked. */
	async longestDelay(): Promise<number> {
		const file = `${this.service.dataDir}.delay`;
		await rm(file, { force: true });
		process.kill(this.service.pid, "SIGUSR2");
		for (const deadline = performance.now() + patienceMs; performance.now() < deadline; await sleep(20)) {
			const text = await readFile(file, "utf8").catch(() => "");
			if (text !== "") return Number(text);
		}
		throw new Error("the service did not write its delay");
	}

	async close(): Promise<void> {
		await this.service.stop();
		await this.world.remove(this.name);
		await this.world.remove(`${this.name}-clone`);
	}
}

let pushes = 0;

/** Runs a task beside a new push; what it gave. */
async function besidePush<T>(world: World, task: (push: Push) => Promise<T>): Promise<T> {
	pushes += 1;
	const push = await Push.prepare(world, `push-${pushes}`);
	try {
		return await task(push);
	} finally {
		await push.close();
	}
}

async function preparePush(world: World): Promise<Pair> {
	const repository = await world.clone(world.layers, "push-build");
	const out = world.path("push-build-out");
	return {
		ours: () => besidePush(world, (push) => push.run()),
		reference: async () => {
			await removeOutput(out);
			return timed("npm", ["run", "-s", "build", "--", "--repo", repository, "--out", out]);
		},
		close: async () => {
			await removeOutput(out);
			await world.remove("push-build");
		},
	};
}

async function prepareDelay(world: World): Promise<Pair> {
	return {
		ours: () =>
			besidePush(world, async (push) => {
				await push.longestDelay();
				await push.run();
				return push.longestDelay();
			}),
		reference: async () => 0,
	};
}

async function prepareMemory(world: World): Promise<Pair> {
	/** Of one push, for both sides of a round: whichever is asked first. */
	let measured: Promise<{ memory: number; fragments: number }> | null = null;
	const take = async () => {
		const isFirst = measured === null;
		measured ??= measure();
		const found = await measured;
		if (!isFirst) measured = null;
		return found;
	};
	const measure = () =>
		besidePush(world, async (push) => {
			await push.run();
			const sizes = await filesInStep(push.service, world.layers);
			const fragments = sizes.reduce((sum, size) => sum + size, 0);
			return { fragments, memory: await pssMegabytes(push.service.pid) };
		});
	return {
		ours: async () => (await take()).memory,
		reference: async () => (await take()).fragments / megabyte + allowanceMegabytes,
	};
}

/** The commit that the index of a service on the disk is of; empty while there is none. */
async function commitIn(service: Served): Promise<string> {
	const text = await readFile(join(service.dataDir, "dist/changes/index.json"), "utf8").catch(() => "{}");
	return (JSON.parse(text) as { commit?: string }).commit ?? "";
}

/**
 * Waits until all files of the layers are written, the catalogue is complete and all processes of the service are idle.
 * @returns the sizes of the fragments
 */
async function filesInStep(service: Served, layers: number): Promise<number[]> {
	const { url, dataDir, pid } = service;
	const words = [join(dataDir, "dist/v0.9/doc"), "-type", "f", "-printf", "%s\\n"];
	const repository = join(dataDir, "repository.git");
	let before = { family: "", seconds: 0 };
	for (const deadline = performance.now() + patienceMs; ; await sleep(500)) {
		const sizes = (await run("find", words)).trim().split("\n").map(Number);
		const isReady = (await fetch(`${url}/readyz`)).status === 200;
		const tip = (await run("git", ["-C", repository, "rev-parse", "refs/heads/main"])).trim();
		const isInStep = sizes.length >= 2 * layers && (await commitIn(service)) === tip;
		// What made the whole catalogue works on after the last of its files, and is then replaced by another process.
		const now = { family: familyOf(pid).join(" "), seconds: cpuSeconds(pid) };
		const isAtRest = now.family === before.family && now.seconds - before.seconds < restSeconds;
		if (isReady && isInStep && isAtRest) return sizes;
		before = now;
		if (performance.now() > deadline) throw new Error(`not complete after ${patienceMs} ms`);
	}
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
		ours: "memory (PSS) of Node and git after that push",
		reference: `the fragments' own bytes plus ${allowanceMegabytes} MB`,
		unit: "MB",
		reach: { of: "ratio", most: 2 },
		prepare: prepareMemory,
	},
];
