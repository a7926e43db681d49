import { setTimeout as sleep } from "node:timers/promises";

/** Waits until `condition` holds. @throws {Error} where it does not within `patience` milliseconds */
export async function eventually(
	condition: () => boolean | Promise<boolean>,
	patience = 5_000,
): Promise<void> {
	for (const deadline = performance.now() + patience; !(await condition()); await sleep(10)) {
		if (performance.now() > deadline) throw new Error(`not within ${patience} ms: ${condition}`);
	}
}
