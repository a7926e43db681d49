import { run } from "./process.ts";
import type { Order, Sent } from "./publisher.ts";
import { quantile } from "./row.ts";
import { type Served, sender } from "./world.ts";

/** Concurrent publishers in the rows with many. */
export const publishers = 32;
/** PUTs of one round in the rows with many publishers; with fewer layers, one for each layer. */
export const putsPerRound = 3_000;
/** PUTs of many publishers that precede the PUTs of one publisher alone. */
export const putsBefore = 4_000;
/** PUTs of one publisher alone in a round. */
export const putsAlone = 100;

let orders = 0;

/**
 * Sends signed PUTs to different keys from a process of its own. The keys are the same each time, so that the number of
 * layers does not grow; the registrations are new.
 */
async function publish(
	{ url, secret }: Served,
	count: number,
	publishers: number,
	isOneFolder = false,
): Promise<Sent> {
	orders += 1;
	const order: Order = { url, secret, sender, order: orders, publishers, count, isOneFolder };
	const words = ["--import", "tsx", "tests/bench/measure/publisher.ts"];
	return JSON.parse(await run(process.execPath, words, { input: JSON.stringify(order) })) as Sent;
}

export function sendMany(service: Served, layers: number, maxPuts = putsPerRound, isOneFolder = false) {
	return publish(service, Math.min(maxPuts, layers), publishers, isOneFolder);
}

export const perSecond = ({ seconds, milliseconds }: Sent) => milliseconds.length / seconds;

/** Measures PUTs of one publisher, one after the other. @returns the quantile of their milliseconds */
export async function aloneMs(service: Served, part: number): Promise<number> {
	return quantile((await publish(service, putsAlone, 1)).milliseconds, part);
}
