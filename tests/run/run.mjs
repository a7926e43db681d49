// npm test [-- FILE…]: runs uvu's test files under Node's test runner, each in a process of its own, and prints the result of
// each, then `N passed, N failed`. With --long also those that take long and rarely fail, as CI does. With --fuzz each property
// is tried with many more cases, and each refusal on all engines. With --faults it breaks disks, repositories and processes under
// the service, and writes docs/reliability.md. With --installed it installs the project as the pages say, and writes what ran into
// docs/one-machine.md.

import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { run } from "node:test";
import { parseArgs } from "node:util";
import glob from "fast-glob";
import { faultsPage } from "../faults/table.mjs";
import { withFigures } from "../installed/figures.mjs";
import { compileTests } from "./compile.mjs";
import { removeAtEnd } from "./own-folder.mjs";
import { resultsFile, resultsFolder } from "./results-file.mjs";

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		faults: { type: "boolean", default: false },
		installed: { type: "boolean", default: false },
		fuzz: { type: "boolean", default: false },
		/** Whether files that take long are run, too. */
		long: { type: "boolean", default: false },
		/** Cases that each property is tried with. */
		runs: { type: "string", default: "100000" },
		/** Longest that one file may take, in milliseconds. */
		timeout: { type: "string" },
		/** Files at once on each processor: with 2, each has half of it, as on a busy machine. */
		"per-processor": { type: "string", default: "1" },
	},
});

const plans = {
	test: { files: ["tests/**/*.test.ts"], timeoutMs: 1_200_000 },
	faults: { files: ["tests/faults/**/*.{test,fault}.ts"], timeoutMs: 1_200_000 },
	installed: { files: ["tests/installed/*.installed.ts"], timeoutMs: 3_600_000, concurrency: 1 },
	fuzz: { files: ["tests/**/*.fuzz.test.ts", "tests/conformance/workers*.ts"], timeoutMs: 3_600_000 },
};
/** @type {{ files: string[], timeoutMs: number, concurrency?: number }} */
const plan = plans[values.faults ? "faults" : values.installed ? "installed" : values.fuzz ? "fuzz" : "test"];
if (values.long) plan.files.push("tests/**/*.long.ts");
const timeout = values.timeout === undefined ? plan.timeoutMs : Number(values.timeout);
const names = positionals.length > 0 ? positionals : (await glob(plan.files)).sort();
const missing = names.filter((name) => !existsSync(name));

/** The sums that a test file has written at its end; zeros where it was killed. */
async function resultsOf(/** @type {string} */ path) {
	const text = await readFile(resultsFile(path), "utf8").catch(() => "null");
	return JSON.parse(text) ?? { suites: 0, ended: 0, total: 0, passed: 0, skipped: 0 };
}

/** Runs the files, and prints the results. @returns how many tests passed, failed and were skipped, and the figures that they printed */
async function runTests() {
	const paths = names.map((name) => resolve(name));
	const compiled = paths.some((path) => path.endsWith(".ts")) ? await compileTests(paths) : null;
	const sums = { passed: 0, failed: 0, skipped: 0 };
	/** @type {string[]} */
	const failed = [];
	/** @type {string[]} */
	const figures = [];
	/** @type {Map<string, string>} */
	const outputs = new Map();
	const files = new Map(paths.map((path) => [compiled?.files.get(path) ?? path, relative(".", path)]));

	/** Adds a file's tests to the sums. A file that never calls `.run()` fails, although uvu exits with 0. */
	async function report(
		/** @type {string} */ path,
		/** @type {{ duration_ms: number, error?: Error }} */ { duration_ms, error },
	) {
		const [name, output] = [files.get(path) ?? path, outputs.get(path) ?? ""];
		const { suites, ended, total, passed, skipped, processor = null } = await resultsOf(path);
		const ofProcessor = processor === null ? "" : ` (${processor.toFixed(1)} s of processor)`;
		const seconds = `${(duration_ms / 1000).toFixed(1)} s${ofProcessor}`;
		const isWhole = !error && suites === ended && total + skipped > 0;
		const wrong = Math.max(total - passed, isWhole ? 0 : 1);
		sums.passed += passed;
		sums.failed += wrong;
		sums.skipped += skipped;
		if (wrong > 0) {
			failed.push(name);
			console.log(`${output}\n${name}: FAILED after ${seconds}: ${error?.cause ?? "it ran no test"}`);
		} else console.log(`${name}: ${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ""}, ${seconds}`);
		for (const [line, kind] of output.matchAll(/^(skipped|figure): .*$/gm)) {
			console.log(`  ${line}`);
			if (kind === "figure") figures.push(line);
		}
	}

	let browser = null;
	try {
		if (compiled) {
			removeAtEnd(dirname(compiled.start));
			process.env.COMPILED_START = compiled.start;
			if (compiled.browser) browser = await (await import(compiled.browser)).startSharedBrowser();
			if (browser) process.env.BROWSER_ENDPOINT = browser.wsEndpoint();
		}
		process.env[resultsFolder] = await mkdtemp(join(tmpdir(), "results-"));
		const all = [...files.keys()];
		// Neighbours need the same resources, such as a browser, so every second file comes from the end of the list.
		const mixed = all.map((_, index) => all.at(index % 2 === 0 ? index / 2 : -(index + 1) / 2) ?? "");
		const concurrency = plan.concurrency ?? availableParallelism() * Number(values["per-processor"]);
		for await (const { type, data } of run({ files: mixed, concurrency, timeout })) {
			if (type === "test:stdout" || type === "test:stderr")
				outputs.set(data.file, (outputs.get(data.file) ?? "") + data.message);
			if ((type === "test:pass" || type === "test:fail") && data.nesting === 0)
				await report(data.name, data.details);
		}
	} finally {
		await browser?.close();
		await compiled?.remove();
	}
	if (failed.length > 0) console.log(["", "Failed:", ...failed.sort().map((name) => `  ${name}`)].join("\n"));
	if (sums.skipped > 0) console.log(`${sums.skipped} skipped`);
	console.log(`${sums.passed} passed, ${sums.failed} failed`);
	process.exitCode = sums.failed > 0 ? 1 : 0;
	return { ...sums, figures };
}

/** Writes the page of all faults, unless one was not seen. */
async function runFaults() {
	const folder = await mkdtemp(join(tmpdir(), "faults-"));
	process.env.FAULT_ROWS = folder;
	const { failed, skipped } = await runTests();
	if (positionals.length > 0) return;
	const page = "docs/reliability.md";
	const isWhole = failed + skipped === 0;
	const texts = (await readdir(folder)).sort().map((name) => readFile(join(folder, name), "utf8"));
	const rows = (await Promise.all(texts)).map((text) => JSON.parse(text));
	if (isWhole) await writeFile(page, faultsPage(rows));
	console.log(isWhole ? `${page} is written` : `${page} stays: not every fault was seen`);
	await rm(folder, { recursive: true, force: true });
}

/** Writes what a whole run on installed systems has seen into their page, unless something failed. */
async function runInstalled() {
	const { passed, failed, skipped, figures } = await runTests();
	if (positionals.length > 0 || failed + skipped > 0) return;
	const page = "docs/one-machine.md";
	await writeFile(page, withFigures(await readFile(page, "utf8"), figures, passed));
	console.log(`${page} is written`);
}

if (values.fuzz) process.env.FUZZ_RUNS = values.runs;
if (missing.length > 0) {
	console.error(`No such test file: ${missing.join(", ")}`);
	process.exitCode = 1;
} else await (values.faults ? runFaults : values.installed ? runInstalled : runTests)();
