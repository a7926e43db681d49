// npm run test:fuzz: every property of the tests with many more cases than npm test tries
import { resolve } from "node:path";
import glob from "fast-glob";
import { createCommandLine, createRun, exitCodes, parseCount, runCommand } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";
import { runFile } from "./test/file.ts";
import { runAll } from "./test/files.ts";

/** The files with properties: one of them beside the tests of an engine that takes seconds to start. */
const fuzzed = ["tests/**/*.fuzz.test.ts", "tests/conformance/workers.test.ts"];

const defaultRuns = 100_000;

/** Longest that one test file may take, in milliseconds. */
const defaultTimeoutMs = 3_600_000;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test:fuzz", io)
		.argument("[file...]", "test files; all that try properties where none is named")
		.option("--runs <count>", "cases that each property is tried with", parseCount, defaultRuns)
		.option("--timeout <ms>", "longest that one file may take, in milliseconds", parseCount, defaultTimeoutMs)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const { runs, timeout } = line.opts();
	const files = named.length > 0 ? named.map((file) => resolve(file)) : (await glob(fuzzed)).sort();
	const settings = { ...environment, FUZZ_RUNS: String(runs) };
	const tasks = files.map((file) => () => runFile(file, settings, timeout));
	const passed = await runAll(tasks, (text) => printLine(io, text));
	return passed ? exitCodes.done : exitCodes.wrong;
});

await runCommand(import.meta.url, run);
