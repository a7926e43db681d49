export interface Draft {
	smallkey: string;
	text: string;
}

const maxReadLength = 100_000;

/** In characters: mail programs and terminals cut longer addresses. */
const maxShownLength = 16_000;

/** Escaping in JSON may double the length of a registration. */
const maxBytes = 140_000;

/** Unpacks to half a megabyte at most. */
const pieceBytes = 500;

/**
 * JSON, raw deflate (RFC 1951), URL-safe base64 (RFC 4648, section 5), for `#draft=`, which browsers never
 * send to a server.
 */
export async function packDraft({ smallkey, text }: Draft): Promise<string> {
	const draft = new Blob([JSON.stringify([smallkey, text])]);
	const stream = draft.stream().pipeThrough(new CompressionStream("deflate-raw"));
	const packed = new Uint8Array(await new Response(stream).arrayBuffer());
	const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
	return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Null where `publicUrl`, without a slash at its end, is empty, or the draft too long. */
export async function draftAddress(publicUrl: string, draft: Draft): Promise<string | null> {
	if (publicUrl === "" || draft.text.length > maxBytes / 2) return null;
	const packed = await packDraft(draft);
	if (packed.length > maxShownLength) return null;
	return `${publicUrl}/?page=draft#draft=${packed}`;
}

export async function unpackDraft(link: string): Promise<Draft | null> {
	if (link.length > maxReadLength || !/^[A-Za-z0-9_-]+$/.test(link)) return null;
	try {
		const binary = atob(link.replaceAll("-", "+").replaceAll("_", "/"));
		const bytes = Uint8Array.from(binary, (unit) => unit.charCodeAt(0));
		const stream = inPieces(bytes).pipeThrough(new DecompressionStream("deflate-raw"));
		const value: unknown = JSON.parse(await readBounded(stream));
		if (!Array.isArray(value) || typeof value[0] !== "string" || typeof value[1] !== "string") return null;
		return { smallkey: value[0].slice(0, 64), text: value[1] };
	} catch {
		return null;
	}
}

/** Chromium unpacks a whole piece before it passes on any of it. */
function inPieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
	let at = 0;
	return new ReadableStream({
		pull(controller) {
			if (at >= bytes.length) return controller.close();
			controller.enqueue(bytes.subarray(at, at + pieceBytes));
			at += pieceBytes;
		},
	});
}

/**
 * A short link can unpack to 77 MB.
 * @throws {Error} if the stream has more than `maxBytes`, or is not UTF-8
 */
async function readBounded(stream: ReadableStream<Uint8Array>): Promise<string> {
	const reader = stream.getReader();
	const decoder = new TextDecoder("utf-8", { fatal: true });
	let text = "";
	let length = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return text + decoder.decode();
		length += value.length;
		if (length > maxBytes) {
			await reader.cancel();
			throw new Error(`unpacks to over ${maxBytes} bytes`);
		}
		text += decoder.decode(value, { stream: true });
	}
}
