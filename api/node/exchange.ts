import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "../app.ts";
import { isWriteMethod, type WriteAction } from "../write-routes.ts";
import { type Client, clientOf, type TrustedProxies } from "./address.ts";
import type { Answered } from "./log.ts";

/** The name of a route in the metrics: its kind, or the action of a write. */
export type RouteName = Exclude<Route["kind"], "write"> | WriteAction;

/** The start of each id of this process; it differs from that of any other process. */
const idPrefix = randomBytes(6).toString("base64url");
let ids = 0;

/** An id for an exchange, unique among all processes. */
export function nextId(): string {
	ids += 1;
	return `${idPrefix}-${ids}`;
}

/** The status, as in nginx, where the client disconnected before there was an answer. */
export const clientGone = 499;
/** Longest text that is kept for the log, in characters. */
const maxTextLength = 1_000;

/** One request and its answer. */
export class Exchange {
	/** Why a write was refused. */
	reason: string | undefined;
	readonly #trusted: TrustedProxies;
	#client: Client | null = null;

	/**
	 * @param start when the request's head was received, by `performance.now()`
	 * @param asksFirst whether the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1)
	 */
	constructor(
		readonly request: IncomingMessage,
		readonly response: ServerResponse,
		readonly route: Route,
		readonly start: number,
		readonly asksFirst: boolean,
		trusted: TrustedProxies = [],
	) {
		this.#trusted = trusted;
	}

	/** The client. Read it for the first time before the connection ends. */
	get client(): Client {
		this.#client ??= clientOf(this.request, this.#trusted);
		return this.#client;
	}

	/** Whether the method is that of a write. */
	get isWrite(): boolean {
		return isWriteMethod(this.request.method ?? "");
	}

	/** Whether the connection ended before the answer. */
	get hasGone(): boolean {
		return this.response.socket === null || this.response.socket.destroyed;
	}

	/** The log line of the exchange, after its end. */
	describe(id: string): Answered {
		const { method = "", url = "", headers } = this.request;
		const status = this.response.headersSent ? this.response.statusCode : clientGone;
		const answered: Answered = {
			id,
			method,
			path: cut(url.split("?", 1)[0] as string),
			status,
			milliseconds: Math.round((performance.now() - this.start) * 10) / 10,
			sender: this.isWrite && typeof headers.sender === "string" ? cut(headers.sender) : null,
		};
		if (status < 400) return answered;
		answered.address = this.client.address;
		if (this.reason !== undefined) answered.reason = this.reason;
		return answered;
	}
}

function cut(text: string): string {
	return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
