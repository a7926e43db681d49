import { setTimeout as sleep } from "node:timers/promises";

/** How long a condition is waited for, in milliseconds: a machine may be slow, and what never comes is a failure. */
const patienceMs = 120_000;

/** Waits until a condition holds. @throws {Error} where it never does */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
	for (const deadline = performance.now() + patienceMs; !(await condition()); await sleep(10)) {
		if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${condition}`);
	}
}
