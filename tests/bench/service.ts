import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { canonicalText } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { filesBelow } from "../../store/files/files.ts";
import { eventually } from "../helpers/wait.ts";
import { generateLayers, renamed } from "./layers.ts";
import type { Order, Sent } from "./publisher.ts";
import {
	environment,
	maxMegabytes,
	quantile,
	run,
	type Served,
	secondsOf,
	sender,
	type World,
} from "./world.ts";

/** PUTs of many publishers after the push of all layers. */
export const putsAfter = 4_000;

/** The commit of a service's catalogue on the disk; empty while there is none. */
function commitIn(dataDir: string): string {
	try {
		return JSON.parse(readFileSync(join(dataDir, "dist/index/index.json"), "utf8")).commit;
	} catch {
		return "";
	}
}

/** A service without layers that all layers are pushed into, and what was measured meanwhile. */
export function pushed(world: World) {
	return world.shared("pushed", async () => {
		const dataDir = world.path("pushed");
		const repository = join(dataDir, "repository.git");
		const checkout = await world.checkout();
		await run("git", ["init", "-q", "--bare", "-b", "main", repository]);
		await world.git(checkout, "push", "-q", repository, "HEAD~1:refs/heads/main");
		const service = await world.start(dataDir);
		const last = world.smallkeys().sort().at(-1);
		const measured = { service, seconds: 0, delayMs: 0, megabytes: 0, fragments: 0 };
		/** Reads until the last layer is served, and notes the longest time of a read. */
		const readUntilServed = async () => {
			for (let status = 404; status !== 200; ) {
				const read = async () => {
					const answer = await fetch(`${service.url}/v0.9/doc/en/${last}`);
					await answer.arrayBuffer();
					({ status } = answer);
				};
				measured.delayMs = Math.max(measured.delayMs, (await secondsOf(read)) * 1_000);
				await sleep(5);
			}
		};
		await fetch(`${service.url}/v0.9/doc/en/${last}`);
		await run("sync", []);
		measured.megabytes = await maxMegabytes(service.pid, async () => {
			const reading = readUntilServed();
			await world.git(checkout, "push", "-q", repository, "main");
			measured.seconds = await secondsOf(() => reading);
			const tip = (await run("git", ["-C", repository, "rev-parse", "refs/heads/main"])).trim();
			await eventually(() => commitIn(dataDir) === tip);
			const fragments = join(dataDir, "dist/v0.9/doc");
			const sizes = filesBelow(fragments).map((name) => statSync(join(fragments, name)).size);
			measured.fragments = sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
			await publish(service, Math.min(putsAfter, world.layers), 32);
		});
		return measured;
	});
}

let orders = 0;

/**
 * Sends signed PUTs to different keys from a process of its own. The keys are the same each time, so that the number of
 * layers does not grow; the registrations are new.
 */
export async function publish({ url, secret }: Served, count: number, publishers: number): Promise<Sent> {
	orders += 1;
	const order: Order = { url, secret, sender, order: orders, publishers, count };
	const words = ["--import", "tsx", "tests/bench/publisher.ts"];
	return JSON.parse(await run(process.execPath, words, undefined, JSON.stringify(order))) as Sent;
}

/**
 * Measures `git fast-import` with the commits that PUTs would make, one after the other.
 * @param round number that is written into the files, so that every commit changes something
 * @returns milliseconds of one commit, the median
 */
export async function importAloneMs(repository: string, round: number, count: number): Promise<number> {
	const settings = ["core.fsync=committed", "core.fsyncMethod=fsync", "fastimport.unpackLimit=0"];
	const words = [...settings.flatMap((setting) => ["-c", setting]), "-C", repository];
	const git = spawn("git", [...words, "fast-import", "--quiet", "--force"], {
		env: environment,
		stdio: ["pipe", "pipe", "inherit"],
	});
	const lines = createInterface({ input: git.stdout })[Symbol.asyncIterator]();
	const times: number[] = [];
	for (const { smallkey, registration } of generateLayers(count)) {
		const start = performance.now();
		const body = canonicalText(renamed(registration, `Round ${round}`));
		const commit = [
			"commit refs/heads/main\n",
			`committer bench <bench@sender.invalid> ${Math.floor(Date.now() / 1000)} +0000\n`,
			`data <<END\nregister ${smallkey}\nEND\n`,
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
