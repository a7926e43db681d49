import { textAt } from "../registry/texts.ts";
import { base64url, hashes, hexOf, joined } from "../store/hashes.ts";
import { maxClockSkewMs, parseTimestamp } from "../store/store.ts";

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
 * Whether `signature` is the signature of a message (`messageOf`). Never throws. The comparison takes constant time. It is
 * of the encoded texts, since several texts decode to the same bytes.
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

/** 32 bytes in URL-safe base64 without padding. */
const signaturePattern = /^[A-Za-z0-9_-]{43}$/;

export function isSignature(text: string): boolean {
	return signaturePattern.test(text);
}

/**
 * Says what is wrong with the form of a signature; null where its form is right. The hint reveals nothing of a secret.
 */
export function shapeHint(text: string): string | null {
	if (isSignature(text)) return null;
	return textAt("Authorization", "signature-shape", mistakeOf(text));
}

/** Recognizes the most frequent mistakes of clients. The order of the checks matters. */
function mistakeOf(text: string): string {
	const scheme = /^([A-Za-z][A-Za-z0-9-]{0,15})[ =]/.exec(text)?.[1];
	if (scheme !== undefined) return `starts with ${scheme}: there is no word before the signature`;
	if (/^[0-9A-Fa-f]{64}$/.test(text)) return "is hexadecimal";
	if (/^[A-Za-z0-9_+/-]{43}=$/.test(text)) return "has 44 and ends with =";
	if (/^[A-Za-z0-9+/]{43}$/.test(text)) return "has + or /, which are - and _ there";
	return text.length === 43 ? "has other characters" : `has ${text.length}`;
}

/** SHA-256 of a text in hex. The hash of a signature is the trailer `Request` of its commit. */
export async function sha256Hex(text: string): Promise<string> {
	return hexOf(await hashes.sha256(encoder.encode(text)));
}

/** Whether a timestamp is less than two minutes before or after `now`. */
export function isTimely(timestamp: string, now: Date): boolean {
	const time = parseTimestamp(timestamp);
	return time !== null && Math.abs(now.getTime() - time) < maxClockSkewMs;
}
