import type { IncomingMessage, ServerResponse } from "node:http";
import { answering } from "../helpers/world.ts";

/** What happens to a request on its way. */
export type Effect =
	/** The peer never sees it; this is the answer. */
	| {
			kind: "answer";
			status: number;
			headers?: Record<string, string>;
			message?: string;
			text?: string;
	  }
	/** The peer never sees it, and there is no answer. */
	| { kind: "silence" }
	/** The peer handles it, and there is no answer. */
	| { kind: "lost answer" }
	/** The peer deals with it; the connection ends in the middle of the answer. */
	| { kind: "cut answer" }
	/** Something else happens first: another writer moves the branch. */
	| { kind: "meanwhile"; run: () => Promise<unknown> }
	/** The peer's answer is changed. */
	| { kind: "rewrite"; body: (body: unknown) => unknown };

/** An effect on the requests that fit. */
export interface Fault {
	method: string;
	/** Fits the request's path, without its query. */
	path: RegExp;
	/** Fits its query, with the question mark. */
	query?: RegExp;
	/** Whether it fits its body. */
	body?: (text: string) => boolean;
	/** How many requests it meets; then it is over. */
	times: number;
	effect: Effect;
}

/** An HTTP proxy in front of a peer, whose faults a test sets. */
export interface FaultProxy extends AsyncDisposable {
	url: string;
	/** Faults to come; the first that fits a request meets it. */
	faults: Fault[];
	/** How long each request takes beside what the peer needs for it. */
	latencyMs: number;
	/** Each request so far: `GET /repos/o/r/commits`. */
	requests: string[];
	/**
	 * As the global one; a request without an answer fails at once as it does at the end of its time, so that no
	 * time has to be waited for, and none is short for a request that is answered.
	 */
	fetch: typeof fetch;
}

/** Tells the proxy which of the requests under way one is. */
const numberHeader = "x-test-number";

/** Listens on 127.0.0.1, on a free port. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
	const faults: Fault[] = [];
	const requests: string[] = [];
	const proxy = { faults, requests, latencyMs: 0, fetch: fetchAnswered };
	/** What ends the requests under way, by their numbers. */
	const endings = new Map<string, () => void>();
	let sent = 0;

	async function fetchAnswered(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
		const ending = new AbortController();
		sent += 1;
		const number = String(sent);
		// As AbortSignal.timeout ends one.
		const late = new DOMException("The operation was aborted due to timeout", "TimeoutError");
		endings.set(number, () => ending.abort(late));
		const headers = new Headers(init.headers);
		headers.set(numberHeader, number);
		const signals = [ending.signal, ...(init.signal ? [init.signal] : [])];
		return fetch(input, { ...init, headers, signal: AbortSignal.any(signals) });
	}

	/** A request will get no answer. */
	function giveUp({ headers }: IncomingMessage): void {
		endings.get(String(headers[numberHeader]))?.();
	}

	const { origin, [Symbol.asyncDispose]: end } = await answering((request, response) => {
		serve(request, response).catch((error: unknown) => response.writeHead(599).end(String(error)));
	});

	function nextEffect(method: string, path: string, query: string, body: Buffer): Effect | null {
		const index = faults.findIndex((fault) => {
			const fits = fault.method === method && fault.path.test(path) && (fault.query?.test(query) ?? true);
			return fits && (fault.body?.(body.toString("utf8")) ?? true);
		});
		const fault = faults[index];
		if (!fault) return null;
		fault.times -= 1;
		if (fault.times === 0) faults.splice(index, 1);
		return fault.effect;
	}

	async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { method = "GET", url = "/" } = request;
		const path = decodeURIComponent(url.split("?")[0] as string);
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		requests.push(`${method} ${path}`);
		if (proxy.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, proxy.latencyMs));
		const body = Buffer.concat(chunks);
		const effect = nextEffect(method, path, url.slice(url.split("?")[0]?.length), body);
		if (effect?.kind === "silence") return giveUp(request);
		if (effect?.kind === "answer") {
			const { status, headers = {}, message = "a fault of the test" } = effect;
			const { text = JSON.stringify({ message }) } = effect;
			const type = effect.text === undefined ? "application/json" : "text/html";
			response.writeHead(status, { "Content-Type": type, ...headers });
			response.end(text);
			return;
		}
		if (effect?.kind === "meanwhile") await effect.run();
		const answer = await pass(target, url, method, request, body);
		if (effect?.kind === "lost answer") return giveUp(request);
		if (effect?.kind === "cut answer") {
			response.writeHead(answer.status, { ...answer.headers, "Content-Length": String(answer.body.length) });
			response.write(answer.body.subarray(0, 20), () => request.socket.destroy());
			return;
		}
		const rewritten = effect?.kind === "rewrite" ? effect.body(JSON.parse(answer.body.toString())) : null;
		response.writeHead(answer.status, answer.headers);
		response.end(rewritten === null ? answer.body : JSON.stringify(rewritten));
	}

	return Object.assign(proxy, { url: origin, [Symbol.asyncDispose]: end });
}

/** @param target the peer's own address, which its answers may name */
async function pass(target: string, url: string, method: string, request: IncomingMessage, body: Buffer) {
	// An idle connection may be closed just when a busy machine gets to use it again.
	const headers: Record<string, string> = { connection: "close" };
	for (const name of ["authorization", "accept", "content-type", "user-agent"]) {
		const value = request.headers[name];
		if (typeof value === "string") headers[name] = value;
	}
	const answer = await fetch(target + url, {
		method,
		headers,
		body: body.length > 0 ? new Uint8Array(body) : undefined,
	});
	const passed: Record<string, string> = {};
	const type = answer.headers.get("content-type");
	if (type) passed["Content-Type"] = type;
	// The further pages of a list are asked through the proxy, too.
	const link = answer.headers.get("link");
	const proxy = `http://${request.headers.host}`;
	if (link) passed.Link = link.replaceAll(/<https?:\/\/[^/>]+/g, `<${proxy}`);
	return { status: answer.status, headers: passed, body: Buffer.from(await answer.arrayBuffer()) };
}
