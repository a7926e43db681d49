import { Presets, SingleBar } from "cli-progress";

/** How long work may take before its progress is shown, in milliseconds. */
const patience = 1000;

/** Work under way. */
export interface Progress {
	/** Counts `steps` more of the total as done; one where it is not said. */
	tick(steps?: number): void;
	/** Ends the bar, finished or not: to be called once, whatever happened (`finally`). */
	stop(): void;
}

/** Where a bar is drawn; `process.stderr` unless a test hands in another. */
export type Screen = NodeJS.WriteStream;

/**
 * Shows on standard error how much of `total` is done: only on a terminal, and only once the work has taken over a
 * second. Standard output stays clean for what a script prints.
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
	// A script that ends within the second must not wait for this.
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
