import { canonicalText } from "../registry/canonical.ts";
import { draftAddress } from "../registry/draft.ts";
import {
	harvestedLangs,
	kindOf,
	largestRegistration,
	parseRegistration,
	type Registration,
} from "../registry/registration.ts";
import {
	decodeSegment,
	descriptionPath,
	folderOf,
	layerPath,
	parseSmallkey,
	smallkeyRule,
} from "../registry/smallkey.ts";
import { readableAt, unreadWarnings } from "../registry/targets/readable.ts";
import { targetPath } from "../registry/targets/table.ts";
import { warningsOf } from "../registry/warnings.ts";
import { blobId } from "./blob-id.ts";
import type { Context } from "./context.ts";
import type { Hashes } from "./hashes.ts";
import { acceptWrite, type Reply, refuseLimited, refuseWrite, removed } from "./reply.ts";
import { isSignedBy, mayChange, type Sender } from "./senders.ts";
import { isSignature, isTimely, parseTimestamp, sha256Hex } from "./signature.ts";
import {
	type Commit,
	type Edit,
	type Edits,
	isRefusal,
	type Layer,
	type Reader,
	type Refusal,
} from "./store.ts";

/** A request that wants to change something, as a value. Of a header that is missing the text is empty. */
export interface Write {
	method: "PUT" | "DELETE";
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
interface Verified {
	sender: Sender;
	timestamp: string;
	/** SHA-256 of the signature's text, hex. */
	request: string;
	body: Uint8Array;
}

/** What a verified write asks for. */
interface Asked {
	smallkey: string;
	/** What the commit says of it: `register 23ax5t (wms)`. */
	subject: string;
	/** What will be stored; null where the layer goes. */
	registration: Registration | null;
	edits: Edits;
	/** What is accepted and probably not meant. */
	warnings: readonly string[];
}

/** PUT <base>/register/<smallkey> and <base>/v1/register/<smallkey> (specification, "Write: register a layer"). */
export function handlePut(write: Write, context: Context): Promise<Reply> {
	return handleWrite(write, context, askToRegister, async (asked, outcome) =>
		acceptWrite(201, await receipt(asked, outcome, context)),
	);
}

/** DELETE <base>/register/<smallkey> and <base>/v1/register/<smallkey>: signed, with an empty body. */
export function handleDelete(write: Write, context: Context): Promise<Reply> {
	return handleWrite(write, context, askToRemove, async (asked, outcome, { sender }) =>
		sender.review ? acceptWrite(202, await receipt(asked, outcome, context)) : removed(),
	);
}

async function handleWrite(
	write: Write,
	context: Context,
	ask: (verified: Verified, smallkey: string, context: Context) => Asked | Refusal,
	accept: (asked: Asked, outcome: Commit, verified: Verified) => Promise<Reply>,
): Promise<Reply> {
	const verified = await verifyWrite(write, context);
	if (isRefusal(verified)) return refuse(verified);
	const waitSeconds = (await context.limiter?.sender(verified.sender.id)) ?? 0;
	if (waitSeconds > 0) return refuseLimited("sender", waitSeconds);
	const smallkey = parseTargetKey(write.target);
	const asked = smallkey === null ? badSmallkey(write.target) : ask(verified, smallkey, context);
	const meta = metaOf(write.method, verified);
	if (isRefusal(asked)) {
		// It was refused for good: the same signature must not take effect once the world has changed, or as another method.
		await context.store.remember?.({ ...meta, status: asked.status });
		return refuse(asked);
	}
	const outcome = await context.store.change(asked.edits, { ...meta, ...asked });
	return isRefusal(outcome) ? refuse(outcome) : accept(asked, outcome, verified);
}

/** Payload, then ownership. */
function askToRegister({ sender, body }: Verified, smallkey: string, { hashes }: Context): Asked | Refusal {
	const { registration, problems } = parseRegistration(body, "written");
	if (!registration) return { status: 400, errors: problems };
	if (!mayChange(sender, smallkey)) return notYours(sender, smallkey);
	const subject = `register ${smallkey} (${kindOf(registration)})`;
	const warnings = warningsOf(registration);
	const edits: Edits = (now) => putEdits(now, smallkey, registration, { hashes });
	return { smallkey, subject, registration, edits, warnings };
}

function askToRemove({ sender, body }: Verified, smallkey: string): Asked | Refusal {
	// The method is not signed: with a body, a captured PUT could be sent again as a DELETE.
	if (body.length > 0) return { status: 400, errors: ["the body must be empty"] };
	if (!mayChange(sender, smallkey)) return notYours(sender, smallkey);
	const subject = `remove ${smallkey}`;
	const edits: Edits = (now) => deleteEdits(now, smallkey);
	return { smallkey, subject, registration: null, edits, warnings: [] };
}

function refuse({ status, errors }: Refusal): Reply {
	return refuseWrite(status, errors);
}

/** Size, then signature and time (specification, "Verification by the service"). */
async function verifyWrite(write: Write, context: Context): Promise<Verified | Refusal> {
	const { target, sender: senderId, timestamp, signature, body } = write;
	if (body === "too large") {
		return { status: 413, errors: [`the body must have at most ${largestRegistration} bytes`] };
	}
	// What needs no hash comes first: nobody can make the service hash by sending junk.
	if (!isSignature(signature) || senderId === "" || timestamp === "") return unauthorized(write, context);
	const now = context.now();
	if (!isTimely(timestamp, now)) return untimely(now);
	const sender = context.settings.senders.get(senderId);
	const signed = { path: target, sender: senderId, timestamp, body };
	// All hashes for whatever comes so far: a genuine request takes as long as another.
	const request = await sha256Hex(signature, context.hashes);
	const genuine = await isSignedBy(sender, signed, signature, now, context.hashes);
	if (!sender || !genuine) return unauthorized(write, context);
	return { sender, timestamp, request, body };
}

/** One text for a wrong signature and an unknown sender: nobody learns here which senders there are. */
function unauthorized({ signature, sender, timestamp, address }: Write, { limiter }: Context): Refusal {
	if (address !== null) limiter?.punish(address);
	const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp };
	const missing = Object.entries(headers).filter(([, text]) => text === "");
	const errors = missing.map(([name]) => `${name}: the header is missing`);
	const mismatch = "Authorization: is not the signature of this path, sender, timestamp and body";
	return { status: 401, errors: errors.length > 0 ? errors : [mismatch] };
}

