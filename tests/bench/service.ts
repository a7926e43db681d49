import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { filesBelow } from "../../store/files/files.ts";
import { eventually } from "../helpers/wait.ts";
import { generateLayers, renamed } from "./layers.ts";
import type { Order, Sent } from "./publisher.ts";
import { maxMegabytes, run, type Served, secondsOf, type World } from "./world.ts";

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
		// The map services of these layers do not exist.
		const service = await world.start(dataDir, { HARVEST: "off" });
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
			// Ready once all files are written; meanwhile, writing them takes the time of later rows.
			await eventually(async () => (await fetch(`${service.url}/readyz`)).ok);
			const fragments = join(dataDir, "dist/v0.9/doc");
			const sizes = filesBelow(fragments).map((name) => statSync(join(fragments, name)).size);
			measured.fragments = sizes.reduce((sum, size) => sum + size, 0) / 1_000_000;
			await publish(service, newPuts(Math.min(putsAfter, world.layers)), 32);
		});
		return measured;
	});
}

/** A service and a sender that it knows. */
export type Target = Pick<Served, "url" | "sender" | "secret">;

/** Sends signed PUTs to a service from a process of its own. @throws {Error} unless every answer is 201 */
export async function publish(target: Target, puts: Order["puts"], publishers: number): Promise<Sent> {
	const { url, sender, secret } = target;
	const order: Order = { url, sender, secret, publishers, puts };
	const words = ["--import", "tsx", "tests/bench/publisher.ts"];
	return JSON.parse(await run(process.execPath, words, undefined, JSON.stringify(order))) as Sent;
}

let orders = 0;

/** PUTs of the first layers. The keys are the same each time, so that their number does not grow; the payloads are new. */
export function newPuts(count: number): Order["puts"] {
	orders += 1;
	return [...generateLayers(count)].map(({ smallkey, registration }) => [
		`/register/${smallkey}`,
		JSON.stringify(renamed(registration, `Published in order ${orders}.`)),
	]);
}
