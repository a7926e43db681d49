// node runner.mjs TASK: runs uvu's test files under Node's test runner, each in a process of its own, and prints the result
// of each. Plain JavaScript, since the files' processes start with the same loaders as this one.

import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { run } from "node:test";

/** @type {{ timeoutMs: number, files: [path: string, name: string][] }} */
const { timeoutMs, files } = JSON.parse(process.argv[2] ?? "");
const names = new Map(files);
const paths = [...names.keys()];
// Neighbours need the same resources, such as a browser, so every second file comes from the end of the list.
const mixed = paths.map((_, index) => paths.at(index % 2 === 0 ? index / 2 : -(index + 1) / 2) ?? "");

/** @type {Map<string, string>} */
const outputs = new Map();
const sums = { passed: 0, failed: 0, skipped: 0 };
/** @type {string[]} */
const failed = [];

/** The number after a label in uvu's summary; 0 without a summary. */
function figure(/** @type {string} */ output, /** @type {string} */ label) {
	return Number(new RegExp(`^\\s*${label}:\\s+(\\d+)`, "m").exec(output)?.[1] ?? 0);
}

/**
 * Adds a file's tests to the sums. A file that never calls `.run()` fails, although uvu exits with 0.
 * @param {string} path
 * @param {{ duration_ms: number, error?: Error }} details
 */
function report(path, { duration_ms, error }) {
	const [name, output] = [names.get(path) ?? path, outputs.get(path) ?? ""];
	const seconds = `${(duration_ms / 1000).toFixed(1)} s`;
	const [total, passed, skipped] = ["Total", "Passed", "Skipped"].map((label) => figure(output, label));
	const ran = total + skipped > 0;
	const wrong = Math.max(total - passed, error || !ran ? 1 : 0);
	sums.passed += passed;
	sums.failed += wrong;
	sums.skipped += skipped;
	if (wrong > 0) {
		failed.push(name);
		const reason = error?.cause ?? "it ran no test";
		console.log(`${output}\n${name}: FAILED after ${seconds}: ${reason}`);
	} else console.log(`${name}: ${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ""}, ${seconds}`);
	for (const [line] of output.matchAll(/^skipped: .*$/gm)) console.log(`  ${line}`);
}

// One more than there are processors, since each file sometimes waits for a disk or a clock.
const concurrency = availableParallelism() + 1;
// The end of standard input is the end of the process that started this one: the test files end, too.
const ending = new AbortController();
process.stdin.once("end", () => ending.abort()).resume();

setMaxListeners(0, ending.signal);
const options = { files: mixed, concurrency, timeout: timeoutMs, signal: ending.signal };
for await (const { type, data } of run(options)) {
	if (type === "test:stdout" || type === "test:stderr")
		outputs.set(data.file, (outputs.get(data.file) ?? "") + data.message);
	if ((type === "test:pass" || type === "test:fail") && data.nesting === 0) report(data.name, data.details);
}
if (failed.length > 0) console.log(["", "Failed:", ...failed.sort().map((name) => `  ${name}`)].join("\n"));
if (sums.skipped > 0) console.log(`${sums.skipped} skipped`);
console.log(`${sums.passed} passed, ${sums.failed} failed`);
process.exitCode = sums.failed > 0 ? 1 : 0;
process.stdin.destroy();
