import { isSenderId } from "../registry/sender.ts";
import { type Problem, problemAt, shownValue } from "../registry/texts.ts";
import { parseTimestamp } from "../registry/timestamp.ts";
import { concat, hmacSha256 } from "../store/hashes.ts";
import type { Sender } from "./senders.ts";

const encoder = new TextEncoder();

interface Signed {
	path: string;
	sender: string;
	timestamp: string;
	body: Uint8Array;
}

export function messageOf({ path, sender, timestamp, body }: Signed): Uint8Array {
	return concat([encoder.encode(path + sender + timestamp), body]);
}

export function sign(secret: string, signed: Signed): Promise<string> {
	return signMessage(secret, messageOf(signed));
}

async function signMessage(secret: string, message: Uint8Array): Promise<string> {
	return base64url(await hmacSha256(encoder.encode(secret), message));
}

/** RFC 4648, section 5, without padding. */
function base64url(bytes: Uint8Array): string {
	return btoa(String.fromCharCode(...bytes))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/** Never throws. Compares encoded texts, since several decode alike, in constant time. */
export async function verify(secret: string, message: Uint8Array, signature: string): Promise<boolean> {
	const expected = await signMessage(secret, message);
	let difference = expected.length ^ signature.length;
	for (let index = 0; index < expected.length; index += 1)
		difference |= expected.charCodeAt(index) ^ signature.charCodeAt(index);
	return difference === 0;
}

const dummySecret = "no sender has this secret";

/** Always tries two secrets: the time must not reveal which senders exist, or are rotating a secret. */
export async function isSignedBy(
	sender: Sender | undefined,
	signed: Signed,
	signature: string,
	now: Date,
): Promise<boolean> {
	const message = messageOf(signed);
	const { secret: previous, until = null } = sender?.previous ?? {};
	const secrets = [sender?.secret, until === null || now < until ? previous : undefined];
	const verifyOne = (secret = dummySecret) => verify(secret, message, signature);
	const matches = await Promise.all(secrets.map(verifyOne));
	return matches.some((isMatch, index) => isMatch && secrets[index] !== undefined);
}

/** `base64url` of 32 bytes. */
export const signaturePattern = /^[A-Za-z0-9_-]{43}$/;

type SignatureHeaders = Record<"sender" | "timestamp" | "signature", string>;

/** Node and Workers join repeated headers with a comma; one value may have a comma, too, as of `date -R`. */
export function findRepeated({ sender, timestamp, signature }: SignatureHeaders): Problem[] {
	const judge = (name: string, text: string, isWhole: (part: string) => boolean) => {
		const parts = text.includes(",") ? text.split(",").map((part) => part.trim()) : [];
		const isRepeated = parts.filter((part) => part === "" || isWhole(part)).length > 1;
		return isRepeated ? [problemAt(name, "header-twice", shownValue(text))] : [];
	};
	return [
		...judge("Sender", sender, isSenderId),
		...judge("TimeStamp", timestamp, (part) => parseTimestamp(part) !== null),
		...judge("Authorization", signature, (part) => signaturePattern.test(part)),
	];
}
