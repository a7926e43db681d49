import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream";
import { setImmediate as nextIteration } from "node:timers/promises";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import type { Refusal } from "../../store/store.ts";
import type { WriteAction } from "../app.ts";
import type { Context } from "../context.ts";
import { emptyBody, type Reply, refuseWrite } from "../reply.ts";
import { answerWrite, type WriteBody } from "../write.ts";

/** The status of a request whose client disconnected before its answer, as in nginx. */
export const clientGone = 499;

/** The answer to a client that has disconnected, for the log and the metrics. */
export function answerGone(): Reply {
	return { status: clientGone, headers: {}, body: emptyBody };
}

/** Room for 512 of the largest bodies. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** The bytes that a smaller body is counted as: about the memory of its connection. */
const minHeldBytes = 16_384;

const noRoom: Refusal = {
	status: 503,
	errors: ["too many bodies are being read"],
	reason: "no room for the body",
	retryAfter: 1,
};

/**
 * Returns a function that answers the writes of one server.
 * @param maxHeldBytes most bytes of bodies in memory, including those of writes that are being made
 */
export function createWriter(context: Context, timeoutMs: number, maxHeldBytes = defaultHeldBytes) {
	let heldBytes = 0;
	let lastTurn: Promise<void> = Promise.resolve();

	/** @param address the client, for the limit of writes */
	return async (response: ServerResponse, action: WriteAction, address: string | null): Promise<Reply> => {
		const request = response.req;
		const { headers, url: target = "", httpVersion } = request;
		const { sender = "", timestamp = "", authorization: signature = "" } = headers as Record<string, string>;
		const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
		let bytes = 0;
		const readHeld = async (): Promise<WriteBody | Reply> => {
			// The client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
			if (headers.expect !== undefined && httpVersion === "1.1") response.writeContinue();
			const wanted = Math.max(minHeldBytes, length ?? maxRegistrationBytes);
			if (heldBytes + wanted > maxHeldBytes) return refuseWrite(noRoom);
			bytes = wanted;
			heldBytes += bytes;
			const body = await readBody(request, timeoutMs);
			// One write is verified in each iteration of the event loop: hashing 64 KiB takes as long as several reads.
			lastTurn = lastTurn.then(() => nextIteration());
			await lastTurn;
			return body;
		};
		try {
			const write = { action, target, address, sender, timestamp, signature, length };
			return await answerWrite(write, readHeld, context);
		} finally {
			heldBytes -= bytes;
		}
	};
}

/** Reads a whole body, or returns the answer to a client whose body does not arrive. What is too much is discarded. */
function readBody(request: IncomingMessage, timeoutMs: number): Promise<WriteBody | Reply> {
	return new Promise((resolve) => {
		const settle = (body: WriteBody | Reply) => {
			clearTimeout(timer);
			resolve(body);
		};
		const errors = [`the body did not arrive within ${timeoutMs / 1000} seconds`];
		const refuse = () => settle(refuseWrite({ status: 408, errors }, { Connection: "close" }));
		const timer = setTimeout(refuse, timeoutMs);
		const chunks: Buffer[] = [];
		let length = 0;
		request.on("data", (chunk: Buffer) => {
			length += chunk.length;
			if (length <= maxRegistrationBytes) return void chunks.push(chunk);
			// The rest is discarded, and may take long to arrive.
			chunks.length = 0;
			settle("too large");
		});
		finished(request, (error) => settle(error ? answerGone() : Buffer.concat(chunks)));
	});
}
