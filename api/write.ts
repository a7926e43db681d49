import { draftAddress } from "../registry/draft.ts";
import { smallkeyProblem } from "../registry/judge.ts";
import { canonicalText, maxRegistrationBytes, warningsOf } from "../registry/registration.ts";
import type { Receipt } from "../registry/schemas/answers.ts";
import { isReviewName, mayChange, parseTimestamp } from "../registry/sender.ts";
import { decodeSegment, type Lang, parseSmallkey } from "../registry/smallkey.ts";
import { readableAt } from "../registry/targets/table.ts";
import { problemAt, shownValue, textOf, textsOf } from "../registry/texts.ts";
import { type Commit, isRefusal, type Refusal } from "../store/store.ts";
import type { WriteAction } from "./app.ts";
import type { Context } from "./context.ts";
import { parseRefresh } from "./refresh.ts";
import { changeKinds, conditionalEdits, type RequestedChange } from "./register.ts";
import { emptyBody, jsonReply, type Reply, refuseWrite, textReply, uncachedHeaders } from "./reply.ts";
import { hasShape, isSignedBy, isTimely, type Sender, sha256Hex } from "./senders.ts";

export type Write = ReturnType<typeof writeHeaders> & {
	action: WriteAction;
	/** The signature does not cover it. */
	method: string;
	target: string;
	address: string | null;
	length: number | null;
};

/** @param header of one that was sent several times, the texts with `, ` between them */
export function writeHeaders(header: (name: string) => string | null | undefined) {
	return {
		sender: header("sender") ?? "",
		timestamp: header("timestamp") ?? "",
		signature: header("authorization") ?? "",
		encoding: header("content-encoding") ?? "",
		review: header("review") ?? "",
		ifMatch: header("if-match") ?? "",
		ifNoneMatch: header("if-none-match") ?? "",
	};
}

export type WriteBody = Uint8Array | "too large";

/**
 * Limit of the address → 429, size → 413, encoding → 415, signature and time → 401, limits of the sender →
 * 429, payload → 400, ownership → 403, store → the action's answer. The head is judged before the body is
 * read.
 * @throws {StoreBusy} if the store cannot be written now
 */
export async function answerWrite(
	write: Write,
	readBody: () => Promise<WriteBody | Reply>,
	context: Context,
): Promise<Reply> {
	const { action, address, length } = write;
	const { limiter } = context;
	const addressWait = address !== null && (await limiter?.address(address));
	if (addressWait) return refuseLimited("address", addressWait);
	// The size of a body in chunks is known only at its end (RFC 9112, section 6.3).
	const early = length !== null && length > maxRegistrationBytes ? tooLarge : judgeHead(write, context);
	if (early) return refuseWrite(early);
	const body = await readBody();
	if (body === "too large") return refuseWrite(tooLarge);
	if (!(body instanceof Uint8Array)) return body;
	const verified = await verifyWrite(write, body, context);
	if (isRefusal(verified)) return refuseWrite(verified);
	const { author, request } = verified.meta;
	const senderWait = await limiter?.sender(author, request);
	if (senderWait) return refuseLimited("sender", senderWait);
	return action === "refresh" ? startRefresh(verified, context) : makeChange(action, verified, context);
}

interface VerifiedWrite {
	write: Write;
	body: Uint8Array;
	sender: Sender;
	meta: ReturnType<typeof metaOf>;
}

async function startRefresh({ write, body, sender, meta }: VerifiedWrite, context: Context): Promise<Reply> {
	const { store, refresh } = context;
	const selection = parseRefresh(write.target, body, refresh !== undefined);
	if (isRefusal(selection)) return refuseForGood(selection, meta, context);
	const isWanted = (smallkey: string) => mayChange(sender, smallkey);
	const isFirst = await store.remember({ ...meta, outcome: 202 });
	return jsonReply(202, { layers: isFirst ? refresh?.({ ...selection, isWanted }) : 0 });
}

async function makeChange(
	action: keyof typeof changeKinds,
	{ write, body, sender, meta }: VerifiedWrite,
	context: Context,
): Promise<Reply> {
	if (write.review !== "" && !isReviewName(write.review)) {
		const errors = [problemAt("Review", "review-name", shownValue(write.review))];
		return refuseForGood({ status: 400, errors }, meta, context);
	}
	const { parse, status, bodyOf } = changeKinds[action];
	const change = parseChange(parse, write.target, body, sender);
	if (isRefusal(change)) return refuseForGood(change, meta, context);
	const { edits, etag } = conditionalEdits(change.smallkey, change.edits, write);
	const outcome = await context.store.change(edits, { ...meta, ...change });
	if (isRefusal(outcome)) return refuseWrite(outcome);
	const tag = etag();
	const headers: Record<string, string> = tag === null ? {} : { ETag: tag };
	const receipt = (code: number) => receiptReply(code, change, outcome, context, headers);
	if (sender.review) return receipt(action === "register" ? 201 : 202);
	if (action === "remove") return { status, headers: { ...uncachedHeaders }, body: emptyBody };
	return bodyOf ? jsonReply(status, bodyOf(change.smallkey), headers) : receipt(status);
}

