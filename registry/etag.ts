/** The entity tag of a body: FNV-1a of 64 bits over its bytes (RFC 9923), as 16 hex digits in quotes. */
export function etagOf(bytes: Uint8Array): string {
	// The 64-bit prime is 2^40 + 0x1b3. The state is two halves of 32 bits. The lower one is multiplied in two parts of 16
	// bits, so that every step is 32-bit integer arithmetic.
	let high = 0xcbf29ce4;
	let low = 0x84222325;
	for (let index = 0; index < bytes.length; index += 1) {
		low ^= bytes[index] as number;
		const first = (low & 0xffff) * 0x1b3;
		const second = (low >>> 16) * 0x1b3 + (first >>> 16);
		high = (Math.imul(high, 0x1b3) + (low << 8) + (second >>> 16)) | 0;
		low = (second << 16) | (first & 0xffff);
	}
	// `join` makes one flat string. A tag is kept for each fragment in memory, and `+` would keep its parts as well.
	return ['"', hex(high), hex(low), '"'].join("");
}

function hex(bits: number): string {
	return (bits >>> 0).toString(16).padStart(8, "0");
}

const encoder = new TextEncoder();

/** The entity tag of a body of several parts, computed from the parts' tags, so that no request hashes a body. */
export function etagOfTags(tags: readonly string[]): string {
	return etagOf(encoder.encode(tags.join("\n")));
}

/** Longest `If-None-Match` that is split, in characters; a longer one matches nothing. */
const maxListLength = 8_192;

/**
 * Whether an `If-None-Match` header names a tag (RFC 9110, section 13.1.2). The comparison is weak, since a cache that
 * compresses the body makes the tag weak.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
	if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
	// Avoids splitting a long list without the tag.
	if (!ifNoneMatch.includes(etag)) return false;
	return (
		ifNoneMatch.length <= maxListLength &&
		ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag)
	);
}
