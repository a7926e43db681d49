import { tryJson } from "../../../registry/untrusted.ts";
import { createFetch } from "./fetch.ts";

const maxAnswerBytes = 1_000_000;

type ServiceAnswer = Awaited<ReturnType<typeof askService>>;

/** The answer is untrusted: print it with `plain`. @throws {Error} with the address */
export async function askService(
	address: string,
	timeoutMs: number,
	init: RequestInit = {},
	maxBytes = maxAnswerBytes,
) {
	try {
		const answer = await createFetch({ allowPrivate: true, timeoutMs, maxBytes })(address, init);
		const { ok, status, headers } = answer;
		const text = await answer.text();
		return { ok, status, text, etag: headers.get("ETag"), date: headers.get("Date") };
	} catch (cause) {
		throw new Error(address, { cause });
	}
}

/** The lines of another answer, such as a proxy's. */
export function errorsOf({ text }: ServiceAnswer): string[] {
	const { errors } = (tryJson(text) ?? {}) as { errors?: unknown };
	if (!Array.isArray(errors)) return text.split("\n").filter((line) => line !== "");
	return errors.map((error) => (typeof error === "string" ? error : JSON.stringify(error)));
}
