import { tryJson } from "../../registry/untrusted.ts";

type ServiceAnswer = Awaited<ReturnType<typeof fetchText>>;

/** The answer is untrusted: print it with `plain`. @throws {Error} with the address */
export async function fetchText(address: string, timeoutMs: number, init: RequestInit = {}) {
	const signal = AbortSignal.timeout(timeoutMs);
	try {
		const answer = await fetch(address, { ...init, signal });
		const { ok, status, headers } = answer;
		const text = await answer.text();
		const retryMs = Number(headers.get("Retry-After")) * 1_000 || 0;
		return { ok, status, text, retryMs, etag: headers.get("ETag"), date: headers.get("Date") };
	} catch (error) {
		const late = signal.aborted && `did not answer completely within ${timeoutMs / 1000} s`;
		// The error of `fetch` says only that it failed; the cause has no message where a name has two addresses.
		const { cause = error } = error as Error;
		const { message, code } = cause as NodeJS.ErrnoException;
		throw new Error(`${address}: ${late || message || code}`);
	}
}

/** The lines of another answer, such as a proxy's. */
export function errorsOf({ text }: ServiceAnswer): string[] {
	const { errors } = (tryJson(text) ?? {}) as { errors?: unknown };
	if (!Array.isArray(errors)) return text.split("\n").filter((line) => line !== "");
	return errors.map((error) => (typeof error === "string" ? error : JSON.stringify(error)));
}
