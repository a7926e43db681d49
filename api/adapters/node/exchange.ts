import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Route } from "../../app.ts";
import { isWriteMethod, type WriteAction } from "../../write-routes.ts";
import { clientAddress, type TrustedProxies } from "./address.ts";
import type { Answered, AnswerLog } from "./log.ts";

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
	/** Why a write was refused. */
	reason: string | undefined;
}

/** What an exchange is counted under. */
export type RouteName = Exclude<Route["kind"], "write"> | WriteAction;

/** Ids of this process begin alike, and no two processes' do. */
const idPrefix = randomBytes(6).toString("base64url");
let ids = 0;

/** Logs an exchange once it has ended; its id, which no other one has. */
export function logOnceEnded(exchange: Exchange, log: AnswerLog, trusted: TrustedProxies): string {
	const { request, response } = exchange;
	const id = nextId();
	// Of a connection that has ended nobody knows it any more.
	const address = clientAddress(request, trusted);
	const end = () => log.add(describeAnswer(exchange, id, address));
	if (response.closed) end();
	else response.once("close", end);
	return id;
}

function nextId(): string {
	ids += 1;
	return `${idPrefix}-${ids}`;
}

/** The status, as nginx has it, where the client went away before there was an answer. */
export const clientGone = 499;
/** Longest path that is kept for the log, in characters. */
const maxPathLength = 1_000;

function describeAnswer(exchange: Exchange, id: string, address: string): Answered {
	const { request, response, method, target, start, reason } = exchange;
	const { sender } = request.headers;
	const status = response.headersSent ? response.statusCode : clientGone;
	const answered = {
		id,
		method,
		path: shortCopy(target.split("?", 1)[0] ?? ""),
		status,
		milliseconds: Math.round((performance.now() - start) * 10) / 10,
		sender: isWriteMethod(method) && typeof sender === "string" ? shortCopy(sender) : null,
	};
	if (status < 400) return answered;
	return reason === undefined ? { ...answered, address } : { ...answered, address, reason };
}

/** The start of a text of single bytes. Copied: a part of a string keeps the whole of it in memory. */
function shortCopy(text: string): string {
	if (text.length <= maxPathLength) return text;
	return `${Buffer.from(text.slice(0, maxPathLength), "latin1").toString("latin1")}…`;
}
