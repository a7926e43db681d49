import { textAt } from "../registry/texts.ts";
import { base64url, hashes, hexOf, joined } from "../store/hashes.ts";
import { clockSkew, parseTimestamp } from "../store/store.ts";

const encoder = new TextEncoder();

/** The signed parts, in their order (specification, "Signature computation"). */
export interface Signed {
	/** The request target as it arrived, without a query: `/v1/register/23ax5t`. */
	path: string;
	sender: string;
	timestamp: string;
	/** The body's bytes as sent; may be empty. */
	body: Uint8Array;
}

/** The signed bytes: the parts joined without separators. */
export function messageOf({ path, sender, timestamp, body }: Signed): Uint8Array {
	return joined(path + sender + timestamp, body);
}

/** HMAC-SHA-256 of the joined parts as an `Authorization` header: 43 characters of URL-safe base64 without padding. */
export function sign(secret: string, signed: Signed): Promise<string> {
	return signMessage(secret, messageOf(signed));
}

async function signMessage(secret: string, message: Uint8Array): Promise<string> {
	return base64url(await hashes.hmacSha256(encoder.encode(secret), message));
}

/**
 * Whether `signature` is that of a message (`messageOf`). Never throws. Compares the encoded texts, since several texts
 * decode to the same bytes, in constant time.
 */
export async function verify(secret: string, message: Uint8Array, signature: string): Promise<boolean> {
	return sameText(await signMessage(secret, message), signature);
}

function sameText(expected: string, given: string): boolean {
	let difference = expected.length ^ given.length;
	for (let index = 0; index < expected.length; index += 1) {
		difference |= expected.charCodeAt(index) ^ given.charCodeAt(index);
	}
	return difference === 0;
}

/** 32 bytes in the URL-safe alphabet without padding. */
const signaturePattern = /^[A-Za-z0-9_-]{43}$/;

export function isSignature(text: string): boolean {
	return signaturePattern.test(text);
}

/**
 * A hint about a text without the shape of a signature; null where the shape is right. It reveals nothing of a secret.
 */
export function shapeHint(text: string): string | null {
	if (isSignature(text)) return null;
	return textAt("Authorization", "signature-shape", mistakeOf(text));
}

/** The most frequent mistakes of clients; the order matters. */
function mistakeOf(text: string): string {
	const scheme = /^([A-Za-z][A-Za-z0-9-]{0,15})[ =]/.exec(text)?.[1];
	if (scheme !== undefined) return `starts with ${scheme}: there is no word before the signature`;
	if (/^[0-9A-Fa-f]{64}$/.test(text)) return "is hexadecimal";
	if (/^[A-Za-z0-9_+/-]{43}=$/.test(text)) return "has 44 and ends with =";
	if (/^[A-Za-z0-9+/]{43}$/.test(text)) return "has + or /, which are - and _ there";
	return text.length === 43 ? "has other characters" : `has ${text.length}`;
}

/** SHA-256 of a text in hex; of a signature's text it is the trailer `Request` of a commit. */
export async function sha256Hex(text: string): Promise<string> {
	return hexOf(await hashes.sha256(encoder.encode(text)));
}

/** Whether a timestamp is strictly inside two minutes around `now`. */
export function isTimely(timestamp: string, now: Date): boolean {
	const time = parseTimestamp(timestamp);
	return time !== null && Math.abs(now.getTime() - time) < clockSkew;
}
