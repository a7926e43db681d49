import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import * as assert from "uvu/assert";
import { FetchFailure } from "../../../extensions/harvest/net/failure.ts";
import { answering } from "../../helpers/world.ts";

export type Route = (request: IncomingMessage, response: ServerResponse) => void;

export class Peer {
	readonly routes = new Map<string, Route>();
	/** Answers every path without a route. */
	otherwise: Route = status(404);
	readonly asked: string[] = [];

	private constructor(
		readonly origin: string,
		readonly port: number,
		readonly close: () => Promise<void>,
	) {}

	static async open(): Promise<Peer> {
		const server = await answering((request, response) => {
			const target = request.url ?? "";
			peer.asked.push(target);
			const route = peer.routes.get(target.split("?")[0] ?? "") ?? peer.otherwise;
			route(request, response);
		});
		const peer = new Peer(server.origin, server.port, async () => server[Symbol.asyncDispose]());
		return peer;
	}

	/** Answers a path, whatever its query. */
	on(path: string, route: Route) {
		this.routes.set(path, route);
	}

	[Symbol.asyncDispose]() {
		return this.close();
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
export function png(mark: number) {
	return Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, mark]).toString("base64");
}

export function pngUri(mark: number) {
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
