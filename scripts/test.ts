// npm test: type check, then every tests/**/*.test.ts in a process of its own
import { resolve } from "node:path";
import glob from "fast-glob";
import { createCommandLine, createRun, exitCodes, parseCount, runCommand } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";
import { compileTests } from "./test/compile.ts";
import { runFile, runTypeCheck } from "./test/file.ts";
import { runAll } from "./test/files.ts";
import { temporaryParent } from "./test/memory-folder.ts";

/** Longest that one test file may take, in milliseconds. */
const defaultTimeoutMs = 600_000;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("test", io)
		.argument("[file...]", "test files; all, and the type check, where none is named")
		.option("--timeout <ms>", "longest that one file may take, in milliseconds", parseCount, defaultTimeoutMs)
		.parse(argv, { from: "user" });
	const [named] = line.processedArgs;
	const { timeout } = line.opts();
	const found = named.length > 0 ? named : (await glob("tests/**/*.test.ts")).sort();
	const files = found.map((file) => resolve(file));
	const settings = { ...environment, TMPDIR: temporaryParent(environment) };
	const checks = named.length > 0 ? [] : [() => runTypeCheck(settings, timeout)];
	const compiled = await compileTests(files);
	try {
		const tests = files.map((file) => () => runFile(file, settings, timeout, compiled));
		const passed = await runAll([...checks, ...tests], (text) => printLine(io, text));
		return passed ? exitCodes.done : exitCodes.wrong;
	} finally {
		await compiled.remove();
	}
});

await runCommand(import.meta.url, run);
