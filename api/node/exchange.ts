import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "../app.ts";
import { isWriteMethod, type WriteAction } from "../write-routes.ts";
import type { Client } from "./address.ts";
import type { Answered } from "./log.ts";

/** One request and its answer. */
export interface Exchange {
	request: IncomingMessage;
	response: ServerResponse;
	method: string;
	target: string;
	route: Route;
	/** When its head had come, by `performance.now()`. */
	start: number;
	/** Whether its sender waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1). */
	asksFirst: boolean;
	/** Null where it was not asked for yet. */
	client: Client | null;
	/** Why a write was refused. */
	reason?: string | undefined;
}

/** What an exchange is counted under: the kind of its route, or what a write asks for. */
export type RouteName = Exclude<Route["kind"], "write"> | WriteAction;

/** The ids of a process begin alike, and no two processes' do. */
const idPrefix = randomBytes(6).toString("base64url");
let ids = 0;

/** An id that no other exchange has, of this process or another. */
export function nextId(): string {
	ids += 1;
	return `${idPrefix}-${ids}`;
}

/** Whether a connection has ended before its answer. */
export function hasGone({ response }: Exchange): boolean {
	return response.socket === null || response.socket.destroyed;
}

/** The status, as nginx has it, where the client went away before there was an answer. */
export const clientGone = 499;
/** Longest text that is kept for the log, in characters. */
const maxTextLength = 1_000;

/** An exchange that has ended, for the log. */
export function describeAnswer(exchange: Exchange, id: string, { address }: Client): Answered {
	const { request, response, method, target, start, reason } = exchange;
	const { sender } = request.headers;
	const status = response.headersSent ? response.statusCode : clientGone;
	const answered: Answered = {
		id,
		method,
		path: cut(target.split("?", 1)[0] as string),
		status,
		milliseconds: Math.round((performance.now() - start) * 10) / 10,
		sender: isWriteMethod(method) && typeof sender === "string" ? cut(sender) : null,
	};
	if (status < 400) return answered;
	answered.address = address;
	if (reason !== undefined) answered.reason = reason;
	return answered;
}

function cut(text: string): string {
	return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
