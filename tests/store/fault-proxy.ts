import type { IncomingMessage, ServerResponse } from "node:http";
import { answering } from "../helpers/world.ts";

/** The peer sees no request of the first two kinds. */
export type Effect =
	| { kind: "answer"; status: number; headers?: Record<string, string>; message?: string; text?: string }
	| { kind: "silence" }
	| { kind: "lost answer" }
	/** Something else happens first: another writer moves the branch. */
	| { kind: "meanwhile"; run: () => Promise<unknown> }
	| { kind: "rewrite"; body: (body: unknown) => unknown };

/** An effect on requests. */
export interface Fault {
	method: string;
	/** Of the path, or of the path with its query. */
	path: RegExp;
	times: number;
	effect: Effect;
}

/** An HTTP proxy in front of a peer. The first fault that fits a request meets it. */
export async function startFaultProxy(target: string) {
	const faults: Fault[] = [];
	/** `GET /repos/o/r/commits` */
	const requests: string[] = [];
	const proxy = { faults, requests };

	/** A request without an answer fails at once, as it does at the end of its time. */
	const giveUp = ({ socket }: IncomingMessage) => void socket.destroy();

	const { origin, [Symbol.asyncDispose]: end } = await answering((request, response) => {
		serve(request, response).catch((error: unknown) => response.writeHead(599).end(String(error)));
	});

	function nextEffect(method: string, path: string, url: string): Effect | null {
		const index = faults.findIndex(
			(fault) => fault.method === method && (fault.path.test(path) || fault.path.test(url)),
		);
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
		const body = Buffer.concat(chunks);
		const effect = nextEffect(method, path, url);
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
		const rewritten = effect?.kind === "rewrite" ? effect.body(JSON.parse(answer.body.toString())) : null;
		response.writeHead(answer.status, answer.headers);
		response.end(rewritten === null ? answer.body : JSON.stringify(rewritten));
	}

	return Object.assign(proxy, { url: origin, [Symbol.asyncDispose]: end });
}

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
	// The next page of a list.
	const link = answer.headers.get("link");
	const proxy = `http://${request.headers.host}`;
	if (link) passed.Link = link.replaceAll(/<https?:\/\/[^/>]+/g, `<${proxy}`);
	return { status: answer.status, headers: passed, body: Buffer.from(await answer.arrayBuffer()) };
}
