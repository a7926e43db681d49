import { createFetch } from "../harvest/net/fetch.ts";

/** Most bytes of an answer: a receipt, a status and a refusal have a few thousand. */
const maxBytes = 1_000_000;

/** What a running service answered to a command. */
export interface ServiceAnswer {
	ok: boolean;
	status: number;
	text: string;
}

/**
 * Asks a service. What it answers is a stranger's text: it is printed by way of `plain`.
 * @param timeoutMs longest wait for the whole answer
 * @throws {Error} with the address where there is none, or none in time, or one that is too large
 */
export async function askService(
	address: string,
	timeoutMs: number,
	init: RequestInit = {},
): Promise<ServiceAnswer> {
	try {
		const answer = await createFetch({ allowPrivate: true, timeoutMs, maxBytes })(address, init);
		return { ok: answer.ok, status: answer.status, text: await answer.text() };
	} catch (cause) {
		throw new Error(address, { cause });
	}
}

/** The `errors` of a refusal; its lines where it is something else, as of a proxy. */
export function errorsOf({ text }: ServiceAnswer): string[] {
	const { errors } = (parseAnswer(text) ?? {}) as { errors?: unknown };
	if (!Array.isArray(errors)) return text.split("\n").filter((line) => line !== "");
	return errors.map((error) => (typeof error === "string" ? error : JSON.stringify(error)));
}

/** An answer as JSON; null where it is none. */
export function parseAnswer(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
