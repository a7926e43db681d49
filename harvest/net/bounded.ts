import { FetchFailure, toFailure } from "./failure.ts";

/** How long a request has, its body included. */
export interface Clock {
	/** Aborts when the time is over, or when the caller's own signal does. */
	readonly signal: AbortSignal;
	/** Must be called when the request has ended: its body is read, cancelled or failed. */
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

/** Statuses that never have a body (Fetch standard, "null body status"). */
const bodiless = new Set([101, 103, 204, 205, 304]);

/**
 * The answer with its body cut off past `maxBytes`. The bytes are counted after decompression, as they are read, so
 * that a small compressed answer cannot fill the memory. The clock is stopped where the body ends.
 */
export function bounded(answer: Response, url: URL, maxBytes: number, clock: Clock): Response {
	const { status, statusText } = answer;
	const body = bodiless.has(status) || !answer.body ? null : limited(answer.body, maxBytes, clock);
	if (!body) clock.stop();
	const response = new Response(body, { status, statusText, headers: [...answer.headers] });
	// A constructed Response has no address; octokit reports it in its errors.
	Object.defineProperty(response, "url", { value: url.href });
	return response;
}

function limited(
	body: ReadableStream<Uint8Array>,
	maxBytes: number,
	clock: Clock,
): ReadableStream<Uint8Array> {
	const reader = body.getReader();
	let length = 0;

	async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
		const { done, value } = await reader.read();
		if (done) {
			clock.stop();
			return controller.close();
		}
		length += value.length;
		if (length > maxBytes) {
			throw new FetchFailure("size", `answers with more than ${maxBytes.toLocaleString("en")} bytes`);
		}
		controller.enqueue(value);
	}

	/** Closes the connection. An error while closing adds nothing to the one that caused it. */
	async function giveUp(reason: unknown): Promise<void> {
		clock.stop();
		await reader.cancel(reason).catch(() => {});
	}

	return new ReadableStream<Uint8Array>(
		{
			pull: (controller) =>
				pull(controller).catch((error) => {
					controller.error(toFailure(error, clock.signal));
					return giveUp(error);
				}),
			cancel: giveUp,
		},
		{ highWaterMark: 0 },
	);
}
