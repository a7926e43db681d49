import { appendFileSync } from "node:fs";

/** Prints the last line of a run, adds it to the file `TEST_RESULTS` as JSON, and ends the process. */
export function finish(/** @type {number} */ passed, /** @type {number} */ failed) {
	const { TEST_RESULTS } = process.env;
	if (TEST_RESULTS) appendFileSync(TEST_RESULTS, `${JSON.stringify({ passed, failed })}\n`);
	console.log(`${passed} passed, ${failed} failed`);
	process.exit(failed > 0 ? 1 : 0);
}
