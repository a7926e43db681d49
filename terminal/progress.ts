import { Presets, SingleBar } from "cli-progress";
import pMap from "p-map";

/** How long work may take before its progress is shown, in milliseconds. */
const patience = 1000;

/** Work under way. */
export interface Progress {
	/** Adds `steps` (1) to what is done. */
	tick(steps?: number): void;
	/** Removes the bar; to be called once, in a `finally`. */
	stop(): void;
}

/** Where a bar is drawn. */
export type Screen = NodeJS.WriteStream;

/**
 * Shows a progress bar on standard error, on a terminal only, and only once the work has taken over a second.
 */
export function progress(total: number, label: string, screen: Screen = process.stderr): Progress {
	if (!screen.isTTY) return { tick: () => {}, stop: () => {} };
	const bar = new SingleBar(
		{ format: `${label} {bar} {value}/{total}`, stream: screen, clearOnComplete: true, hideCursor: false },
		Presets.shades_classic,
	);
	let done = 0;
	let shown = false;
	const show = () => {
		shown = true;
		bar.start(total, done);
	};
	// `unref`: a script that ends within the second must not wait.
	const timer = setTimeout(show, patience).unref();
	return {
		tick(steps = 1) {
			done += steps;
			if (shown) bar.update(done);
		},
		stop() {
			clearTimeout(timer);
			if (shown) bar.stop();
		},
	};
}

/** Runs a task for each item, at most `concurrency` of them at a time, under a progress bar. @returns the results, in order */
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
	// p-map's own types leave out what its mapper may skip; this one skips nothing.
	return pMap(all, run, { concurrency }).finally(() => bar.stop()) as Promise<Result[]>;
}
