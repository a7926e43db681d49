import { isObject, numberOf, objectOf, parseAnswer, textOf, wordOf } from "../answer.ts";
import { quote, Trouble } from "../finding.ts";
import type { Ask } from "../net/ask.ts";

/**
 * Asks for a document of an ArcGIS service: `<service_url><path>?f=json`.
 * @param what what is registered there, for the text of a refusal
 * @throws {Trouble} if there is no document
 */
export async function askDocument(
	address: string,
	what: "layer" | "service",
	ask: Ask,
	path = "",
	query: Record<string, string> = {},
): Promise<Record<string, unknown>> {
	const answer = await ask(serviceAddress(address, path, { ...query, f: "json" }));
	if (!answer.ok) throw answer;
	const document = parseAnswer(answer.bytes);
	if (!isObject(document)) {
		const text = `does not answer as an ArcGIS ${what} does, with a JSON object`;
		throw new Trouble("wrong", text, { isTemporary: true });
	}
	if (document.error === undefined) return document;
	throw errorTrouble(objectOf(document.error));
}

/** The layer's address with `path` appended, and with a query in addition to the layer's own query. */
export function serviceAddress(address: string, path: string, query: Record<string, string>): string {
	const url = new URL(address);
	url.pathname = url.pathname.replace(/(?<!\/)\/+$/, "") + path;
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name, text);
	url.hash = "";
	return url.href;
}

/** Codes of ArcGIS errors that remain until the registration, or the layer's sharing, is changed. */
const lastingCodes = new Set([400, 403, 404, 498, 499]);

/** ArcGIS sends its errors with status 200. Older servers have the code 500 for a layer that does not exist. */
function errorTrouble(error: Record<string, unknown>): Trouble {
	const code = numberOf(error.code);
	const message = textOf(error.message);
	const isLasting =
		(code !== null && lastingCodes.has(code)) ||
		/not found|does not exist|invalid (?:url|layer)/i.test(message);
	const text = `answers with ArcGIS error ${wordOf(error.code) || "without a code"}: ${quote(message)}`;
	return new Trouble(isLasting ? "wrong" : "down", text, { status: code });
}
