import { largestRegistration } from "../../registry/registration.ts";
import type { Pieces, Reply } from "../reply.ts";
import type { Write } from "../write.ts";

/** Most bytes of a refused body that are read and discarded. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/** Reads the body of a request. A body that is too large is discarded, so that the client can read the answer. */
export async function readBody(request: Request): Promise<Write["body"]> {
	if (!request.body) return new Uint8Array(0);
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
		length += chunk.length;
		if (length > maxDiscardedBytes) break;
		if (length <= largestRegistration) chunks.push(chunk);
	}
	if (length > largestRegistration) return "too large";
	return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

export function writeOf(
	request: Request,
	action: Write["action"],
	target: string,
	body: Write["body"],
): Write {
	const text = (name: string) => request.headers.get(name) ?? "";
	const signed = { sender: text("Sender"), timestamp: text("TimeStamp"), signature: text("Authorization") };
	return { action, target, address: request.headers.get("CF-Connecting-IP"), ...signed, body };
}

/** The request target as it arrived: the engine keeps the path as sent. */
export function targetOf(address: string): string {
	return address.slice(address.indexOf("/", address.indexOf("//") + 2));
}

/** Converts a reply to a Response; the engine omits the body for HEAD. */
export function toResponse({ status, headers, body }: Reply): Response {
	if (body.length === 0) return new Response(null, { status, headers });
	const sent = body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : streamOf(body);
	return new Response(sent, { status, headers });
}

/** Pieces as a stream; each is made when its reader asks for it. */
function streamOf(pieces: Pieces): ReadableStream<Uint8Array> {
	const iterator = pieces[Symbol.iterator]();
	return new ReadableStream({
		pull(controller) {
			const next = iterator.next();
			if (next.done) controller.close();
			else controller.enqueue(next.value);
		},
	});
}
