import { FetchFailure } from "./failure.ts";

/** Statuses that never have a body (Fetch standard, "null body status"). */
const bodiless = new Set([101, 103, 204, 205, 304]);

/**
 * The answer with its body cut off past `mostBytes`. The bytes are counted after decompression, as they are read, so
 * that a small compressed answer cannot fill the memory.
 * @param fail turns an error of the body's reading into what the reader sees
 */
export function bounded(
	answer: Response,
	url: URL,
	mostBytes: number,
	fail: (error: unknown) => unknown,
): Response {
	const { status, statusText } = answer;
	const body = bodiless.has(status) || !answer.body ? null : limited(answer.body, mostBytes, fail);
	const response = new Response(body, { status, statusText, headers: [...answer.headers] });
	// A constructed Response has no address; octokit reports it in its errors.
	Object.defineProperty(response, "url", { value: url.href });
	return response;
}

function limited(
	body: ReadableStream<Uint8Array>,
	mostBytes: number,
	fail: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
	const reader = body.getReader();
	let length = 0;
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				try {
					const { done, value } = await reader.read();
					if (done) return controller.close();
					length += value.length;
					if (length > mostBytes) {
						throw new FetchFailure("size", `answers with more than ${mostBytes.toLocaleString("en")} bytes`);
					}
					controller.enqueue(value);
				} catch (error) {
					controller.error(fail(error));
					await reader.cancel().catch(() => {});
				}
			},
			cancel: (reason) => reader.cancel(reason),
		},
		{ highWaterMark: 0 },
	);
}
