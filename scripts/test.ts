// npm test: every tests/**/*.test.ts, in a process of its own; one of them checks the types
import glob from "fast-glob";
import { createCommandLine, createRun, exitCodes, parseCount } from "../terminal/command-line.ts";
import { runFiles } from "./test/run-files.ts";

/** Time limit of one file, in milliseconds. */
const defaultTimeoutMs = 600_000;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test", io)
		.argument("[file...]", "test files; all, and with them the type check, where none is named")
		.option("--timeout <ms>", "longest that one file may take, in milliseconds", parseCount, defaultTimeoutMs)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const files = named.length > 0 ? named : (await glob("tests/**/*.test.ts")).sort();
	const { passed } = await runFiles(files, environment, line.opts().timeout, io);
	return passed ? exitCodes.done : exitCodes.wrong;
});
