// npm run test:mutants [-- --some N] [WORD…]: changes one line of the product at a time in a copy, and runs the test file that has
// to fail. A row passes if at least one test of the file fails and another passes. With --some, N rows chosen by the commit's id;
// with words, the rows whose files contain one.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import glob from "fast-glob";
import { parentFolder } from "./parent-folder.mjs";
import { finish } from "./results.mjs";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { some: { type: "string" } } });
const run = promisify(execFile);

/** @typedef {{ file: string, text: string, replacement: string, test: string }} Row */
/** @type {Row[]} */
const rows = (await glob("tests/mutants/*.json")).sort().flatMap(rowsOf);

/** A file has test → file → pairs of a text, which is there exactly once, and its replacement. */
function rowsOf(/** @type {string} */ name) {
	/** @type {[string, Record<string, [string, string][]>][]} */
	const tests = Object.entries(JSON.parse(readFileSync(name, "utf8")));
	return tests.flatMap(([test, files]) =>
		Object.entries(files).flatMap(([file, pairs]) =>
			pairs.map(([text, replacement]) => ({ file, text, replacement, test })),
		),
	);
}

function chosenRows() {
	const named = rows.filter(
		({ file, test }) =>
			positionals.length === 0 || positionals.some((word) => file.includes(word) || test.includes(word)),
	);
	if (values.some === undefined) return named;
	const commit = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
	const first = Number.parseInt(commit.slice(0, 8), 16);
	const step = Math.max(1, Math.floor(named.length / Number(values.some)));
	return named.map((_, at) => named.at((first + at * step) % named.length)).slice(0, Number(values.some));
}

/** Some mutants hang; the slowest file takes 30 s on two cores. */
const TEST_LIMIT_MS = "120000";

/** Runs a test file in a copy. @returns what its runner prints */
async function runTest(/** @type {string} */ copy, /** @type {string} */ test, /** @type {string} */ TMPDIR) {
	const options = {
		cwd: copy,
		env: { ...process.env, TMPDIR, TEST_RESULTS: "", TEST_LIMIT_MS },
		maxBuffer: Infinity,
	};
	// Its exit code is 1 where a test fails.
	const task = run(process.execPath, ["tests/run/run.mjs", test], options);
	children.add(task.child);
	const ended = await task.catch((error) => error);
	children.delete(task.child);
	return String(ended.stdout);
}

/** Tries a row in a copy. @returns what is wrong with it; null if the change is noticed */
async function tryRow(/** @type {Row} */ row, /** @type {string} */ copy, /** @type {string} */ temporary) {
	const path = join(copy, row.file);
	const source = readFileSync(path, "utf8");
	if (source.split(row.text).length !== 2) return "the text is not there exactly once";
	writeFileSync(
		path,
		source.replace(row.text, () => row.replacement),
	);
	const printed = await runTest(copy, row.test, temporary);
	writeFileSync(path, source);
	// A hang is a failure, too.
	if (/^it did not end in /m.test(printed)) return null;
	const [, passed, failed] = /^(\d+) passed, (\d+) failed\n$/m.exec(printed) ?? [];
	if (failed === "0") return `${row.test} passes`;
	return Number(passed) > 0 ? null : `${row.test} has no test that passes`;
}

const folder = mkdtempSync(join(parentFolder(), "mutants-"));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
/** @type {Set<import("node:child_process").ChildProcess>} */
const children = new Set();
process.on("exit", () => {
	for (const child of children) child.kill("SIGTERM");
	rmSync(folder, { recursive: true, force: true });
});
const queue = chosenRows();
if (queue.length === 0) throw new Error(`no row has ${positionals.join(" or ")}`);
const sums = { passed: 0, failed: 0 };

async function work(/** @type {unknown} */ _, /** @type {number} */ at) {
	const [copy, temporary] = [join(folder, `copy-${at}`), join(folder, `tmp-${at}`)];
	mkdirSync(temporary);
	for (const name of execFileSync("git", ["ls-files"], { encoding: "utf8" }).trim().split("\n")) {
		mkdirSync(join(copy, dirname(name)), { recursive: true });
		cpSync(name, join(copy, name));
	}
	symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
	for (let row = queue.shift(); row; row = queue.shift()) {
		const wrong = await tryRow(row, copy, temporary);
		sums[wrong === null ? "passed" : "failed"] += 1;
		if (wrong !== null) console.log(`${row.file}: ${wrong}\n  - ${row.text}\n  + ${row.replacement}`);
	}
}

await Promise.all(Array.from({ length: Math.min(3, availableParallelism()) }, work));
finish(sums.passed, sums.failed);
