export async function hexDigest(algorithm: "SHA-1" | "SHA-256", bytes: Uint8Array): Promise<string> {
	const hash = new Uint8Array(await crypto.subtle.digest(algorithm, bytes as BufferSource));
	return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** RFC 4648, section 5, without padding. */
export function base64url(bytes: Uint8Array): string {
	return btoa(String.fromCharCode(...bytes))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/** A file's id in git: SHA-1 in hex of `blob <bytes>\0` and the text in UTF-8 (Pro Git, "Git Objects"). */
export async function blobId(text: string): Promise<string> {
	const bytes = new TextEncoder().encode(text);
	return hexDigest("SHA-1", joined(`blob ${bytes.length}\0`, bytes));
}

export function joined(head: string, bytes: Uint8Array): Uint8Array {
	const start = new TextEncoder().encode(head);
	const whole = new Uint8Array(start.length + bytes.length);
	whole.set(start);
	whole.set(bytes, start.length);
	return whole;
}

/** FNV-1a of 64 bits (RFC 9923), as 16 hex digits in quotes. */
export function etagOf(bytes: Uint8Array): string {
	// The 64-bit prime is 2^40 + 0x1b3. In two halves of 32 bits, the lower one multiplied in two parts,
	// every step is 32-bit integer arithmetic.
	let high = 0xcbf29ce4;
	let low = 0x84222325;
	for (let index = 0; index < bytes.length; index += 1) {
		low ^= bytes[index] as number;
		const first = (low & 0xffff) * 0x1b3;
		const second = (low >>> 16) * 0x1b3 + (first >>> 16);
		high = (Math.imul(high, 0x1b3) + (low << 8) + (second >>> 16)) | 0;
		low = (second << 16) | (first & 0xffff);
	}
	// `join` makes one flat string; `+` would keep its parts in memory, too.
	return ['"', hex(high), hex(low), '"'].join("");
}

function hex(bits: number): string {
	return (bits >>> 0).toString(16).padStart(8, "0");
}

const encoder = new TextEncoder();

/** The entity tag of a body of several parts, so that no request hashes a body. */
export function etagOfTags(tags: readonly string[]): string {
	return etagOf(encoder.encode(tags.join("\n")));
}

const maxListLength = 8_192;

/** RFC 9110, section 13.1.2. The comparison is weak: a cache that compresses the body makes the tag weak. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
	if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
	if (!ifNoneMatch.includes(etag)) return false;
	return (
		ifNoneMatch.length <= maxListLength &&
		ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag)
	);
}
