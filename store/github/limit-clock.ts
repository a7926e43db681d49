/** How often the clock is moved on, in milliseconds. */
const tickMs = 50;

/** Most that one tick moves it on: a tick that comes later has waited for the processor. */
const maxTickMs = 2 * tickMs;

/** A clock for time limits, and its end. */
export interface LimitClock {
	now: () => Date;
	stop: () => void;
}

/**
 * A clock for time limits: it measures how long GitHub takes, and stands still while this process waits for the
 * processor, so that a busy machine refuses no change. It falls behind the real time, and is good for differences only.
 * @param now the real time
 * @param every calls a function again and again, after so many milliseconds; returns what ends that
 */
export function createLimitClock(
	now: () => Date,
	every: (ms: number, tick: () => void) => () => void = everyTimer,
): LimitClock {
	let last = now().getTime();
	let limited = last;
	const advance = () => {
		const time = now().getTime();
		limited += Math.min(Math.max(0, time - last), maxTickMs);
		last = time;
	};
	const stop = every(tickMs, advance);
	return { now: () => new Date(limited), stop };
}

function everyTimer(ms: number, tick: () => void): () => void {
	const timer = setInterval(tick, ms);
	// It keeps no process from ending.
	timer.unref();
	return () => clearInterval(timer);
}
