/** What git does that others wait for: commits become durable, a push is taken in, packs are repacked. */
export type GitOperation = "checkpoint" | "push" | "repack";

/** Receives how long git took, in milliseconds. */
export type MeasureGit = (operation: GitOperation, ms: number) => void;

/** Measures a task that succeeds. */
export async function measured<T>(
	measure: MeasureGit,
	operation: GitOperation,
	task: () => Promise<T>,
): Promise<T> {
	const start = performance.now();
	const result = await task();
	measure(operation, performance.now() - start);
	return result;
}
