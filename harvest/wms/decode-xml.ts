/**
 * Decodes an XML document: by its byte order mark, else by the content type's encoding, else by the declaration's, else as
 * UTF-8 (RFC 7303, section 3). Null if the encoding is unknown.
 */
export function decodeXml(bytes: Uint8Array, contentType: string): string | null {
	const start = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
	const declared = /^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1];
	const sent = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
	const label = markOf(bytes) ?? sent ?? declared ?? "utf-8";
	try {
		return new TextDecoder(label).decode(bytes);
	} catch {
		return null;
	}
}

/** Byte order mark in hexadecimal → encoding. */
const marks: ReadonlyMap<string, string> = new Map([
	["ef,bb,bf", "utf-8"],
	["ff,fe", "utf-16le"],
	["fe,ff", "utf-16be"],
]);

function markOf(bytes: Uint8Array): string | undefined {
	const start = Array.from(bytes.subarray(0, 3), (byte) => byte.toString(16));
	return marks.get(start.join()) ?? marks.get(start.slice(0, 2).join());
}
