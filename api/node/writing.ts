import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { largestRegistration } from "../../registry/registration.ts";
import { handleWrite, refuseTooMany, refuseUnsigned } from "../app.ts";
import type { Context } from "../context.ts";
import { type Reply, refuseWrite } from "../reply.ts";
import type { Write } from "../write.ts";
import type { Client } from "./address.ts";
import { Bodies } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";

/** 512 of the largest bodies. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** Seconds after which a write that found no room is worth trying again. */
const retryAfter = 1;

/** Reads and answers the writes of one server. */
export class Writing {
	readonly #context: Context;
	readonly #bodies: Bodies;
	readonly #timeoutMs: number;
	#lastVerified: Promise<void> = Promise.resolve();

	constructor({ context, maxHeldBytes = defaultHeldBytes }: NodeOptions, { bodyTimeoutMs }: NodeTimes) {
		this.#context = context;
		this.#timeoutMs = bodyTimeoutMs;
		this.#bodies = new Bodies({ maxBytes: largestRegistration, maxHeldBytes, timeoutMs: bodyTimeoutMs });
	}

	/** The answer to a write, or null where its sender has gone. */
	async replyTo(exchange: Exchange, action: Write["action"], client: Client): Promise<Reply | null> {
		const { request, response, target, asksFirst } = exchange;
		const head = { action, target, address: client.counted, ...signatureOf(request) };
		const tooMany = await refuseTooMany(head.address, this.#context);
		if (tooMany) return tooMany;
		const isTooLarge = this.#bodies.isTooLarge(request);
		// The size comes before the signature, and that of a body in chunks is known at its end (RFC 9112, section 6.3).
		const isAnnounced = request.headers["transfer-encoding"] === undefined;
		const unsigned = isAnnounced && !isTooLarge ? refuseUnsigned(head, this.#context) : null;
		if (unsigned) return unsigned;
		if (asksFirst && !isTooLarge) response.writeContinue();
		return this.#bodies.use(request, async (body) => {
			if (body === "gone") return null;
			if (body === "too slow") return this.#refuseSlow();
			if (body === "no room") return refuseForRoom();
			await this.#turnToVerify();
			return handleWrite({ ...head, body }, this.#context);
		});
	}

	/** One write in each turn of the event loop: to hash a body of 64 KiB takes as long as several reads. */
	#turnToVerify(): Promise<void> {
		this.#lastVerified = this.#lastVerified.then(() => nextTurn());
		return this.#lastVerified;
	}

	#refuseSlow(): Reply {
		const seconds = this.#timeoutMs / 1000;
		return refuseWrite(
			{ status: 408, errors: [`the body did not arrive within ${seconds} seconds`] },
			{ Connection: "close" },
		);
	}
}

function refuseForRoom(): Reply {
	const headers = { "Retry-After": String(retryAfter) };
	return refuseWrite(
		{ status: 503, errors: ["too many bodies are being read"], reason: "no room for the body" },
		headers,
	);
}

/** The headers that sign a write; a header that is not there is an empty text. */
function signatureOf({
	headers,
}: Pick<IncomingMessage, "headers">): Pick<Write, "sender" | "timestamp" | "signature"> {
	const text = (name: string) => (typeof headers[name] === "string" ? headers[name] : "");
	return { sender: text("sender"), timestamp: text("timestamp"), signature: text("authorization") };
}
