// npm test: type check, then every tests/**/*.test.ts in a process of its own
import { resolve } from "node:path";
import glob from "fast-glob";
import { createCommandLine, createRun, exitCodes, parseCount, runCommand } from "./terminal/command-line.ts";
import { printLine } from "./terminal/io.ts";
import { runFile, runTypeCheck } from "./test/file.ts";
import { runAll } from "./test/files.ts";

/** Longest that one test file may take, in milliseconds. */
const defaultTimeoutMs = 300_000;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test", io)
		.argument("[file...]", "test files; all, and the type check, where none is named")
		.option("--timeout <ms>", "longest that one file may take, in milliseconds", parseCount, defaultTimeoutMs)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const { timeout } = line.opts();
	const files =
		named.length > 0 ? named.map((file) => resolve(file)) : (await glob("tests/**/*.test.ts")).sort();
	const checks = named.length > 0 ? [] : [() => runTypeCheck(environment, timeout)];
	const tasks = [...checks, ...files.map((file) => () => runFile(file, environment, timeout))];
	const passed = await runAll(tasks, (text) => printLine(io, text));
	return passed ? exitCodes.done : exitCodes.wrong;
});

await runCommand(import.meta.url, run);
