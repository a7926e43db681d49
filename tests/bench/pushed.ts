import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cpuSeconds, familyOf, maxMegabytes, run, secondsOf, until } from "./measure/process.ts";
import { putsBefore, sendMany } from "./measure/publish.ts";
import type { Served, World } from "./measure/world.ts";

/** Share of a processor below which a service is idle: watching its event loop and these checks need some. */
const maxIdleShare = 0.2;

/** A service without layers that all layers are pushed into, and what was measured meanwhile. */
export function pushed(world: World) {
	return world.shared("pushed", async () => {
		const preloads = ["./scripts/bench/measure/loop-delay.ts"];
		const service = await world.start(await world.emptyDataFolder("pushed"), { preloads });
		const checkout = await world.checkout();
		const last = world.smallkeys().sort().at(-1) as string;
		const isServed = async () => (await fetch(`${service.url}/v0.9/doc/en/${last}`)).status === 200;
		await run("sync", []);
		const measured = { service, seconds: 0, delayMs: 0, megabytes: 0, fragments: 0 };
		measured.megabytes = await maxMegabytes(service.pid, async () => {
			process.kill(service.pid, "SIGUSR2");
			await world.git(checkout, "push", "-q", join(service.dataDir, "repository.git"), "main");
			measured.seconds = await secondsOf(() => until("the last layer", isServed, 20));
			measured.delayMs = await readLongestDelay(service);
			measured.fragments = megabytesOf(await waitForFiles(service, world.layers));
			await sendMany(service, world.layers, putsBefore);
		});
		return measured;
	});
}

/** Reads the longest delay of a service's event loop since its first SIGUSR2, in milliseconds. */
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
	let before = { family: "", seconds: 0, at: 0 };
	const check = async () => {
		const sizes = await fragmentSizes(dataDir);
		const isReady = (await fetch(`${url}/readyz`)).status === 200;
		const tip = (await run("git", ["-C", repository, "rev-parse", "refs/heads/main"])).trim();
		const isComplete = sizes.length >= 2 * layers && (await commitIn(dataDir)) === tip;
		// The process that builds the whole catalogue still works after its last file; then another process replaces it.
		const now = { family: familyOf(pid).join(" "), seconds: cpuSeconds(pid), at: performance.now() / 1000 };
		const share = (now.seconds - before.seconds) / (now.at - before.at);
		const isIdle = now.family === before.family && share < maxIdleShare;
		before = now;
		return isReady && isComplete && isIdle && sizes;
	};
	return until("all files", check, 500);
}
