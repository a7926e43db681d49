import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isWriteMethod } from "../../write-routes.ts";
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
}

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

/** Longest path that is kept for the log, in characters. */
const maxPathLength = 1_000;

function describeAnswer(exchange: Exchange, id: string, address: string): Answered {
	const { request, response, method, target, start } = exchange;
	const { sender } = request.headers;
	// 499, as nginx has it: the client went away before there was an answer.
	const status = response.headersSent ? response.statusCode : 499;
	const answered = {
		id,
		method,
		path: shortCopy(target.split("?", 1)[0] ?? ""),
		status,
		milliseconds: Math.round((performance.now() - start) * 10) / 10,
		sender: isWriteMethod(method) && typeof sender === "string" ? shortCopy(sender) : null,
	};
	return status < 400 ? answered : { ...answered, address };
}

/** The start of a text of single bytes. Copied: a part of a string keeps the whole of it in memory. */
function shortCopy(text: string): string {
	if (text.length <= maxPathLength) return text;
	return `${Buffer.from(text.slice(0, maxPathLength), "latin1").toString("latin1")}…`;
}
