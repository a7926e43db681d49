import * as assert from "uvu/assert";
import { createAsk } from "../../../extensions/harvest/ask.ts";
import { type Clients, createClients } from "../../../extensions/harvest/clients.ts";
import { descriptionText, mergeDescription } from "../../../extensions/harvest/description.ts";
import { harvestLayer } from "../../../extensions/harvest/harvest-layer.ts";
import { checkLiteral, FetchFailure } from "../../../extensions/harvest/net/failure.ts";
import { parseDescription } from "../../../registry/description.ts";
import type { LangPart2, Registration, Registration2 } from "../../../registry/registration.ts";
import { causeOf } from "../../../site/data/health.ts";

export interface MemoryAnswer {
	status?: number;
	location?: string;
	type?: string;
	body?: string | Uint8Array;
	/** In place of type and body. */
	json?: unknown;
}

export function contentOf({ status = 200, json, ...answer }: MemoryAnswer) {
	const { type = json === undefined ? "text/plain" : "application/json" } = answer;
	const { body = json === undefined ? "" : JSON.stringify(json) } = answer;
	return { status, type, body };
}

interface MemoryOptions {
	asked?: string[];
	onRequest?: (url: URL) => void;
}

/**
 * Follows redirects, and refuses what `createFetch` refuses.
 * @param answerOf undefined: there is no such host
 */
export function memoryFetch(
	answerOf: (url: URL, init: RequestInit) => MemoryAnswer | undefined | Promise<MemoryAnswer | undefined>,
	{ asked = [], onRequest }: MemoryOptions = {},
): typeof fetch {
	return (async (input, init = {}) => {
		let url = new URL(String(input));
		for (let redirects = 0; ; redirects += 1) {
			init.signal?.throwIfAborted();
			if (url.username !== "") throw new FetchFailure("address", causeOf("redirects"));
			checkLiteral(url.hostname);
			onRequest?.(url);
			const answer = await answerOf(url, init);
			if (!answer) throw new FetchFailure("connect", causeOf("refused"));
			asked.push(url.href);
			const { status, type, body } = contentOf(answer);
			const { location } = answer;
			if (body.length > 5_000_000) throw new FetchFailure("size", causeOf("large", "5,000,000"));
			if (location === undefined || init.redirect === "manual") {
				const headers = { "Content-Type": type, ...(location && { Location: location }) };
				const response = new Response(body as BodyInit, { status, headers });
				return Object.defineProperty(response, "url", { value: url.href });
			}
			if (redirects === 20) throw new FetchFailure("redirect", causeOf("redirects"));
			url = new URL(location, url);
		}
	}) as typeof fetch;
}

/** The clients of a harvest over `memoryFetch`. */
export function clientsOf(...[answerOf, options]: Parameters<typeof memoryFetch>): Clients {
	return createClients(createAsk({ fetch: memoryFetch(answerOf, options), sleep: async () => {} }), 3978);
}

/** A status, an XML document, or an answer as it is. */
export type Route = number | string | MemoryAnswer;

export const host = "http://maps.example";

export const json = (value: unknown): MemoryAnswer => ({ json: value });

export function answerOf(route: Route): MemoryAnswer {
	if (typeof route === "number") return { status: route };
	return typeof route === "string" ? { type: "text/xml", body: route } : route;
}

export function memoryHost(routes: Record<string, Route>) {
	const asked: string[] = [];
	const clients = clientsOf(({ pathname, search, origin }) => {
		if (origin !== host) return undefined;
		asked.push(pathname + search);
		return answerOf(routes[pathname + search] ?? routes[pathname] ?? 404);
	});
	return { routes, asked, ...clients };
}

/** A node of version 2.0, the same in both languages. */
export function nodeAt(
	service_type: string,
	path: string,
	more: object = { recursive: true },
): Registration2 {
	const node = { service_type, service_url: host + path, ...more } as LangPart2;
	return { version: "2.0", en: node, fr: node };
}

/** @returns also the findings, without the address at the start of each text */
export async function harvestFrom(
	registration: Registration,
	{ ask }: Pick<Clients, "ask">,
	stored: string | null = null,
) {
	// A run of its own reads capabilities again.
	const harvested = await harvestLayer(registration, null, createClients(ask, 3978));
	const description = mergeDescription(
		registration,
		harvested,
		stored === null ? null : parseDescription(stored),
	);
	const text = description && descriptionText(description);
	if (text) assert.equal(parseDescription(text), description);
	const findings = harvested.findings.map(({ state, pointer, text }) => {
		return [state, pointer, text.replace(/^\S+ /, "")];
	});
	return { description, text, findings };
}
