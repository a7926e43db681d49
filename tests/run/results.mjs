// Loaded before a test file: notes what uvu's suites return, in a file that the runner reads.
import { readFileSync, writeFileSync } from "node:fs";
import { resultsFile } from "./results-file.mjs";

/** Sums of the suites; `suites` that were started with `.run()`, and `ended`. */
const sums = { suites: 0, ended: 0, total: 0, passed: 0, skipped: 0 };

/** How long a file with a failed test may take to end after its last suite, in milliseconds. */
const closingMs = 10_000;

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
		// A test that fails may leave a server or a browser open, which would keep this process until its time is up.
		const isOver = sums.ended === sums.suites && sums.passed < sums.total;
		if (isOver) setTimeout(() => process.exit(1), closingMs).unref();
		return result;
	});
};
/** @type {any} */ (globalThis).UVU_QUEUE = [group];

/** Processor time of this process and of those that it has started and that have ended, in seconds; null without /proc. */
function processorSeconds() {
	if (process.platform !== "linux") return null;
	// Fields 14 to 17 of proc(5), in hundredths of a second; the second one is a name in parentheses.
	const fields = readFileSync("/proc/self/stat", "utf8")
		.replace(/^.*\) /s, "")
		.split(" ")
		.slice(11, 15);
	return fields.reduce((sum, field) => sum + Number(field), 0) / 100;
}

process.on("exit", () => {
	const processor = processorSeconds();
	writeFileSync(resultsFile(process.argv[1] ?? ""), JSON.stringify({ ...sums, processor }));
});
