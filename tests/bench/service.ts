import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { filesBelow } from "../../store/files/files.ts";
import { readIfThere } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { eventually } from "../helpers/wait.ts";
import { maxMegabytes, renamed, run, type Served, secondsOf, type World } from "./world.ts";

/** PUTs of many publishers after the push of all layers. */
export const putsAfter = 4_000;

/** A service without layers that all layers are pushed into, and what was measured meanwhile. */
export function pushed(world: World) {
	return world.shared("pushed", async () => {
		const dataDir = world.path("pushed");
		const repository = join(dataDir, "repository.git");
		const checkout = await world.checkout();
		await run("git", ["init", "-q", "--bare", "-b", "main", repository]);
		await world.git(checkout, "push", "-q", repository, "HEAD~1:refs/heads/main");
		const service = await world.start(dataDir);
		const last = world.smallkeys.toSorted().at(-1);
		const measured = { service, seconds: 0, delayMs: 0, megabytes: 0, fragments: 0 };
		let status = 404;
		const read = async () => {
			const answer = await fetch(`${service.url}/v0.9/doc/en/${last}`);
			await answer.arrayBuffer();
			({ status } = answer);
		};
		/** Reads until the last layer is served, and notes the longest time of a read. */
		const readUntilServed = async () => {
			while (status !== 200) {
				measured.delayMs = Math.max(measured.delayMs, (await secondsOf(read)) * 1_000);
				await sleep(5);
			}
		};
		await read();
		await run("sync", []);
		measured.megabytes = await maxMegabytes(service.pid, async () => {
			const reading = readUntilServed();
			await world.git(checkout, "push", "-q", repository, "main");
			measured.seconds = await secondsOf(() => reading);
			const tip = (await world.git(checkout, "rev-parse", "main")).trim();
			const index = join(dataDir, "dist/index/index.json");
			await eventually(() => readIfThere(index).includes(tip));
			// Ready once all files are written; meanwhile, writing them takes the time of later rows.
			await eventually(async () => (await fetch(`${service.url}/readyz`)).ok);
			const fragments = join(dataDir, "dist/v0.9/doc");
			for (const name of filesBelow(fragments))
				measured.fragments += statSync(join(fragments, name)).size / 1_000_000;
			await publish(service, newPuts(world, putsAfter), 32);
		});
		return measured;
	});
}

/** A service, and a sender that it knows. */
export type Target = Pick<Served, "url" | "sender" | "secret">;

/** Path below the service's address, and payload. */
export type Put = [path: string, body: string];

export interface Sent {
	/** From the first PUT to the last answer. */
	seconds: number;
	/** Of each PUT until its answer. */
	milliseconds: number[];
}

/**
 * Sends signed PUTs as fast as a service answers, each publisher one after the other.
 * @throws {Error} unless every answer is 201
 */
export async function publish({ url, ...signer }: Target, puts: Put[], publishers: number): Promise<Sent> {
	const milliseconds: number[] = [];
	const waiting = puts.values();
	const sendAll = async () => {
		// All publishers take their payloads from the same iterator. Each signs as it sends.
		for (const [path, body] of waiting) {
			const address = new URL(url + path);
			const request = await signed(address.pathname, body, signer);
			const start = performance.now();
			const answer = await fetch(address, request);
			const receipt = await answer.text();
			if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${receipt}`);
			milliseconds.push(performance.now() - start);
		}
	};
	const seconds = await secondsOf(() => Promise.all(Array.from({ length: publishers }, sendAll)));
	return { seconds, milliseconds };
}

let orders = 0;

/** PUTs of the first layers. The keys are the same each time, so that their number does not grow; the payloads are new. */
export function newPuts(world: World, count: number): Put[] {
	orders += 1;
	return world.layers.slice(0, count).map(({ smallkey, registration }) => {
		const name = `Published in order ${orders}.`;
		return [`/register/${smallkey}`, JSON.stringify(renamed(registration, name))];
	});
}
