/** FNV-1a of 64 bits over `bytes` (RFC 9923), as an entity tag: 16 hex digits in quotes. */
export function etagOf(bytes: Uint8Array): string {
	// The 64-bit prime is 2^40 + 0x1b3. The state is kept in two halves of 32 bits, and the lower one is multiplied in
	// two of 16, so that every step stays in whole numbers of 32 bits.
	let high = 0xcbf29ce4;
	let low = 0x84222325;
	for (let index = 0; index < bytes.length; index += 1) {
		low ^= bytes[index] as number;
		const first = (low & 0xffff) * 0x1b3;
		const second = (low >>> 16) * 0x1b3 + (first >>> 16);
		high = (Math.imul(high, 0x1b3) + (low << 8) + (second >>> 16)) | 0;
		low = (second << 16) | (first & 0xffff);
	}
	return `"${hex(high)}${hex(low)}"`;
}

/** 32 bits as eight hex digits. */
function hex(bits: number): string {
	return (bits >>> 0).toString(16).padStart(8, "0");
}

/**
 * An entity tag of several parts, from their tags: no body is hashed anew for each request. FNV-1a and FNV-1 of 32 bits
 * (RFC 9923) side by side, over the texts' UTF-16 units.
 */
export function etagOfTags(tags: string[]): string {
	let first = 0x811c9dc5;
	let second = 0xcbf29ce4;
	for (const tag of tags) {
		for (let index = 0; index < tag.length; index += 1) {
			const unit = tag.charCodeAt(index);
			first = Math.imul(first ^ unit, 0x01000193);
			second = Math.imul(second, 0x01000193) ^ unit;
		}
	}
	return `"${hex(first)}${hex(second)}"`;
}

/**
 * Whether an `If-None-Match` header names a tag (RFC 9110, section 13.1.2). Weak comparison: a cache that compressed the
 * body has made the tag weak.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
	if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
	// A long list that does not hold the tag is not taken apart.
	if (!ifNoneMatch.includes(etag)) return false;
	return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}
