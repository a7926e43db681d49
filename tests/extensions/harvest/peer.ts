import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import * as assert from "uvu/assert";
import { FetchFailure } from "../../../api/service/net/failure.ts";

export type Route = (request: IncomingMessage, response: ServerResponse) => void;

export class Peer {
	readonly routes = new Map<string, Route>();
	/** Answers every path without a route. */
	otherwise: Route = (_request, response) => void response.writeHead(404).end();
	readonly asked: string[] = [];
	readonly #sockets = new Set<Socket>();

	private constructor(readonly server: Server) {}

	static async open(): Promise<Peer> {
		const server = createServer();
		// An idle connection may be closed just when a busy machine gets to use it again.
		server.keepAliveTimeout = 0;
		const peer = new Peer(server);
		server.on("request", (request, response) => peer.#answer(request, response));
		server.on("connection", (socket) => {
			peer.#sockets.add(socket);
			socket.on("close", () => peer.#sockets.delete(socket));
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		return peer;
	}

	get port(): number {
		return (this.server.address() as AddressInfo).port;
	}

	get origin(): string {
		return `http://127.0.0.1:${this.port}`;
	}

	/** Answers a path, whatever its query. */
	on(path: string, route: Route): void {
		this.routes.set(path, route);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	async close(): Promise<void> {
		for (const socket of this.#sockets) socket.destroy();
		await new Promise((resolve) => this.server.close(resolve));
	}

	#answer(request: IncomingMessage, response: ServerResponse): void {
		const target = request.url ?? "";
		this.asked.push(target);
		const route = this.routes.get(target.split("?")[0] ?? "") ?? this.otherwise;
		route(request, response);
	}
}

export function json(value: unknown): Route {
	return text(JSON.stringify(value), "application/json");
}

export function text(body: string | Uint8Array, type = "text/plain", status = 200): Route {
	return (_request, response) => {
		response.writeHead(status, { "Content-Type": type }).end(body);
	};
}

export function status(code: number, headers: Record<string, string> = {}): Route {
	return (_request, response) => {
		response.writeHead(code, headers).end();
	};
}

export const hang: Route = () => {};

export const streamForever: Route = (_request, response) => {
	response.writeHead(200, { "Content-Type": "application/json" });
	const more = () => {
		while (!response.destroyed && response.write(" ".repeat(65_536)));
	};
	response.on("drain", more);
	more();
};

/** A png of one pixel; `mark` makes different ones. */
export function png(mark: number): string {
	return Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, mark]).toString("base64");
}

export function pngUri(mark: number): string {
	return `data:image/png;base64,${png(mark)}`;
}

export async function failureOf(request: Promise<Response>): Promise<FetchFailure> {
	const error = await request.then((response) => response.arrayBuffer()).catch((reason) => reason);
	assert.instance(error, FetchFailure, `${error}: the request was answered`);
	return error;
}

export async function openProxy() {
	const tunnels: string[] = [];
	const sockets = new Set<Duplex>();
	const proxy = createServer();
	proxy.on("connect", (request, socket) => {
		tunnels.push(request.url ?? "");
		const target = connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
			socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
			target.pipe(socket).pipe(target);
		});
		for (const end of [socket, target]) {
			sockets.add(end);
			end.on("error", () => {
				socket.destroy();
				target.destroy();
			});
		}
	});
	await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
	const close = async () => {
		for (const socket of sockets) socket.destroy();
		await new Promise((resolve) => proxy.close(resolve));
	};
	return { address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, tunnels, close };
}
