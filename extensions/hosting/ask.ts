import { setTimeout as sleep } from "node:timers/promises";

/** Percent-encodes each segment of a path, so that no server reads a + as a space. */
export function encodedPath(path: string): string {
	return path.split("/").map(encodeURIComponent).join("/");
}

/**
 * Sends a request, and repeats it if the network or the server fails, or the server limits requests.
 * @param limits the longest wait for one answer, the attempts, and the pause after the first one, which doubles
 * @returns the last answer
 * @throws {Error} if the last attempt has no answer
 */
export async function askAgain(
	send: (signal: AbortSignal) => Promise<Response>,
	{ timeoutMs, maxAttempts, pauseMs }: { timeoutMs: number; maxAttempts: number; pauseMs: number },
) {
	for (let attempt = 1; ; attempt += 1) {
		try {
			const answer = await send(AbortSignal.timeout(timeoutMs));
			const { status, headers } = answer;
			const body = Buffer.from(await answer.arrayBuffer());
			const isTemporary = status >= 500 || status === 429 || status === 408;
			if (!isTemporary || attempt === maxAttempts) return { status, headers, body };
		} catch (error) {
			if (attempt === maxAttempts) throw error;
		}
		await sleep(pauseMs * 2 ** (attempt - 1) * (0.5 + Math.random()));
	}
}

/** The message of a failed request, with its cause. */
export function causeOf({ message, cause }: Error): string {
	return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}
