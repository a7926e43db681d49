import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { largestRegistration } from "../../registry/registration.ts";
import { handleWrite, isWriteTarget } from "../app.ts";
import type { Context } from "../context.ts";
import { answerRead, type Fragments, parseRead, type Reply, refuseRead, type Wanted } from "../read.ts";
import { RecentReplies } from "../recent.ts";

/** One answer, for the log. It holds no secret and no signature. */
export interface Answered {
	method: string;
	/** Path without the query. */
	path: string;
	status: number;
	/** From the request's head to the end of the answer. */
	milliseconds: number;
	/** The `Sender` header of a write, or null. */
	sender: string | null;
}

/** What the server needs beside the handlers' context. */
export interface NodeOptions {
	context: Context;
	fragments: Fragments;
	/** Another number after each change of any fragment; null where that is not known. */
	version: (() => number) | null;
	/** Told of each write and of each answer from 400 up; of every answer with `allReads`. */
	log: (answered: Answered) => void;
	allReads: boolean;
	/** Told of each other read. */
	count: () => void;
	/** Whether reads and writes can be served. */
	ready: () => boolean;
}

/** Time-outs in milliseconds: a request's head, and its body. */
const headTimeout = 10_000;
const bodyTimeout = 20_000;
/** Larger than any target that is answered, so that a long one gets 414 and not 431. */
const largestHead = 64 * 1024;
/** A server, and its end. */
export interface NodeServer {
	server: Server;
	/** Finishes the requests under way; what still hangs at their time-outs' bound is cut off. */
	end(): Promise<void>;
}

/** A server of reads and writes on Node; it does not listen yet. */
export function createNodeServer(options: NodeOptions): NodeServer {
	const settings = {
		headersTimeout: headTimeout,
		requestTimeout: headTimeout + bodyTimeout,
		connectionsCheckingInterval: 1_000,
		maxHeaderSize: largestHead,
	};
	const recent = options.version && new RecentReplies(options.version);
	/** Connections that have sent no request yet. */
	const silent = new Set<Socket>();
	const server = createServer(settings, (request, response) => {
		silent.delete(request.socket);
		answer(request, response, options, recent);
	});
	server.on("connection", (socket) => {
		silent.add(socket);
		socket.once("close", () => silent.delete(socket));
	});
	// A body that its sender asks about first is refused before it is sent.
	server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
		if (Number(request.headers["content-length"] ?? 0) <= largestRegistration) response.writeContinue();
		answer(request, response, options, recent);
	});
	return { server, end: () => endServer(server, silent) };
}

function endServer(server: Server, silent: ReadonlySet<Socket>): Promise<void> {
	return new Promise((resolve) => {
		// Node's own time-outs no longer count once it closes.
		const bound = setTimeout(() => server.closeAllConnections(), headTimeout + bodyTimeout);
		server.close(() => {
			clearTimeout(bound);
			resolve();
		});
		for (const socket of silent) socket.destroy();
	});
}

function answer(
	request: IncomingMessage,
	response: ServerResponse,
	options: NodeOptions,
	recent: RecentReplies | null,
): void {
	const start = performance.now();
	const method = request.method ?? "GET";
	const target = request.url ?? "/";
	const ifNoneMatch = request.headers["if-none-match"] ?? null;
	const isPlain = method === "GET" && ifNoneMatch === null;
	const kept = isPlain ? recent?.find(target) : null;
	if (kept) return send(request, response, kept, start, options);
	// Reads first: they are nearly all of the requests, and no target is both a read's and a write's.
	const { settings } = options.context;
	const wanted = parseRead(method, target, settings);
	const isOther = wanted.kind === "status" && wanted.status === 404;
	// A target that no URL parser would leave alone is refused as a write, with its reason.
	const isWrite = method === "PUT" || method === "DELETE" || isWriteTarget(target, settings.basePath);
	if (isOther && isWrite) {
		response.on("close", () => log(request, response, start, options, true));
		void answerWrite(request, response, options.context);
		return;
	}
	const reply = answerOther(method, target, wanted, ifNoneMatch, options);
	if (isPlain && wanted.kind === "docs" && reply.status === 200) recent?.keep(target, reply);
	send(request, response, reply, start, options);
}

/** A read or `healthz`; where the fragments cannot be read, a 500 with an empty body. */
function answerOther(
	method: string,
	target: string,
	wanted: Wanted,
	ifNoneMatch: string | null,
	options: NodeOptions,
): Reply {
	const { context } = options;
	if (target === `${context.settings.basePath}/healthz`) return answerHealth(method, options.ready());
	try {
		return answerRead(wanted, ifNoneMatch, options.fragments, Buffer.allocUnsafe);
	} catch (error) {
		context.report(error);
		return refuseRead(500);
	}
}

