import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream";
import { setImmediate as nextIteration } from "node:timers/promises";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import type { Refusal } from "../../store/store.ts";
import type { WriteAction } from "../app.ts";
import type { Context } from "../context.ts";
import { emptyBody, type Reply, refuseWrite } from "../reply.ts";
import { type Client, type Holding, Room } from "../room.ts";
import { answerWrite, type WriteBody, writeHeaders } from "../write.ts";

/** The status of a request whose client disconnected before its answer, as in nginx. */
export const clientGone = 499;

/** The answer to a client that has disconnected, for the log and the metrics. */
export function answerGone(): Reply {
	return { status: clientGone, headers: {}, body: emptyBody };
}

/** Most bytes of bodies in memory: 512 of the largest ones. */
const defaultHeldBytes = 32 * 1024 * 1024;
/** Most bodies that are awaited or being written: each one also takes some 16 KiB for its connection. */
const maxBodies = 4_096;

const noRoom: Refusal = {
	status: 503,
	errors: [problemAt("", "no-room")],
	reason: "no room for the body",
	retryAfter: 1,
};

/**
 * Returns a function that answers the writes of one server.
 * @param maxHeldBytes most bytes of bodies in memory, including those of writes that are being made
 */
export function createWriter(context: Context, timeoutMs: number, maxHeldBytes = defaultHeldBytes) {
	const bodies = new Room(maxBodies);
	const bytes = new Room(maxHeldBytes);
	let lastTurn: Promise<void> = Promise.resolve();

	return async (response: ServerResponse, action: WriteAction, client: Client): Promise<Reply> => {
		const request = response.req;
		const { headers, headersDistinct, url: target = "", httpVersion } = request;
		const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
		const address = client[0]?.name ?? null;
		const [one, held] = [bodies.hold(client), bytes.hold(client)];
		const readHeld = async (): Promise<WriteBody | Reply> => {
			if (one.take(1)) return refuseWrite(noRoom);
			// The client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
			if (headers.expect !== undefined && httpVersion === "1.1") response.writeContinue();
			const body = await readBody(request, timeoutMs, held);
			// A head without its body costs as much as a wrong signature.
			const isMissing =
				body !== "too large" && !(body instanceof Uint8Array) && body.status !== noRoom.status;
			if (isMissing && address !== null) context.limiter?.punish(address);
			// One write is verified in each iteration of the event loop: hashing 64 KiB takes as long as several reads.
			lastTurn = lastTurn.then(() => nextIteration());
			await lastTurn;
			return body;
		};
		try {
			const signed = writeHeaders((name) => headersDistinct[name]?.join(", "));
			const write = { action, target, address, length, ...signed };
			return await answerWrite(write, readHeld, context);
		} finally {
			one.end();
			held.end();
		}
	};
}

/**
 * Reads a whole body, or returns the answer to a client whose body does not arrive. What is too much is discarded.
 * @param held takes the bytes that have arrived; those that are announced take no room
 */
function readBody(request: IncomingMessage, timeoutMs: number, held: Holding): Promise<WriteBody | Reply> {
	return new Promise((resolve) => {
		const settle = (body: WriteBody | Reply) => {
			clearTimeout(timer);
			resolve(body);
		};
		const errors = [problemAt("", "body-late", timeoutMs / 1000)];
		const late = () => discard(refuseWrite({ status: 408, errors }, { Connection: "close" }));
		const timer = setTimeout(late, timeoutMs);
		const chunks: Buffer[] = [];
		let length = 0;
		let isDiscarded = false;
		/** The rest is discarded, and may take long to arrive. */
		const discard = (body: WriteBody | Reply) => {
			isDiscarded = true;
			chunks.length = 0;
			settle(body);
		};
		request.on("data", (chunk: Buffer) => {
			if (isDiscarded) return;
			length += chunk.length;
			if (length > maxRegistrationBytes) discard("too large");
			else if (held.take(chunk.length)) discard(refuseWrite(noRoom));
			else chunks.push(chunk);
		});
		finished(request, (error) => settle(error ? answerGone() : Buffer.concat(chunks)));
	});
}
