import type { Problem } from "../registry/judge-names.ts";
import { shownValue } from "../registry/problems.ts";
import { maxRegistrationBytes, type Registration } from "../registry/registration.ts";
import { type TextCode, textAt, textOf } from "../registry/texts.ts";
import { type Edits, parseTimestamp, type Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import { isSignedBy, type Sender } from "./senders.ts";
import { isSignature, isTimely, sha256Hex, shapeHint } from "./signature.ts";
import { methodOf, type WriteAction } from "./write-routes.ts";

/** A write request as a value. The text of a missing header is empty. */
export interface Write {
	action: WriteAction;
	/** The request target as it arrived, which is signed. */
	target: string;
	/** The client, for the limit of writes; null: not limited. */
	address: string | null;
	/** The headers `Sender`, `TimeStamp` and `Authorization`. */
	sender: string;
	timestamp: string;
	signature: string;
	/** At most `maxRegistrationBytes` bytes. */
	body: Uint8Array | "too large";
}

export interface Verified {
	sender: Sender;
	timestamp: string;
	/** SHA-256 of the signature's text, hex. */
	request: string;
	body: Uint8Array;
}

/** The change that a valid write asks for. */
export interface RequestedChange {
	smallkey: string;
	/** The commit's subject: `register 23ax5t (wms)`. */
	subject: string;
	edits: Edits;
	/** The registration after `edits` was called; null for a removal. */
	registration: () => Registration | null;
}

/** Checks the size, then the signature and the time (specification, "Verification by the service"). */
export async function verifyWrite(write: Write, context: Context): Promise<Verified | Refusal> {
	const { target, sender: senderId, timestamp, signature, body } = write;
	if (body === "too large") {
		return { status: 413, errors: [textOf("body-size", maxRegistrationBytes)] };
	}
	const now = context.now();
	const refusal = judgeHead(write, context, now);
	if (refusal) return refusal;
	const sender = context.settings.senders.get(senderId);
	const signed = { path: target, sender: senderId, timestamp, body };
	// The signature is computed for unknown senders, too, so that the time does not reveal which senders exist.
	const request = await sha256Hex(signature);
	const genuine = await isSignedBy(sender, signed, signature, now);
	if (!sender || !genuine) return unauthorized(write, context, sender ? "signature" : "unknown sender");
	return { sender, timestamp, request, body };
}

/** Checks what needs neither the body nor a hash, so that an invalid request costs little; null where it passes. */
export function judgeHead(write: Omit<Write, "body">, context: Context, now: Date): Refusal | null {
	const { sender, timestamp, signature } = write;
	if (!isSignature(signature) || sender === "" || timestamp === "") return unauthorized(write, context);
	if (isTimely(timestamp, now)) return null;
	const errors = [textAt("TimeStamp", "timestamp", now.toISOString())];
	return { status: 401, errors, reason: "time", hint: textOf("timestamp-hint", shownValue(timestamp)) };
}

/**
 * The refusal of a write with missing headers or a wrong signature. A wrong signature and an unknown sender get the same
 * text, so that it does not reveal which senders exist. A hint about the form of the signature reveals no secret.
 * @param reason for the operator's log
 */
function unauthorized(
	{ signature, sender, timestamp, address }: Omit<Write, "body">,
	{ limiter, settings }: Context,
	reason = "shape of the signature",
): Refusal {
	if (address !== null) limiter?.punish(address);
	const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp };
	const missing = Object.entries(headers).filter(([, text]) => text === "");
	const errors = missing.map(([name]) => textAt(name, "header"));
	if (errors.length > 0) return { status: 401, errors, reason: "missing header" };
	const mismatch = [textAt("Authorization", "signature"), shapeHint(signature)];
	return {
		status: 401,
		errors: mismatch.filter((error) => error !== null),
		reason,
		hint: textOf("hint", `${settings.basePath}/register/<smallkey>`),
	};
}

/** Code of a problem → status of the refusal, where it is not 400. */
const statusOf: Readonly<Partial<Record<TextCode, number>>> = {
	"case-twin": 409,
	"case-twin-here": 409,
	owner: 403,
};

/** The refusal for the judge's problems. @param problems at least one */
export function refusalOf(problems: readonly Problem[]): Refusal {
	const [first] = problems as [Problem, ...Problem[]];
	const textOf = ({ code, text }: Problem) => (code === "size" ? `the document ${text}` : text);
	return { status: statusOf[first.code] ?? 400, errors: problems.map(textOf) };
}

export function notRegistered(smallkey: string): Refusal {
	return { status: 404, errors: [textAt("smallkey", "not-registered", smallkey)] };
}

/** The metadata of a write's commit. Its trailer `Request` identifies a repeated request. */
export function metaOf(action: WriteAction, { sender, timestamp, request }: Verified) {
	return {
		author: sender.id,
		time: parseTimestamp(timestamp) ?? 0,
		trailers: [
			["Sender", sender.id],
			["TimeStamp", timestamp],
			["Request", request],
		] as const,
		request,
		method: methodOf(action),
		review: sender.review,
	};
}
