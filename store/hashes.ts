/**
 * The hashes of a write: in the form of whichever engine is there. What is hashed is small (at most 64 KiB), and an
 * engine that can answer at once does: a thread's turn costs more than the hash.
 */
export interface Hashes {
	sha1(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
	sha256(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
	/** HMAC-SHA-256 (RFC 2104). */
	hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

const hmac = { name: "HMAC", hash: "SHA-256" };

async function digest(algorithm: string, bytes: Uint8Array): Promise<Uint8Array> {
	return new Uint8Array(await crypto.subtle.digest(algorithm, bytes as BufferSource));
}

/** Those of the Web Cryptography API, which every engine has. */
export const webHashes: Hashes = {
	sha1: (bytes) => digest("SHA-1", bytes),
	sha256: (bytes) => digest("SHA-256", bytes),
	hmacSha256: async (key, bytes) => {
		const imported = await crypto.subtle.importKey("raw", key as BufferSource, hmac, false, ["sign"]);
		return new Uint8Array(await crypto.subtle.sign("HMAC", imported, bytes as BufferSource));
	},
};

/** Each byte in hex. */
const bytesInHex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes in hex, lower case. */
export function hexOf(bytes: Uint8Array): string {
	const pairs = new Array<string>(bytes.length);
	for (let at = 0; at < bytes.length; at += 1) pairs[at] = bytesInHex[bytes[at] as number] as string;
	// Joined, it is one text; added up, V8 keeps one of 32 bytes for each addition.
	return pairs.join("");
}

/** Bytes in the URL-safe alphabet of RFC 4648, section 5, without padding. */
export function base64url(bytes: Uint8Array): string {
	return btoa(String.fromCharCode(...bytes))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}
