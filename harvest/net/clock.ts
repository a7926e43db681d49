import { FetchFailure } from "./failure.ts";

/** How long a request has, its body included. */
export interface Clock {
	/** Aborts when the time is over, or when the caller's own signal does. */
	readonly signal: AbortSignal;
	/** To be called when the request is over: its body read, given up or failed. */
	stop(): void;
}

/**
 * Starts the clock of one request. It holds its own timer: a signal combined of others (`AbortSignal.any`) may be
 * collected in Node 20 before it aborts.
 * @param timeoutMs in milliseconds
 */
export function startClock(timeoutMs: number, caller: AbortSignal | null): Clock {
	const controller = new AbortController();
	const late = () =>
		controller.abort(new FetchFailure("time", `did not answer completely within ${timeoutMs / 1000} s`));
	const timer = setTimeout(late, timeoutMs).unref();
	const follow = () => controller.abort(caller?.reason);
	if (caller?.aborted) follow();
	else caller?.addEventListener("abort", follow, { once: true });
	return {
		signal: controller.signal,
		stop() {
			clearTimeout(timer);
			caller?.removeEventListener("abort", follow);
		},
	};
}
