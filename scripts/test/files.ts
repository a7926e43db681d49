import { availableParallelism } from "node:os";
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
 * Runs tests, one more at once than there are processors, as each of them waits at times for a disk or a clock; hands on
 * the lines of each as it ends, then the summary. Neighbours ask for the same, such as a browser: every second one
 * comes from the end of the list, so that fewer of them run side by side.
 * @returns whether all passed
 */
export async function runAll(
	tasks: readonly (() => Promise<TestResult>)[],
	show: (line: string) => void,
	atOnce = availableParallelism() + 1,
): Promise<boolean> {
	const left = [...tasks];
	const results: TestResult[] = [];
	const work = async (fromTheEnd: boolean) => {
		for (;;) {
			const task = fromTheEnd ? left.pop() : left.shift();
			if (!task) return;
			const result = await task();
			results.push(result);
			for (const line of result.lines) show(line);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, (_, index) => work(index % 2 === 1)));
	for (const line of summary(results)) show(line);
	return results.every(({ failed }) => failed === 0);
}
