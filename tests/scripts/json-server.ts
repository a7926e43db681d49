import type { IncomingHttpHeaders } from "node:http";
import { answering } from "../helpers/world.ts";

export interface JsonRequest {
	method: string;
	path: string;
	query: URLSearchParams;
	headers: IncomingHttpHeaders;
	body: Record<string, unknown>;
}

export interface JsonAnswer {
	status: number;
	body: unknown;
	headers?: Record<string, string>;
}

export type JsonServer = Awaited<ReturnType<typeof startJsonServer>>;

export async function startJsonServer(answer: (request: JsonRequest) => JsonAnswer | Promise<JsonAnswer>) {
	const server = await answering(async (request, response) => {
		const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://peer");
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : {};
		const { method = "", headers: sent } = request;
		const answered = await answer({ method, path: pathname, query, headers: sent, body });
		const headers: Record<string, string> = { "Content-Type": "application/json", ...answered.headers };
		let shown = answered.body;
		if (Array.isArray(shown)) {
			const size = Number(query.get("per_page") ?? 30);
			const page = Number(query.get("page") ?? 1);
			if (shown.length > page * size) {
				query.set("page", String(page + 1));
				headers.Link = `<http://${request.headers.host}${pathname}?${query}>; rel="next"`;
			}
			shown = shown.slice((page - 1) * size, page * size);
		}
		response.writeHead(answered.status, headers);
		response.end(answered.status === 204 ? undefined : JSON.stringify(shown));
	});
	const close = async () => server[Symbol.asyncDispose]();
	return { url: server.origin, close, [Symbol.asyncDispose]: close };
}

/** Null: there is no such thing. */
type Handler = (groups: string[], body: Record<string, unknown>, query: URLSearchParams) => unknown;

export type Routes = Record<string, Handler>;

export function answerFrom(routes: Routes, { method, path, body, query }: JsonRequest): JsonAnswer {
	for (const [route, handler] of Object.entries(routes)) {
		const match = new RegExp(`^${route}$`).exec(`${method} ${path}`);
		if (!match) continue;
		const answer = handler(match.slice(1), body, query);
		return answer === null ? { status: 404, body: { message: "Not Found" } } : { status: 200, body: answer };
	}
	throw new Error(`${method} ${path} is no route of the peer's`);
}
