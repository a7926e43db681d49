// npm test: type check, then every tests/**/*.test.ts in a process of its own
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import glob from "fast-glob";
import pMap from "p-map";
import { createCommandLine, createRun, exitCodes, parseCount, runCommand } from "./terminal/command-line.ts";
import { printLine } from "./terminal/io.ts";
import { runFile, runTypeCheck, type TestResult } from "./test/file.ts";

/** Longest that one test file may take, in milliseconds. */
const defaultTimeoutMs = 300_000;

/** What the run ends with: the files that failed, and the sums. */
function summary(results: readonly TestResult[]): string[] {
	const sum = (name: "passed" | "failed" | "skipped") =>
		results.reduce((total, result) => total + result[name], 0);
	const failed = results.filter((result) => result.failed > 0).map(({ name }) => name);
	return [
		...(failed.length > 0 ? ["", "Failed:", ...failed.sort().map((name) => `  ${name}`)] : []),
		...(sum("skipped") > 0 ? [`${sum("skipped")} skipped`] : []),
		`${sum("passed")} passed, ${sum("failed")} failed`,
	];
}

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
	const show = async (task: () => Promise<TestResult>) => {
		const result = await task();
		for (const text of result.lines) printLine(io, text);
		return result;
	};
	const results = await pMap(tasks, show, { concurrency: Math.max(2, availableParallelism()) });
	for (const text of summary(results)) printLine(io, text);
	return results.some(({ failed }) => failed > 0) ? exitCodes.wrong : exitCodes.done;
});

await runCommand(import.meta.url, run);
