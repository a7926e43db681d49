// npm run test:fuzz: runs every property test with many more cases than npm test
import glob from "fast-glob";
import { createCommandLine, createRun, exitCodes, parseCount } from "../terminal/command-line.ts";
import { runFiles } from "./test/run-files.ts";

/** The files with property tests. */
const fuzzed = ["tests/**/*.fuzz.test.ts", "tests/conformance/workers.test.ts"];

const defaultRuns = 100_000;

/** Time limit of one file, in milliseconds. */
const defaultTimeoutMs = 3_600_000;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test-fuzz", io)
		.argument("[file...]", "test files; all that try properties where none is named")
		.option("--runs <count>", "cases that each property is tried with", parseCount, defaultRuns)
		.option("--timeout <ms>", "longest that one file may take, in milliseconds", parseCount, defaultTimeoutMs)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const { runs, timeout } = line.opts();
	const files = named.length > 0 ? named : (await glob(fuzzed)).sort();
	const settings = { ...environment, FUZZ_RUNS: String(runs) };
	const { passed } = await runFiles(files, settings, timeout, io);
	return passed ? exitCodes.done : exitCodes.wrong;
});
