// Loaded before a test file: notes what uvu's suites return, in a file that the runner reads.
import { writeFileSync } from "node:fs";
import { resultsFile } from "./results-file.mjs";

/** Sums of the suites; `suites` that were started with `.run()`, and `ended`. */
const sums = { suites: 0, ended: 0, total: 0, passed: 0, skipped: 0 };

/** What uvu runs: it uses a queue that is there already, and each suite's `.run()` adds a function to the first group. */
const group = [null];
group.push = (/** @type {any} */ run) => {
	sums.suites += 1;
	return Array.prototype.push.call(group, async () => {
		const result = await run();
		const [, passed, skipped, total] = result;
		sums.ended += 1;
		sums.passed += passed;
		sums.skipped += skipped;
		sums.total += total;
		return result;
	});
};
/** @type {any} */ (globalThis).UVU_QUEUE = [group];

process.on("exit", () => {
	writeFileSync(resultsFile(process.argv[1] ?? ""), JSON.stringify(sums));
});