function untimely(now: Date): Refusal {
	const rule = "must be an ISO 8601 time in UTC within two minutes of this server's";
	return { status: 401, errors: [`TimeStamp: ${rule}, which is ${now.toISOString()}`] };
}

/** The smallkey that a write's target ends with, or null. */
function parseTargetKey(target: string): string | null {
	return parseSmallkey(decodeSegment(lastSegment(target)) ?? "");
}

function lastSegment(target: string): string {
	return target.slice(target.lastIndexOf("/") + 1);
}

function badSmallkey(target: string): Refusal {
	const given = decodeSegment(lastSegment(target)) ?? lastSegment(target);
	return { status: 400, errors: [`smallkey: ${smallkeyRule}, not ${JSON.stringify(given.slice(0, 80))}`] };
}

function notYours(sender: Sender, smallkey: string): Refusal {
	const globs = sender.smallkeys?.join(" ") || "none";
	const rule = `sender ${sender.id} may change these keys only: ${globs}`;
	return { status: 403, errors: [`smallkey: ${rule}; not ${smallkey}`] };
}

function metaOf(method: string, { sender, timestamp, request }: Verified) {
	return {
		author: sender.id,
		time: parseTimestamp(timestamp) ?? 0,
		trailers: [
			["Sender", sender.id],
			["TimeStamp", timestamp],
			["Request", request],
		] as const,
		request,
		method,
		review: sender.review,
	};
}

/**
 * The edits that store a registration; none where the same is stored.
 * @param likeness what counts as the same: a `payload` in whatever spelling, or only its canonical `text`, for which
 * no file has to be read
 */
export async function putEdits(
	now: Reader,
	smallkey: string,
	registration: Registration,
	{ likeness = "payload", hashes }: { likeness?: "payload" | "text"; hashes?: Hashes | undefined } = {},
): Promise<Edit[] | Refusal> {
	const ids = await now.ids(smallkey);
	const twin = await caseTwin(now, smallkey);
	// Of two that a push brought the first is served: a change of the other could not be read.
	if (twin && (!ids || twin < smallkey)) {
		const rule = `differs only in case from ${twin}, which is registered`;
		return { status: 409, errors: [`smallkey: ${smallkey} ${rule}`] };
	}
	const text = canonicalText(registration);
	if (ids && ids.registration === (await blobId(text, hashes))) return [];
	const stored = ids && likeness === "payload" ? await now.read(smallkey) : null;
	if (stored && storedText(stored) === text) return [];
	const edits: Edit[] = [{ path: layerPath(smallkey), text }];
	if (ids?.description && harvestedLangs(registration).length === 0) {
		edits.push({ path: descriptionPath(smallkey), text: null });
	}
	return edits;
}

/** The stored registration in the canonical form; null where somebody pushed an invalid one. */
function storedText(layer: Layer): string | null {
	const { registration } = parseRegistration(new TextEncoder().encode(layer.registration), "stored");
	return registration && canonicalText(registration);
}

async function caseTwin(now: Reader, smallkey: string): Promise<string | null> {
	const lower = smallkey.toLowerCase();
	const keys = await now.keys(folderOf(smallkey));
	return keys.find((key) => key !== smallkey && key.toLowerCase() === lower) ?? null;
}

async function deleteEdits(now: Reader, smallkey: string): Promise<Edit[] | Refusal> {
	const ids = await now.ids(smallkey);
	if (!ids) return { status: 404, errors: [`smallkey: ${smallkey} is not registered`] };
	const edits: Edit[] = [{ path: layerPath(smallkey), text: null }];
	if (ids.description !== null) edits.push({ path: descriptionPath(smallkey), text: null });
	return edits;
}

/** What a publisher is told of a write that was accepted. */
async function receipt(asked: Asked, outcome: Commit, { settings, store }: Context): Promise<object> {
	const { smallkey, registration, warnings } = asked;
	const text = registration && canonicalText(registration);
	const draft = text && (await draftAddress(settings.publicUrl ?? "", { smallkey, text }));
	const readable = registration ? readableAt(smallkey, registration, settings) : { read: [], unread: [] };
	return {
		smallkey,
		key: smallkey,
		commit: outcome.commit,
		fragments: readable.read.map(
			({ target, lang }) => `${settings.basePath}/${targetPath(target, lang, smallkey)}`,
		),
		published: store.published && outcome.branch === undefined,
		branch: outcome.branch,
		pull_request: outcome.pullRequest,
		draft: draft ?? undefined,
		warnings: [...warnings, ...unreadWarnings(readable), ...(outcome.warnings ?? [])],
	};
}
