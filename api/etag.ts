/** FNV-1a of 64 bits (RFC 9923), in two halves of 32. */
export interface Hash {
	high: number;
	low: number;
}

/**
 * What tells a body from others: an entity tag, with its quotes, or the hash that one is made of. Of what is in memory it
 * is the hash: thousands of tags would take more room than what is asked for, and lists of fragments need none of them.
 */
export type Tag = string | Hash;

/** FNV-1a of 64 bits over `bytes` (RFC 9923). */
export function hashOf(bytes: Uint8Array): Hash {
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
	return { high: high | 0, low: low | 0 };
}

/** The hash of `bytes` as an entity tag: 16 hex digits in quotes. */
export function etagOf(bytes: Uint8Array): string {
	return textOf(hashOf(bytes));
}

/** A tag as it is sent. */
export function textOf(tag: Tag): string {
	return typeof tag === "string" ? tag : `"${hex(tag.high)}${hex(tag.low)}"`;
}

/** 32 bits as eight hex digits. */
function hex(bits: number): string {
	return (bits >>> 0).toString(16).padStart(8, "0");
}

/**
 * An entity tag of several parts, from their tags: no body is hashed anew for each request. FNV-1a and FNV-1 of 32 bits
 * (RFC 9923) side by side, over the halves of hashes and the texts' UTF-16 units.
 */
export function etagOfTags(tags: readonly Tag[]): string {
	let high = 0x811c9dc5;
	let low = 0xcbf29ce4;
	const add = (unit: number) => {
		high = Math.imul(high ^ unit, 0x01000193);
		low = Math.imul(low, 0x01000193) ^ unit;
	};
	for (const tag of tags) {
		if (typeof tag === "string") {
			for (let index = 0; index < tag.length; index += 1) add(tag.charCodeAt(index));
		} else {
			add(tag.high);
			add(tag.low);
		}
	}
	return textOf({ high, low });
}

/** Longest list of tags that is taken apart, in characters; with a longer one the answer is sent whole. */
const maxListLength = 8_192;

/**
 * Whether an `If-None-Match` header names a tag (RFC 9110, section 13.1.2). Weak comparison: a cache that compressed the
 * body has made the tag weak.
 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
	if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
	// A long list that does not hold the tag is not taken apart.
	if (!ifNoneMatch.includes(etag)) return false;
	return (
		ifNoneMatch.length <= maxListLength &&
		ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag)
	);
}
