import type { IncomingMessage } from "node:http";
import { largestRegistration } from "../../registry/registration.ts";
import { handleWrite, refuseTooMany, refuseUnsigned } from "../app.ts";
import type { Context } from "../context.ts";
import { type Reply, refuseWrite } from "../reply.ts";
import type { Write } from "../write.ts";
import type { Client } from "./address.ts";
import { Body, type BodyLimits, BodyRoom } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";
import { PacedQueue } from "./paced-queue.ts";

/** 512 of the largest bodies. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** Seconds after which a write that found no room is worth trying again. */
const retryAfter = 1;
/** Writes whose body is hashed in one turn of the event loop: two hashes of 64 KiB take as long as several reads. */
const verifiedPerTurn = 2;

/** Reads and answers the writes of one server. */
export class Writing {
	readonly #context: Context;
	readonly #limits: BodyLimits;
	readonly #verifying = new PacedQueue(verifiedPerTurn);

	constructor({ context, maxHeldBytes = defaultHeldBytes }: NodeOptions, { bodyTimeoutMs }: NodeTimes) {
		this.#context = context;
		const room = new BodyRoom(maxHeldBytes);
		this.#limits = { maxBytes: largestRegistration, timeoutMs: bodyTimeoutMs, room };
	}

	/** The answer to a write, or null where its sender has gone. */
	async replyTo(exchange: Exchange, action: Write["action"], client: Client): Promise<Reply | null> {
		const { request, response, target, asksFirst } = exchange;
		const head = { action, target, address: client.counted, ...signatureOf(request) };
		const body = new Body(request, this.#limits);
		const refused = await this.#refuseUnread(head, body);
		if (refused) return refused;
		if (asksFirst && !body.isTooLarge) response.writeContinue();
		try {
			const read = await body.read();
			if (read === "gone") return null;
			if (read === "too slow") return this.#refuseSlow();
			if (read === "no room") {
				const reason = "too many bodies are being read";
				return refuseWrite(503, [reason], { "Retry-After": String(retryAfter) }, "no room for the body");
			}
			await this.#verifying.turn();
			return await handleWrite({ ...head, body: read }, this.#context);
		} finally {
			body.release();
		}
	}

	/** The refusal of a write that nothing has to be read or hashed for; its size comes before its signature. */
	async #refuseUnread(head: Omit<Write, "body">, body: Body): Promise<Reply | null> {
		const tooMany = await refuseTooMany(head.address, this.#context);
		if (tooMany || body.isTooLarge || !body.isAnnounced) return tooMany;
		return refuseUnsigned(head, this.#context);
	}

	#refuseSlow(): Reply {
		const seconds = this.#limits.timeoutMs / 1000;
		return refuseWrite(408, [`the body did not arrive within ${seconds} seconds`], { Connection: "close" });
	}
}

/** The headers that sign a write; a header that is not there is an empty text. */
function signatureOf({ headers }: IncomingMessage): Pick<Write, "sender" | "timestamp" | "signature"> {
	const text = (name: string) => (typeof headers[name] === "string" ? headers[name] : "");
	return { sender: text("sender"), timestamp: text("timestamp"), signature: text("authorization") };
}
