import { draftAddress } from "../registry/draft.ts";
import { canonicalText, type Registration, warningsOf } from "../registry/registration.ts";
import type { Receipt } from "../registry/schemas/answers.ts";
import type { Lang } from "../registry/smallkey.ts";
import { readPathsOf } from "../registry/targets/table.ts";
import { problemAt, shownValue, textsOf } from "../registry/texts.ts";
import { maxClockSkewMs, parseTimestamp } from "../registry/timestamp.ts";
import { isRefusal } from "../store/decide.ts";
import { sha256Hex } from "../store/hashes.ts";
import type { Commit, Meta, Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import { addConditions, type RequestedChange, type WriteRoute } from "./register.ts";
import { emptyBody, jsonReply, type Reply, refuse, textReply, uncachedHeaders } from "./reply.ts";
import type { Sender } from "./senders.ts";
import { findRepeated, isSignedBy, signaturePattern } from "./signature.ts";

export type Write = ReturnType<typeof writeHeaders> & {
	route: WriteRoute;
	/** Not signed. */
	method: string;
	target: string;
	address: string | null;
	/** A Reply refuses it. */
	body: Uint8Array | Reply;
};

/** @param header joins repeated ones with `, ` */
export function writeHeaders(header: (name: string) => string | null | undefined) {
	const text = (name: string) => header(name) ?? "";
	return {
		sender: text("sender"),
		timestamp: text("timestamp"),
		signature: text("authorization"),
		encoding: text("content-encoding"),
		review: text("review"),
		ifMatch: text("if-match"),
		ifNoneMatch: text("if-none-match"),
	};
}

/**
 * Limit of the address → 429, size → 413, encoding → 415, signature and time → 401, payload → 400, ownership →
 * 403, store → the answer.
 * @throws {StoreBusy}
 */
export async function answerWrite(write: Write, context: Context): Promise<Reply> {
	const { route, address, body, target, timestamp, signature, review } = write;
	const { limitWrites, settings, store } = context;
	const retryAfter = address === null ? 0 : await limitWrites?.(address);
	if (retryAfter) return refuse({ status: 429, errors: [problemAt("", "limit", retryAfter)], retryAfter });
	if (!(body instanceof Uint8Array)) return body;
	const refusal = judgeHead(write, context);
	if (refusal) return refuse(refusal);
	const sender = settings.senders.get(write.sender);
	// The time must not reveal which senders exist.
	const request = await sha256Hex(signature);
	const signed = { path: target, sender: write.sender, timestamp, body };
	const genuine = await isSignedBy(sender, signed, signature, context.now());
	if (!sender || !genuine) {
		const cause = sender ? "the signature does not match" : "there is no such sender";
		return { ...refuse(unauthorized(write, settings)), cause };
	}
	const meta = metaOf(write, sender, request);
	const plan = route.plan({ target, body, review }, sender);
	if (isRefusal(plan)) {
		// The signature must not take effect later, on another state or with another method.
		await store.remember({ ...meta, outcome: plan.status });
		return refuse(plan);
	}
	if ("decide" in plan) return makeChange(write, plan, meta, context);
	const isFirst = await store.remember({ ...meta, outcome: 202 });
	return jsonReply(202, plan.run(isFirst));
}

function metaOf({ timestamp, method, review: reviewName }: Write, { id, review }: Sender, request: string) {
	return {
		author: id,
		time: parseTimestamp(timestamp) ?? 0,
		request,
		method,
		review,
		...(review && reviewName !== "" && { reviewName }),
	};
}

async function makeChange(
	write: Write,
	change: RequestedChange,
	meta: Omit<Meta, "smallkey" | "subject">,
	context: Context,
): Promise<Reply> {
	const { smallkey, subject, kind } = change;
	const { status, bodyOf } = kind;
	const { review } = meta;
	const { decide, etag } = addConditions(smallkey, change.decide, write);
	const commit = await context.store.change(decide, { ...meta, smallkey, subject });
	if (isRefusal(commit)) return refuse(commit);
	const tag = etag();
	const headers: Record<string, string> = tag === null ? {} : { ETag: tag };
	if (!review && status === 204) return { status, headers: { ...uncachedHeaders }, body: emptyBody };
	if (!review && bodyOf) return jsonReply(status, bodyOf(smallkey), headers);
	const receiptStatus = review && status !== 201 ? 202 : status;
	const { receipt, warnings } = await receiptOf(smallkey, change.registration(), commit, context);
	if (warnings.length === 0) return jsonReply(receiptStatus, receipt, headers);
	const receiptIn = (lang: Lang) => ({ ...receipt, warnings: textsOf(warnings, lang) });
	return textReply(receiptStatus, receiptIn, headers);
}

async function receiptOf(
	smallkey: string,
	registration: Registration | null,
	commit: Commit,
	{ settings, status }: Context,
) {
	const { basePath, publicUrl = "" } = settings;
	const text = registration && publicUrl && canonicalText(registration);
	const draft = text ? draftAddress(publicUrl, { smallkey, text }) : null;
	const inCatalogue = publicUrl ? `${publicUrl}/?layer=${encodeURIComponent(smallkey)}` : undefined;
	const paths = registration ? readPathsOf(smallkey, registration, settings) : [];
	const receipt: Receipt = {
		smallkey,
		key: smallkey,
		commit: commit.commit,
		changed: commit.changed,
		fragments: paths.map((path) => `${basePath}/${path}`),
		published: commit.published ?? false,
		branch: commit.branch,
		pull_request: commit.pullRequest,
		draft: draft ?? undefined,
		status: status ? `${basePath}/status/${smallkey}` : inCatalogue,
		warnings: [],
	};
	const ownWarnings = registration ? warningsOf(registration) : [];
	const unread = registration && paths.length === 0 ? [problemAt("", "no-form")] : [];
	const behind = commit.published === false ? [problemAt("", "files-behind")] : [];
	return { receipt, warnings: [...ownWarnings, ...unread, ...behind] };
}

/** RCS specification, "Verification by the service". */
function judgeHead(write: Write, context: Context): Refusal | null {
	const { sender, timestamp, signature, encoding } = write;
	if (!/^(?:identity)?$/i.test(encoding))
		return { status: 415, errors: [problemAt("Content-Encoding", "encoding", shownValue(encoding))] };
	const repeated = findRepeated(write);
	if (repeated.length > 0) return { status: 401, errors: repeated };
	if (!signaturePattern.test(signature) || sender === "" || timestamp === "")
		return unauthorized(write, context.settings);
	const now = context.now();
	const time = parseTimestamp(timestamp);
	if (time !== null && Math.abs(now.getTime() - time) < maxClockSkewMs) return null;
	const errors = [problemAt("TimeStamp", "timestamp", now.toISOString(), shownValue(timestamp))];
	return { status: 401, errors };
}

/** An unknown sender gets the same text. */
function unauthorized({ signature, sender, timestamp }: Write, { basePath }: Context["settings"]): Refusal {
	const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp };
	const missing = Object.entries(headers).filter(([, text]) => text === "");
	const errors = missing.map(([name]) => problemAt(name, "header"));
	if (errors.length > 0) return { status: 401, errors };
	const mismatch = [problemAt("Authorization", "signature")];
	// What follows the word may be a password.
	const [, word = ""] = /^([A-Za-z][A-Za-z0-9-]{0,15})[ =]/.exec(signature) ?? [];
	if (word !== "") mismatch.push(problemAt("Authorization", "signature-word", word));
	else if (!signaturePattern.test(signature)) mismatch.push(problemAt("Authorization", "signature-shape"));
	mismatch.push(problemAt("", "hint", `${basePath}/register/<smallkey>`));
	return { status: 401, errors: mismatch };
}
