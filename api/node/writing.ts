import type { IncomingMessage } from "node:http";
import { setImmediate as nextIteration } from "node:timers/promises";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { handleWrite, refuseTooMany, refuseUnsigned } from "../app.ts";
import type { Context } from "../context.ts";
import { type Reply, refuseWrite } from "../reply.ts";
import type { Write } from "../write.ts";
import type { Exchange } from "./exchange.ts";
import type { NodeOptions, NodeTimes } from "./options.ts";

/** Room for 512 of the largest bodies. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** The bytes that a smaller body is counted as: about the memory of its connection. */
const minHeldBytes = 16_384;
/** `Retry-After` of a write for whose body there is no room, in seconds. */
const retryAfter = 1;

/** Reads and answers the writes of one server, whose bodies share a limit of memory. */
export class Writing {
	readonly #context: Context;
	readonly #maxHeldBytes: number;
	readonly #timeoutMs: number;
	/** Bytes of all bodies in memory, including those of writes that are being made. */
	#heldBytes = 0;
	#lastVerified: Promise<void> = Promise.resolve();

	constructor({ context, maxHeldBytes = defaultHeldBytes }: NodeOptions, { bodyTimeoutMs }: NodeTimes) {
		this.#context = context;
		this.#maxHeldBytes = maxHeldBytes;
		this.#timeoutMs = bodyTimeoutMs;
	}

	/** The answer to a write; null where the client has disconnected. A refused body is not read to its end. */
	async replyTo(exchange: Exchange, action: Write["action"]): Promise<Reply | null> {
		const { request, response, asksFirst, client } = exchange;
		const { headers, url: target = "" } = request;
		const head = { action, target, address: client.counted, ...signatureOf(request) };
		const tooMany = await refuseTooMany(head.address, this.#context);
		if (tooMany) return tooMany;
		const announced = headers["content-length"];
		if (Number(announced ?? 0) > maxRegistrationBytes) return this.#verify({ ...head, body: "too large" });
		// The size is checked before the signature, and the size of a chunked body is known only at its end (RFC 9112,
		// section 6.3).
		const isInChunks = headers["transfer-encoding"] !== undefined;
		const unsigned = isInChunks ? null : refuseUnsigned(head, this.#context);
		if (unsigned) return unsigned;
		if (asksFirst) response.writeContinue();
		const bytes = Math.max(minHeldBytes, Number(announced ?? maxRegistrationBytes));
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

	/** Verifies one write in each iteration of the event loop: hashing a body of 64 KiB takes as long as several reads. */
	async #verify(write: Write): Promise<Reply> {
		this.#lastVerified = this.#lastVerified.then(() => nextIteration());
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

/** The headers that sign a write; the text of a missing header is empty. */
function signatureOf({ headers }: IncomingMessage): Pick<Write, "sender" | "timestamp" | "signature"> {
	const text = (name: string) => (typeof headers[name] === "string" ? headers[name] : "");
	return { sender: text("sender"), timestamp: text("timestamp"), signature: text("authorization") };
}

/**
 * Reads a whole body, or returns why it cannot; `gone`: the client has disconnected. An iterator of the request is not used:
 * the end of its loop would close the connection, and the client would get no answer.
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
			if (length > maxRegistrationBytes) end("too large");
			else chunks.push(chunk);
		};
		const whole = () => end(Buffer.concat(chunks));
		const gone = () => end("gone");
		request.on("data", take).on("end", whole).on("error", gone).on("close", gone);
	});
}
