import { type Hashes, hexOf, webHashes } from "../store/hashes.ts";
import { clockSkew } from "../store/store.ts";

const encoder = new TextEncoder();

/** What is signed, in the order in which it is joined (specification, "Signature computation"). */
export interface Signed {
	/** The request target as it arrived, without a query: `/v1/register/23ax5t`. */
	path: string;
	/** The text of the `Sender` header. */
	sender: string;
	/** The text of the `TimeStamp` header. */
	timestamp: string;
	/** The body's bytes as sent; empty where there is none. */
	body: Uint8Array;
}

/** Bytes in the URL-safe alphabet of RFC 4648, section 5, without padding. */
function base64url(bytes: Uint8Array): string {
	return btoa(String.fromCharCode(...bytes))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/** The bytes that are signed: the parts one after the other. */
export function messageOf({ path, sender, timestamp, body }: Signed): Uint8Array {
	const head = encoder.encode(path + sender + timestamp);
	const message = new Uint8Array(head.length + body.length);
	message.set(head);
	message.set(body, head.length);
	return message;
}

/** HMAC-SHA-256 of the joined parts, as the `Authorization` header carries it: 43 characters, no padding. */
export function sign(secret: string, signed: Signed, hashes = webHashes): Promise<string> {
	return signMessage(secret, messageOf(signed), hashes);
}

async function signMessage(secret: string, message: Uint8Array, hashes: Hashes): Promise<string> {
	return base64url(await hashes.hmacSha256(encoder.encode(secret), message));
}

/**
 * Whether `signature` is that of a message (`messageOf`). Never throws, whatever the text. The encoded texts are
 * compared, since several texts decode to the same bytes, and in constant time.
 */
export async function verify(
	secret: string,
	message: Uint8Array,
	signature: string,
	hashes: Hashes = webHashes,
): Promise<boolean> {
	return sameText(await signMessage(secret, message, hashes), signature);
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

/** Whether a text can be a signature at all: nothing has to be hashed to tell. */
export function isSignature(text: string): boolean {
	return signaturePattern.test(text);
}

/** SHA-256 of a text in hex: the trailer `Request` of a commit is that of the signature's text. */
export async function sha256Hex(text: string, hashes = webHashes): Promise<string> {
	return hexOf(await hashes.sha256(encoder.encode(text)));
}

/** ISO 8601 date and time, up to nine digits of a second's fraction, in UTC: `Z`, `+00:00` or nothing at the end. */
const timestampPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:Z|\+00:00)?$/;

/** Milliseconds since 1970 of a `TimeStamp` header, with its fraction; null where it is not such a time. */
export function parseTimestamp(text: string): number | null {
	const match = timestampPattern.exec(text);
	if (!match?.[1]) return null;
	const seconds = Date.parse(`${match[1]}Z`);
	if (Number.isNaN(seconds) || !new Date(seconds).toISOString().startsWith(match[1])) return null;
	return seconds + Number(match[2] ?? 0) * 1000;
}

/** Whether a timestamp lies strictly inside two minutes around `now`. */
export function isTimely(timestamp: string, now: Date): boolean {
	const time = parseTimestamp(timestamp);
	return time !== null && Math.abs(now.getTime() - time) < clockSkew;
}
