import { setTimeout as sleep } from "node:timers/promises";

/** How long a condition is waited for, in milliseconds: a machine may be slow, and what never comes is a failure. */
const patienceMs = 120_000;

/** How long is waited before one asks again, in milliseconds: more and more, as an answer may take a picture of a page. */
const firstPauseMs = 5;
const longestPauseMs = 100;

/** Waits until a condition holds. @throws {Error} where it never does */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = performance.now() + patienceMs;
	for (let pauseMs = firstPauseMs; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
		if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${condition}`);
		await sleep(pauseMs);
	}
}
