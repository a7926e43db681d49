import type { IncomingMessage } from "node:http";
import { largestRegistration } from "../../../registry/registration.ts";
import { handleWrite, refuseTooMany } from "../../app.ts";
import type { Context } from "../../context.ts";
import { type Reply, refuseWrite } from "../../reply.ts";
import type { Write } from "../../write.ts";
import { clientAddress, countedAs, type TrustedProxies } from "./address.ts";
import { Body, type BodyLimits, BodyRoom } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";

/** 512 of the largest bodies. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** Seconds after which a write that found no room is worth trying again. */
const retryAfter = 1;

/** Reads and answers the writes of one server. */
export class Writing {
	readonly #context: Context;
	readonly #limits: BodyLimits;

	constructor({ context, maxHeldBytes = defaultHeldBytes }: NodeOptions, { bodyTimeoutMs }: NodeTimes) {
		this.#context = context;
		const room = new BodyRoom(maxHeldBytes);
		this.#limits = { maxBytes: largestRegistration, timeoutMs: bodyTimeoutMs, room };
	}

	/** The answer to a write, or null where its sender has gone. */
	async replyTo(
		{ request, target }: Exchange,
		action: Write["action"],
		trusted: TrustedProxies,
	): Promise<Reply | null> {
		const counted = countedAs(clientAddress(request, trusted));
		const tooMany = await refuseTooMany(counted, this.#context);
		if (tooMany) return tooMany;
		const reading = new Body(request, this.#limits);
		try {
			const body = await reading.read();
			if (body === "gone") return null;
			if (body === "too slow") return this.#refuseSlow();
			if (body === "no room") {
				const reason = "too many bodies are being read";
				return refuseWrite(503, [reason], { "Retry-After": String(retryAfter) }, "no room for the body");
			}
			const write = { action, target, address: counted, ...signatureOf(request), body };
			return await handleWrite(write, this.#context);
		} finally {
			reading.release();
		}
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