/** Sends the answer to a read, and logs or counts it. */
function send(
	request: IncomingMessage,
	response: ServerResponse,
	reply: Reply,
	start: number,
	options: NodeOptions,
): void {
	if (reply.status >= 400 || options.allReads) {
		response.on("close", () => log(request, response, start, options, false));
	} else options.count();
	writeReply(response, request.method ?? "GET", reply);
	if (request.method !== "GET" && request.method !== "HEAD") discard(request);
}

/** GET <base>/healthz */
function answerHealth(method: string, ready: boolean): Reply {
	const status = method === "GET" || method === "HEAD" ? (ready ? 200 : 503) : 405;
	const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
	return { status, headers, body: Buffer.from(status === 200 ? "ok\n" : "") };
}

function writeReply(response: ServerResponse, method: string, reply: Reply): void {
	const { status, headers, body } = reply;
	// Nobody else reads a reply's headers: they are added to, not copied.
	if (status !== 304) headers["Content-Length"] = String(body.length);
	response.writeHead(status, headers);
	response.end(method === "HEAD" || body.length === 0 ? undefined : body);
}

async function answerWrite(
	request: IncomingMessage,
	response: ServerResponse,
	context: Context,
): Promise<void> {
	const target = request.url ?? "/";
	try {
		const body = await readBody(request, largestRegistration + 1);
		if (body === null) return refuseSlow(request, response);
		const answered = await handleWrite(toRequest(request, body), target, context);
		const bytes = Buffer.from(await answered.arrayBuffer());
		const length = answered.status === 204 ? {} : { "Content-Length": bytes.length };
		response.writeHead(answered.status, { ...Object.fromEntries(answered.headers), ...length });
		response.end(request.method === "HEAD" ? undefined : bytes);
		discard(request);
	} catch (error) {
		// The sender went away in the middle of its body: there is nobody to answer.
		if (request.destroyed && !request.complete) return void response.destroy();
		context.report(error);
		if (!response.headersSent) response.writeHead(500, { "Content-Length": 0 });
		response.end();
	}
}

/** Methods that the Fetch standard forbids in a Request; no route has them. */
const forbiddenMethods: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

function toRequest(request: IncomingMessage, body: Uint8Array): Request {
	const given = request.method ?? "GET";
	const method = forbiddenMethods.has(given) ? "POST" : given;
	const headers = new Headers();
	for (const name of ["authorization", "timestamp", "sender", "content-length"]) {
		const value = request.headers[name];
		if (typeof value === "string") headers.set(name, value);
	}
	const hasBody = body.length > 0 && method !== "GET" && method !== "HEAD";
	// The handlers read the path from the target as it arrived, never from this address.
	return new Request("http://host/", {
		method,
		headers,
		body: hasBody ? (body as Uint8Array<ArrayBuffer>) : null,
	});
}

/** The body's bytes, at most `most` of them; null where they do not come in time. */
function readBody(request: IncomingMessage, most: number): Promise<Uint8Array | null> {
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let length = 0;
		const timer = setTimeout(() => end(null), bodyTimeout);
		const end = (body: Uint8Array | null) => {
			clearTimeout(timer);
			request.off("data", take);
			request.pause();
			resolve(body);
		};
		const take = (chunk: Buffer) => {
			chunks.push(chunk);
			length += chunk.length;
			if (length >= most) end(Buffer.concat(chunks).subarray(0, most));
		};
		const announced = Number(request.headers["content-length"] ?? 0);
		if (announced >= most) return end(new Uint8Array(0));
		request.on("data", take);
		request.once("end", () => end(Buffer.concat(chunks)));
		request.once("error", (error) => {
			clearTimeout(timer);
			reject(error);
		});
	});
}

function refuseSlow(request: IncomingMessage, response: ServerResponse): void {
	const text = JSON.stringify({ errors: [`the body did not arrive within ${bodyTimeout / 1000} seconds`] });
	response.writeHead(408, { "Content-Type": "application/json", Connection: "close" });
	response.end(text, () => request.destroy());
}

/** Reads and drops what is left of a body, until the request's own time is up: its sender can still read the answer. */
function discard(request: IncomingMessage): void {
	request.on("error", () => undefined);
	request.resume();
}

function log(
	request: IncomingMessage,
	response: ServerResponse,
	start: number,
	options: NodeOptions,
	isWrite: boolean,
): void {
	const sender = request.headers.sender;
	options.log({
		method: request.method ?? "",
		path: (request.url ?? "").split("?", 1)[0] ?? "",
		// 499, as nginx has it: the client went away before there was an answer.
		status: response.headersSent ? response.statusCode : 499,
		milliseconds: Math.round((performance.now() - start) * 10) / 10,
		sender: isWrite && typeof sender === "string" ? sender : null,
	});
}
