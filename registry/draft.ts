export interface Draft {
	smallkey: string;
	text: string;
}

/** Unpacks to at most 77 MB. */
const maxReadLength = 100_000;

/** Mail programs and terminals cut longer addresses. */
const maxShownLength = 16_000;

/** Escaping in JSON may double a registration. */
const maxBytes = 140_000;

/**
 * JSON, raw deflate (RFC 1951), URL-safe base64 (RFC 4648, section 5), for `#draft=`, which browsers never
 * send.
 */
export async function packDraft({ smallkey, text }: Draft): Promise<string> {
	const draft = new Blob([JSON.stringify([smallkey, text])]);
	const stream = draft.stream().pipeThrough(new CompressionStream("deflate-raw"));
	const packed = new Uint8Array(await new Response(stream).arrayBuffer());
	const binary = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
	return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Null if the draft is too long, or `publicUrl` empty. */
export async function draftAddress(publicUrl: string, draft: Draft): Promise<string | null> {
	if (publicUrl === "" || draft.text.length > maxBytes / 2) return null;
	const packed = await packDraft(draft);
	if (packed.length > maxShownLength) return null;
	return `${publicUrl}/?page=draft#draft=${packed}`;
}

/** Null if the text is not one of `packDraft`, or too long. */
export async function unpackDraft(packedText: string): Promise<Draft | null> {
	if (packedText.length > maxReadLength || !/^[A-Za-z0-9_-]+$/.test(packedText)) return null;
	try {
		const binary = atob(packedText.replaceAll("-", "+").replaceAll("_", "/"));
		const packed = new Blob([Uint8Array.from(binary, (unit) => unit.charCodeAt(0))]);
		const stream = packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
		const bytes = await new Response(stream).arrayBuffer();
		if (bytes.byteLength > maxBytes) return null;
		const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
		if (!Array.isArray(value) || typeof value[0] !== "string" || typeof value[1] !== "string") return null;
		return { smallkey: value[0].slice(0, 64), text: value[1] };
	} catch {
		return null;
	}
}