async function receiptReply(
	code: number,
	{ smallkey, registration }: RequestedChange,
	outcome: Commit,
	context: Context,
	headers: Record<string, string>,
): Promise<Reply> {
	const stored = registration();
	const { settings, store, status } = context;
	const { basePath, publicUrl = "" } = settings;
	const text = stored && publicUrl && canonicalText(stored);
	const draft = text ? await draftAddress(publicUrl, { smallkey, text }) : null;
	const inCatalogue = publicUrl ? `${publicUrl}/?layer=${encodeURIComponent(smallkey)}` : undefined;
	const readable = stored ? readableAt(smallkey, stored, settings) : { paths: [], warnings: [] };
	const warnings = [...(stored ? warningsOf(stored) : []), ...readable.warnings, ...(outcome.warnings ?? [])];
	const receiptIn = (lang: Lang): Receipt => ({
		smallkey,
		key: smallkey,
		commit: outcome.commit,
		changed: outcome.changed,
		fragments: readable.paths.map((path) => `${basePath}/${path}`),
		published: store.published && outcome.branch === undefined && outcome.published !== false,
		branch: outcome.branch,
		pull_request: outcome.pullRequest,
		draft: draft ?? undefined,
		status: status ? `${basePath}/status/${smallkey}` : inCatalogue,
		warnings: textsOf(warnings, lang),
	});
	const reply = textReply(code, receiptIn, headers);
	return warnings.length > 0 ? reply : { ...reply, bodyIn: undefined };
}

/** A used signature must not take effect later, when other layers are stored, or with another method. */
async function refuseForGood(
	refusal: Refusal,
	meta: VerifiedWrite["meta"],
	{ store }: Context,
): Promise<Reply> {
	await store.remember({ ...meta, outcome: refusal.status });
	return refuseWrite(refusal);
}

function refuseLimited(which: "address" | "sender", waitSeconds: number): Reply {
	const errors = [problemAt("", "limit", waitSeconds)];
	return refuseWrite({ status: 429, errors, reason: `limit of the ${which}`, retryAfter: waitSeconds });
}

const tooLarge: Refusal = {
	status: 413,
	errors: [/* @__PURE__ */ problemAt("", "body-size", maxRegistrationBytes)],
};

/** Specification, "Verification by the service"; the time was checked before. */
async function verifyWrite(
	write: Write,
	body: Uint8Array,
	context: Context,
): Promise<VerifiedWrite | Refusal> {
	const { target, sender: id, timestamp, signature } = write;
	const sender = context.settings.senders.get(id);
	// The time must not reveal which senders exist.
	const request = await sha256Hex(signature);
	const signed = { path: target, sender: id, timestamp, body };
	const genuine = await isSignedBy(sender, signed, signature, context.now());
	if (!sender || !genuine) return unauthorized(write, context, sender ? "signature" : "unknown sender");
	return { write, body, sender, meta: metaOf(write, sender, request) };
}

function judgeHead(write: Write, context: Context): Refusal | null {
	const { sender, timestamp, signature, encoding } = write;
	if (!/^(?:identity)?$/i.test(encoding))
		return { status: 415, errors: [problemAt("Content-Encoding", "encoding", shownValue(encoding))] };
	const twice = Object.entries({ Sender: sender, TimeStamp: timestamp })
		.filter(([, text]) => text.includes(","))
		.map(([name, text]) => problemAt(name, "header-twice", shownValue(text)));
	if (twice.length > 0) return { status: 401, errors: twice, reason: "repeated header" };
	if (!hasShape(signature) || sender === "" || timestamp === "") return unauthorized(write, context);
	const now = context.now();
	if (isTimely(timestamp, now)) return null;
	const errors = [problemAt("TimeStamp", "timestamp", now.toISOString(), shownValue(timestamp))];
	return { status: 401, errors, reason: "time" };
}

/** An unknown sender gets the text of a wrong signature. @param reason for the operator's log */
function unauthorized(
	{ signature, sender, timestamp, address }: Write,
	{ limiter, settings }: Context,
	reason = "shape of the signature",
): Refusal {
	if (address !== null) limiter?.punish(address);
	const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp };
	const missing = Object.entries(headers).filter(([, text]) => text === "");
	const errors = missing.map(([name]) => problemAt(name, "header"));
	if (errors.length > 0) return { status: 401, errors, reason: "missing header" };
	const mismatch = [problemAt("Authorization", "signature")];
	// What follows the word may be a password.
	const [, word = ""] = /^([A-Za-z][A-Za-z0-9-]{0,15})[ =]/.exec(signature) ?? [];
	if (word !== "") mismatch.push(problemAt("Authorization", "signature-word", word));
	else if (!hasShape(signature)) mismatch.push(problemAt("Authorization", "signature-shape"));
	return {
		status: 401,
		errors: mismatch,
		reason,
		hint: textOf("hint", `${settings.basePath}/register/<smallkey>`),
	};
}

function metaOf({ method, timestamp, ...write }: Write, { id, review }: Sender, request: string) {
	const trailers = [
		["Sender", id],
		["TimeStamp", timestamp],
		["Request", request],
	] as const;
	const time = parseTimestamp(timestamp) ?? 0;
	const group = review && write.review !== "" && { reviewName: write.review };
	return { author: id, time, trailers, request, method, review, ...group };
}

function parseChange(
	parse: (typeof changeKinds)["register"]["parse"],
	target: string,
	body: Uint8Array,
	sender: Sender,
): RequestedChange | Refusal {
	const segment = target.slice(target.lastIndexOf("/") + 1);
	const text = decodeSegment(segment);
	const smallkey = parseSmallkey(text ?? "");
	if (smallkey === null) {
		return { status: 400, errors: [smallkeyProblem(text ?? segment)], reason: "smallkey" };
	}
	return parse(smallkey, body, sender);
}
