import { type Code, judgeAsker, type Problem, sizeRule } from "../registry/judge.ts";
import { largestRegistration, type Registration } from "../registry/registration.ts";
import type { Edits, Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import { isSignedBy, type Sender } from "./senders.ts";
import { isSignature, isTimely, parseTimestamp, sha256Hex } from "./signature.ts";
import { shapeHint } from "./signature-shape.ts";
import { methodOf, type WriteAction } from "./write-routes.ts";

/** A request that wants to change something, as a value. Of a header that is missing the text is empty. */
export interface Write {
	action: WriteAction;
	/** The request target as it arrived: it is signed. */
	target: string;
	/** Whom the write is counted for; null where writes are not limited. */
	address: string | null;
	/** The headers `Sender`, `TimeStamp` and `Authorization`. */
	sender: string;
	timestamp: string;
	signature: string;
	/** At most `largestRegistration` bytes. */
	body: Uint8Array | "too large";
}

/** A write whose signature was verified. */
export interface Verified {
	sender: Sender;
	timestamp: string;
	/** SHA-256 of the signature's text, hex. */
	request: string;
	body: Uint8Array;
}

/** The change of one layer that a verified write asks for. */
export interface Asked {
	smallkey: string;
	/** What the commit says of it: `register 23ax5t (wms)`. */
	subject: string;
	edits: Edits;
	/** What is stored once `edits` has been decided; null where the layer goes. */
	registration: () => Registration | null;
}

/** Size, then signature and time (specification, "Verification by the service"). */
export async function verifyWrite(write: Write, context: Context): Promise<Verified | Refusal> {
	const { target, sender: senderId, timestamp, signature, body } = write;
	if (body === "too large") {
		return { status: 413, errors: [`the body ${sizeRule(largestRegistration)}`] };
	}
	const now = context.now();
	const refusal = judgeUnread(write, context, now);
	if (refusal) return refusal;
	const sender = context.settings.senders.get(senderId);
	const signed = { path: target, sender: senderId, timestamp, body };
	// All hashes for whatever comes so far: a genuine request takes as long as another.
	const request = await sha256Hex(signature, context.hashes);
	const genuine = await isSignedBy(sender, signed, signature, now, context.hashes);
	if (!sender || !genuine) return unauthorized(write, context, sender ? "signature" : "unknown sender");
	return { sender, timestamp, request, body };
}

/** What no hash is needed for, and no body: nobody can make the service read or hash by sending junk. */
export function judgeUnread(write: Omit<Write, "body">, context: Context, now: Date): Refusal | null {
	const { sender, timestamp, signature } = write;
	if (!isSignature(signature) || sender === "" || timestamp === "") return unauthorized(write, context);
	return isTimely(timestamp, now) ? null : untimely(now);
}

/**
 * One text for a wrong signature and an unknown sender: nobody learns here which senders there are. What is wrong with
 * the shape of a signature is nobody's secret.
 * @param reason for the operator's log
 */
function unauthorized(
	{ signature, sender, timestamp, address }: Omit<Write, "body">,
	{ limiter }: Context,
	reason = "shape of the signature",
): Refusal {
	if (address !== null) limiter?.punish(address);
	const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp };
	const missing = Object.entries(headers).filter(([, text]) => text === "");
	const errors = missing.map(([name]) => `${name}: the header is missing`);
	if (errors.length > 0) return { status: 401, errors, reason: "missing header" };
	const mismatch = "Authorization: is not the signature of this path, sender, timestamp and body";
	const hint = shapeHint(signature);
	return { status: 401, errors: hint === null ? [mismatch] : [mismatch, hint], reason };
}

function untimely(now: Date): Refusal {
	const rule = "must be an ISO 8601 time in UTC within two minutes of this server's";
	const errors = [`TimeStamp: ${rule}, which is ${now.toISOString()}`];
	return { status: 401, errors, reason: "time" };
}

/** The status of a refusal that is not 400, by the rule that was broken. */
const statusOf: Partial<Record<Code, number>> = { "case-twin": 409, owner: 403 };

/** The refusal of what the judge found. @param problems at least one */
export function refusalOf(problems: readonly Problem[]): Refusal {
	const [first] = problems as [Problem, ...Problem[]];
	const textOf = ({ code, text }: Problem) => (code === "size" ? `the document ${text}` : text);
	return { status: statusOf[first.code] ?? 400, errors: problems.map(textOf) };
}

/** The refusal of a key that is not the sender's; null where it may change it. */
export function refuseOthers(sender: Sender, smallkey: string): Refusal | null {
	const problem = judgeAsker(sender, smallkey);
	return problem && refusalOf([problem]);
}

/** The refusal of a key that should be stored. */
export function notRegistered(smallkey: string): Refusal {
	return { status: 404, errors: [`smallkey: ${smallkey} is not registered`] };
}

/** What a commit says of a write, and by what it is known if it comes again. */
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
