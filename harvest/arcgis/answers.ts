import { isObject, numberOf, objectOf, parseAnswer, textOf, wordOf } from "../answer.ts";
import { quote, type Trouble } from "../finding.ts";
import type { Ask } from "../net/ask.ts";

/** A document of an ArcGIS service, or why there is none, and whether another time it may be there. */
export type ArcgisDocument =
	| { document: Record<string, unknown> }
	| { document: null; trouble: Trouble; isPassing: boolean };

/**
 * Asks for a document of an ArcGIS service: `<service_url><path>?f=json`. Never throws.
 * @param what is registered there, for the text of a refusal
 */
export async function askDocument(
	address: string,
	what: "layer" | "service",
	ask: Ask,
	signal?: AbortSignal,
	path = "",
	query: Record<string, string> = {},
): Promise<ArcgisDocument> {
	const answer = await ask(serviceAddress(address, path, { ...query, f: "json" }), signal);
	if (!answer.ok) {
		const { kind, text, tooLarge, status } = answer;
		return refused({ kind, text }, !tooLarge && !isRefusal(status));
	}
	const document = parseAnswer(answer.bytes);
	if (!isObject(document)) {
		const text = `does not answer as an ArcGIS ${what} does, with a JSON object`;
		return { document: null, trouble: { kind: "registration", text }, isPassing: true };
	}
	if (document.error === undefined) return { document };
	const error = objectOf(document.error);
	return refused(errorTrouble(error), !isRefusal(numberOf(error.code)));
}

function refused(trouble: Trouble, isPassing: boolean): ArcgisDocument {
	return { document: null, trouble, isPassing: isPassing && trouble.kind === "server" };
}

/** Statuses of a refusal that may pass: the service was slow, or busy (RFC 9110 15.5.9, RFC 6585 section 4). */
const passingRefusals = new Set([408, 429]);

/** Whether a status means that the service does not offer this. */
function isRefusal(status: number | null): boolean {
	if (status === null || passingRefusals.has(status)) return false;
	return (status >= 400 && status < 500) || status === 501;
}

/** An address below the layer's (`path`), with a query; the layer's own query stays. */
export function serviceAddress(address: string, path: string, query: Record<string, string>): string {
	const url = new URL(address);
	url.pathname = url.pathname.replace(/(?<!\/)\/+$/, "") + path;
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name, text);
	url.hash = "";
	return url.href;
}

/** Codes of ArcGIS errors that stay until the registration, or the layer's sharing, is changed. */
const lastingCodes = new Set([400, 403, 404, 498, 499]);

/** ArcGIS sends its errors with status 200, and older servers say 500 of a layer that is not there. */
function errorTrouble(error: Record<string, unknown>): Trouble {
	const code = numberOf(error.code);
	const message = textOf(error.message);
	const isLasting =
		(code !== null && lastingCodes.has(code)) ||
		/not found|does not exist|invalid (?:url|layer)/i.test(message);
	const text = `answers with ArcGIS error ${wordOf(error.code) || "without a code"}: ${quote(message)}`;
	return { kind: isLasting ? "registration" : "server", text };
}
