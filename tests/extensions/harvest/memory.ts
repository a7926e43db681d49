import { createAsk } from "../../../api/service/net/ask.ts";
import { checkLiteral, FetchFailure } from "../../../api/service/net/trouble.ts";
import { causeOf } from "../../../registry/health.ts";

/** What a service answers. */
export interface MemoryAnswer {
	status?: number;
	location?: string;
	type?: string;
	body?: string | Uint8Array;
}

interface MemoryOptions {
	/** Gets the addresses in the order in which they are asked for. */
	asked?: string[];
	onRequest?: (url: URL) => void;
}

/**
 * The guarded fetch over values: it follows redirects, and refuses what `createFetch` refuses, without a connection.
 * @param answerOf the answer to an address; undefined: there is no such host
 */
export function memoryFetch(
	answerOf: (url: URL, init: RequestInit) => MemoryAnswer | undefined | Promise<MemoryAnswer | undefined>,
	{ asked = [], onRequest }: MemoryOptions = {},
): typeof fetch {
	return (async (input, init = {}) => {
		let url = new URL(String(input));
		for (let redirects = 0; ; redirects += 1) {
			init.signal?.throwIfAborted();
			if (url.username !== "") throw new FetchFailure("address", causeOf("credentials"));
			checkLiteral(url.hostname);
			onRequest?.(url);
			const answer = await answerOf(url, init);
			if (!answer) throw new FetchFailure("connect", causeOf("refused"));
			asked.push(url.href);
			const { status = 200, location, type = "text/plain", body = "" } = answer;
			if (body.length > 5_000_000) throw new FetchFailure("size", causeOf("large", "5,000,000"));
			if (location === undefined || init.redirect === "manual") {
				const headers = { "Content-Type": type, ...(location && { Location: location }) };
				const response = new Response(body as BodyInit, { status, headers });
				return Object.defineProperty(response, "url", { value: url.href });
			}
			if (redirects === 3) throw new FetchFailure("redirect", causeOf("redirects-many", 3));
			url = new URL(location, url);
		}
	}) as typeof fetch;
}

/** What a path answers: a status, an XML document, an answer as it is, or any other value as JSON. */
export type Route = number | string | MemoryAnswer | Served;
type Served = { json: unknown };

export const host = "http://maps.example";

/** A value as JSON. */
export const json = (value: unknown): Served => ({ json: value });

/** A host in memory: its routes by path, or by path and query, and what it was asked for. A test may change the routes. */
export function memoryHost(routes: Record<string, Route>) {
	const asked: string[] = [];
	const answerOf = ({ pathname, search, origin }: URL): MemoryAnswer | undefined => {
		if (origin !== host) return undefined;
		asked.push(pathname + search);
		const route = routes[pathname + search] ?? routes[pathname] ?? 404;
		if (typeof route === "number") return { status: route };
		if (typeof route === "string") return { type: "text/xml", body: route };
		return "json" in route ? { type: "application/json", body: JSON.stringify(route.json) } : route;
	};
	const ask = createAsk({ fetch: memoryFetch(answerOf), sleep: async () => {} });
	return { routes, asked, ask };
}
