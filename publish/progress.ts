import { Presets, SingleBar } from "cli-progress";
import pMap from "p-map";

/** Time before a progress bar appears, in milliseconds. */
const delayMs = 1000;

/**
 * Shows a progress bar on standard error, only on a terminal, and only after a second of work.
 * @returns `tick` adds to the steps done; `stop` removes the bar, and is called in a `finally`
 */
export function progress(total: number, label: string, screen: NodeJS.WriteStream = process.stderr) {
	const bar = new SingleBar(
		{ format: `${label} {bar} {value}/{total}`, stream: screen, clearOnComplete: true, hideCursor: false },
		Presets.shades_classic,
	);
	let done = 0;
	// `unref`: a process that ends within the second must not wait for the timer.
	const timer = setTimeout(() => bar.start(total, done), delayMs).unref();
	return {
		tick(steps = 1): void {
			done += steps;
			bar.update(done);
		},
		stop(): void {
			clearTimeout(timer);
			bar.stop();
		},
	};
}

/** Runs a task for each item, at most `concurrency` at the same time, with a progress bar. @returns results in order */
export async function mapWithProgress<Item, Result>(
	items: Iterable<Item>,
	label: string,
	concurrency: number,
	task: (item: Item) => Promise<Result>,
): Promise<Result[]> {
	const all = [...items];
	const bar = progress(all.length, label);
	const run = async (item: Item) => {
		const result = await task(item);
		bar.tick();
		return result;
	};
	// p-map's type excludes skipped items from the results (`pMapSkip`); this mapper skips none.
	return pMap(all, run, { concurrency }).finally(() => bar.stop()) as Promise<Result[]>;
}
