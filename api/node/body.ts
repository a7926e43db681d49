import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import type { Refusal } from "../../store/store.ts";
import type { WriteAction } from "../app.ts";
import type { Context } from "../context.ts";
import { type Client, Room } from "../limits.ts";
import { emptyBody, type Reply, refuseWrite } from "../reply.ts";
import { answerWrite, tooLarge, writeHeaders } from "../write.ts";

/** As nginx calls it, in the log only: the client has closed the connection. */
export const clientGone = 499;

const defaultHeldBytes = 32 * 1024 * 1024;
const maxBodies = 4_096;

const noRoom: Refusal = {
	status: 503,
	errors: [problemAt("", "busy")],
	reason: "no room for the body",
	retryAfter: 1,
};

export function createWriter(context: Context, timeoutMs: number, maxHeldBytes = defaultHeldBytes) {
	const bodies = new Room(maxBodies);
	const bytes = new Room(maxHeldBytes);

	return async (request: IncomingMessage, action: WriteAction, client: Client): Promise<Reply> => {
		const { headers, headersDistinct, method = "", url: target = "" } = request;
		const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
		const address = client[0] ?? null;
		const place = bodies.hold(client);
		const room = bytes.hold(client);
		const readHeld = async () => {
			if (place.take(1)) return refuseWrite(noRoom);
			const body = await readBody(request, timeoutMs, room.take);
			// A head without its body costs as much as a wrong signature.
			const isMissing = "status" in body && [408, clientGone].includes(body.status);
			if (isMissing && address !== null) context.limiter?.punish(address);
			return body;
		};
		try {
			const signed = writeHeaders((name) => headersDistinct[name]?.join(", "));
			const write = { action, method, target, address, length, ...signed };
			return await answerWrite(write, readHeld, context);
		} finally {
			place.end();
			room.end();
		}
	};
}

/**
 * Takes room for the bytes that have arrived, not for those announced.
 * @returns a Reply refuses the body
 */
function readBody(
	request: IncomingMessage,
	timeoutMs: number,
	take: ReturnType<Room["hold"]>["take"],
): Promise<Uint8Array | Reply> {
	return new Promise((resolve) => {
		let chunks: Buffer[] | null = [];
		let length = 0;
		const settle = (body: Uint8Array | Reply) => {
			clearTimeout(timer);
			chunks = null;
			resolve(body);
		};
		const errors = [problemAt("", "body-late", timeoutMs / 1000)];
		const late = () => settle(refuseWrite({ status: 408, errors }, { Connection: "close" }));
		const timer = setTimeout(late, timeoutMs);
		request.on("data", (chunk: Buffer) => {
			if (!chunks) return;
			length += chunk.length;
			if (length > maxRegistrationBytes) settle(refuseWrite(tooLarge));
			else if (take(chunk.length)) settle(refuseWrite(noRoom));
			else chunks.push(chunk);
		});
		const gone = { status: clientGone, headers: {}, body: emptyBody };
		finished(request, (error) => settle(error ? gone : Buffer.concat(chunks ?? [])));
	});
}
