const encoder = new TextEncoder();

const hmac = { name: "HMAC", hash: "SHA-256" };

async function digest(algorithm: string, bytes: Uint8Array): Promise<Uint8Array> {
	return new Uint8Array(await crypto.subtle.digest(algorithm, bytes as BufferSource));
}

export async function hmacSha256(key: Uint8Array, bytes: Uint8Array): Promise<Uint8Array> {
	const imported = await crypto.subtle.importKey("raw", key as BufferSource, hmac, false, ["sign"]);
	return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes as BufferSource));
}

export async function sha256Hex(text: string): Promise<string> {
	return hexOf(await digest("SHA-256", encoder.encode(text)));
}

function hexOf(bytes: Uint8Array): string {
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** SHA-1 in hex of `blob <bytes>\0` and the text in UTF-8 (Pro Git, "Git Objects"). */
export async function blobId(text: string): Promise<string> {
	const bytes = encoder.encode(text);
	return hexOf(await digest("SHA-1", concat([encoder.encode(`blob ${bytes.length}\0`), bytes])));
}

export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
	const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
	let offset = 0;
	for (const piece of pieces) {
		whole.set(piece, offset);
		offset += piece.length;
	}
	return whole;
}

/** FNV-1a of 64 bits (RFC 9923), as 16 hex digits in quotes. */
export function etagOf(bytes: Uint8Array): string {
	// The prime is 2^40 + 0x1b3. Two halves of 32 bits, the lower one multiplied in two parts, need only 32-bit
	// integer arithmetic.
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
