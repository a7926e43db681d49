import { availableParallelism } from "node:os";
import pMap from "p-map";
import type { TestResult } from "./file.ts";

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

/**
 * Runs tests, as many at once as there are processors, and hands on the lines of each as it ends, then the summary.
 * @returns whether all passed
 */
export async function runAll(
	tasks: readonly (() => Promise<TestResult>)[],
	show: (line: string) => void,
): Promise<boolean> {
	const runOne = async (task: () => Promise<TestResult>) => {
		const result = await task();
		for (const line of result.lines) show(line);
		return result;
	};
	const results = await pMap(tasks, runOne, { concurrency: Math.max(2, availableParallelism()) });
	for (const line of summary(results)) show(line);
	return results.every(({ failed }) => failed === 0);
}
