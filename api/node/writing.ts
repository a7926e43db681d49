import type { IncomingMessage } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { largestRegistration } from "../../registry/registration.ts";
import { handleWrite, refuseTooMany, refuseUnsigned } from "../app.ts";
import type { Context } from "../context.ts";
import { type Reply, refuseWrite } from "../reply.ts";
import type { Write } from "../write.ts";
import type { Exchange } from "./exchange.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";

/** 512 of the largest bodies. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** What a body takes of the room at least, in bytes: about the cost of its connection. */
const minCharge = 16_384;
/** Seconds after which a write that found no room is worth trying again. */
const retryAfter = 1;

/** Reads and answers the writes of one server, whose bodies share a room. */
export class Writing {
	readonly #context: Context;
	readonly #maxHeldBytes: number;
	readonly #timeoutMs: number;
	/** Bytes of all bodies that are held, those of writes under way included. */
	#heldBytes = 0;
	#lastVerified: Promise<void> = Promise.resolve();

	constructor({ context, maxHeldBytes = defaultHeldBytes }: NodeOptions, { bodyTimeoutMs }: NodeTimes) {
		this.#context = context;
		this.#maxHeldBytes = maxHeldBytes;
		this.#timeoutMs = bodyTimeoutMs;
	}

	/** The answer to a write, or null where its sender has gone. A body that is refused is not read to its end. */
	async replyTo(exchange: Exchange, action: Write["action"]): Promise<Reply | null> {
		const { request, response, asksFirst, client } = exchange;
		const { headers, url: target = "" } = request;
		const head = { action, target, address: client.counted, ...signatureOf(request) };
		const tooMany = await refuseTooMany(head.address, this.#context);
		if (tooMany) return tooMany;
		const announced = headers["content-length"];
		if (Number(announced ?? 0) > largestRegistration) return this.#verify({ ...head, body: "too large" });
		// The size comes before the signature, and that of a body in chunks is known at its end (RFC 9112, section 6.3).
		const isInChunks = headers["transfer-encoding"] !== undefined;
		const unsigned = isInChunks ? null : refuseUnsigned(head, this.#context);
		if (unsigned) return unsigned;
		if (asksFirst) response.writeContinue();
		const bytes = Math.max(minCharge, Number(announced ?? largestRegistration));
		if (this.#heldBytes + bytes > this.#maxHeldBytes) return refuseForRoom();
		this.#heldBytes += bytes;
		try {
			const body = await readBody(request, this.#timeoutMs);
			if (body === "gone") return null;
			if (body === "too slow") return this.#refuseSlow();
			return await this.#verify({ ...head, body });
		} finally {
			this.#heldBytes -= bytes;
		}
	}

	/** Verifies one write in each turn of the event loop: to hash a body of 64 KiB takes as long as several reads. */
	async #verify(write: Write): Promise<Reply> {
		this.#lastVerified = this.#lastVerified.then(() => nextTurn());
		await this.#lastVerified;
		return handleWrite(write, this.#context);
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
function signatureOf({ headers }: IncomingMessage): Pick<Write, "sender" | "timestamp" | "signature"> {
	const text = (name: string) => (typeof headers[name] === "string" ? headers[name] : "");
	return { sender: text("sender"), timestamp: text("timestamp"), signature: text("authorization") };
}

/**
 * Reads a body whole, or says why not; `gone`: its sender went away. Not by an iterator of the request, which would end
 * the connection with the loop: the sender still gets an answer.
 */
function readBody(
	request: IncomingMessage,
	timeoutMs: number,
): Promise<Uint8Array | "too large" | "too slow" | "gone"> {
	const chunks: Buffer[] = [];
	let length = 0;
	return new Promise((resolve) => {
		const end = (body: Uint8Array | "too large" | "too slow" | "gone") => {
			clearTimeout(timer);
			request.off("data", take).off("end", whole).off("error", gone).off("close", gone).pause();
			resolve(body);
		};
		const timer = setTimeout(end, timeoutMs, "too slow");
		const take = (chunk: Buffer) => {
			length += chunk.length;
			if (length > largestRegistration) end("too large");
			else chunks.push(chunk);
		};
		const whole = () => end(Buffer.concat(chunks));
		const gone = () => end("gone");
		request.on("data", take).on("end", whole).on("error", gone).on("close", gone);
	});
}
