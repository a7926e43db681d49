import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "../app.ts";
import { isWriteMethod, type WriteAction } from "../write-routes.ts";
import type { Client } from "./address.ts";
import type { Answered, CountedLog } from "./log.ts";

/** One request and its answer. */
export interface Exchange {
	request: IncomingMessage;
	response: ServerResponse;
	method: string;
	target: string;
	/** When its head had come, by `performance.now()`. */
	start: number;
	/** Whom it is for: the kind of its route, or what a write asks for. */
	route: RouteName;
	/** Whether its sender waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1). */
	asksFirst: boolean;
	/** Why a write was refused. */
	reason: string | undefined;
}

/** What an exchange is counted under. */
export type RouteName = Exclude<Route["kind"], "write"> | WriteAction;

/** Ids of this process begin alike, and no two processes' do. */
const idPrefix = randomBytes(6).toString("base64url");
let ids = 0;

/** An id that no other exchange has, of this process or another. */
export function nextId(): string {
	ids += 1;
	return `${idPrefix}-${ids}`;
}

/** Logs an exchange once it has ended; most have as soon as their answer is written. */
export function logOnceEnded(
	exchange: Exchange,
	id: string,
	client: Client,
	log: CountedLog<Answered>,
): void {
	const { response } = exchange;
	// What waits behind another answer of its connection (it has no socket yet) would never hear that the client went away.
	const hasEnded = response.writableFinished || response.socket === null || hasGone(exchange);
	if (hasEnded) log.add(describeAnswer(exchange, id, client));
	else response.once("close", () => log.add(describeAnswer(exchange, id, client)));
}

/** Whether nobody is there any more to be answered. */
export function hasGone({ request, response }: Pick<Exchange, "request" | "response">): boolean {
	return response.closed || request.socket.destroyed;
}

/** The status, as nginx has it, where the client went away before there was an answer. */
export const clientGone = 499;
/** Longest text that is kept for the log, in characters. */
const maxTextLength = 1_000;

function describeAnswer(exchange: Exchange, id: string, { address }: Client): Answered {
	const { request, response, method, target, start, reason } = exchange;
	const { sender } = request.headers;
	const status = response.headersSent ? response.statusCode : clientGone;
	const answered: Answered = {
		id,
		method,
		path: pathOf(target),
		status,
		milliseconds: Math.round((performance.now() - start) * 10) / 10,
		sender: isWriteMethod(method) && typeof sender === "string" ? shortCopy(sender) : null,
	};
	if (status < 400) return answered;
	answered.address = address;
	if (reason !== undefined) answered.reason = reason;
	return answered;
}

function pathOf(target: string): string {
	const end = target.indexOf("?");
	return shortCopy(target, end < 0 ? target.length : end);
}

/** The start of a text of single bytes. Copied: a part of a string keeps the whole of it in memory. */
function shortCopy(text: string, length = text.length): string {
	if (length === text.length && length <= maxTextLength) return text;
	const copy = Buffer.from(text.slice(0, Math.min(length, maxTextLength)), "latin1").toString("latin1");
	return length <= maxTextLength ? copy : `${copy}…`;
}
