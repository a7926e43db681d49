import { canonicalText } from "../registry/canonical.ts";
import { draftAddress } from "../registry/draft.ts";
import { judgeSender, mayChange, smallkeyText } from "../registry/judge.ts";
import { decodeSegment, parseSmallkey } from "../registry/smallkey.ts";
import { readableAt } from "../registry/targets/table.ts";
import { textAt, textOf } from "../registry/texts.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Receipt } from "../schemas/answers.ts";
import { type Commit, isRefusal, type Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import { parseRegister, parseRemove, parseSimplify, parseUpdate, parseUpdateFeature } from "./register.ts";
import { acceptWrite, type Reply, refuseLimited, refuseWrite, removed } from "./reply.ts";
import { metaOf, type RequestedChange, refusalOf, type Verified, verifyWrite, type Write } from "./write.ts";
import type { WriteAction } from "./write-routes.ts";

/** A kind of change of one layer: how its body is parsed, and how it is answered. */
interface ChangeKind {
	parse(smallkey: string, body: Uint8Array): RequestedChange | Refusal;
	status: number;
	/** Makes the answer's body. Without this function, and while the change waits for a reviewer, the body is the receipt. */
	body?: (smallkey: string) => unknown;
}

const asKey = (smallkey: string) => smallkey;

const changeKinds: Readonly<Record<Exclude<WriteAction, "refresh">, ChangeKind>> = {
	/** PUT <base>/register/<smallkey>, /v1/register/… and /v2/register/… (specification, "Write: register a layer"). */
	register: { parse: parseRegister, status: 201 },
	/** DELETE <base>/register/<smallkey>, /v1/register/… and /v2/register/…, with an empty body. */
	remove: { parse: parseRemove, status: 204 },
	/** PUT <base>/v2/update/<smallkey>: some members of a registration. */
	update: { parse: parseUpdate, status: 200, body: (key) => ({ msg: "Updated", key }) },
	/** PUT <base>/v1/updatefeature/<smallkey>: some members of a feature layer. */
	updateFeature: { parse: parseUpdateFeature, status: 200, body: asKey },
	/** PUT <base>/v1/simplification/<smallkey>: `max_allowable_offset` of a feature layer. */
	simplify: { parse: parseSimplify, status: 200, body: asKey },
};

/** Answers a write: verify → 401, limit → 429, parse → 400, ownership → 403, store → the action's answer. */
export async function answerWrite(write: Write, context: Context): Promise<Reply> {
	const verified = await verifyWrite(write, context);
	if (isRefusal(verified)) return refuseWrite(verified);
	const waitSeconds = (await context.limiter?.sender(verified.sender.id, verified.request)) ?? 0;
	if (waitSeconds > 0) return refuseLimited("sender", waitSeconds);
	const { action } = write;
	const meta = metaOf(action, verified);
	// The signature is used up: it must not take effect later, when other layers are stored, or with another method.
	const refuseForGood = async (refusal: Refusal) => {
		await context.store.remember?.({ ...meta, status: refusal.status });
		return refuseWrite(refusal);
	};
	if (action === "refresh") {
		const outcome = await refresh(write.target, verified, meta, context);
		return isRefusal(outcome) ? refuseForGood(outcome) : acceptWrite(202, outcome);
	}
	const { status, body } = changeKinds[action];
	const change = parseChange(changeKinds[action], write.target, verified);
	if (isRefusal(change)) return refuseForGood(change);
	const outcome = await context.store.change(change.edits, { ...meta, ...change });
	if (isRefusal(outcome)) return refuseWrite(outcome);
	if (verified.sender.review) {
		return acceptWrite(action === "register" ? 201 : 202, await receiptOf(change, outcome, context));
	}
	if (status === 204) return removed();
	return acceptWrite(status, body ? body(change.smallkey) : await receiptOf(change, outcome, context));
}

/** Parses a change. Checks the smallkey, then the payload, then the ownership. */
function parseChange(kind: ChangeKind, target: string, verified: Verified): RequestedChange | Refusal {
	const segment = target.slice(target.lastIndexOf("/") + 1);
	const given = decodeSegment(segment);
	const smallkey = parseSmallkey(given ?? "");
	if (smallkey === null) {
		return { status: 400, errors: [smallkeyText(given ?? segment)], reason: "smallkey" };
	}
	const change = kind.parse(smallkey, verified.body);
	const problem = isRefusal(change) ? null : judgeSender(verified.sender, smallkey);
	return problem ? refusalOf([problem]) : change;
}

const dayMs = 86_400_000;

/** `…/all` or `…/<days>`, at v2 followed by a limit. */
const refreshPath = /\/(?:update|refresh)\/(?:(all)|(\d{1,5}))(?:\/([1-9]\d{0,6}))?$/;

/**
 * POST <base>/v1/update/<all or days> and <base>/v2/refresh/<all or days>[/<limit>]: signed, with an empty body. Starts a
 * harvest of the layers that the sender may change, and answers with their number. A repeated request has no effect.
 */
async function refresh(
	target: string,
	{ sender, body }: Verified,
	meta: ReturnType<typeof metaOf>,
	context: Context,
): Promise<{ layers: number } | Refusal> {
	if (body.length > 0) return { status: 400, errors: [textOf("body-empty")] };
	const match = refreshPath.exec(target);
	if (!match) {
		return { status: 400, errors: [textAt("path", "path-refresh")], reason: "path" };
	}
	if (!context.refresh) {
		return { status: 409, errors: [textOf("no-harvest")], reason: "does not harvest" };
	}
	const [, all, days, maxLayers] = match;
	const isFirst = (await context.store.remember?.({ ...meta, status: 202 })) ?? true;
	if (!isFirst) return { layers: 0 };
	return {
		layers: context.refresh({
			olderThanMs: all === undefined ? Number(days) * dayMs : null,
			maxLayers: maxLayers === undefined ? null : Number(maxLayers),
			isWanted: (smallkey) => mayChange(sender, smallkey),
		}),
	};
}

async function receiptOf(
	{ smallkey, registration }: RequestedChange,
	outcome: Commit,
	{ settings, store, status }: Context,
): Promise<Receipt> {
	const stored = registration();
	const { basePath, publicUrl = "" } = settings;
	const text = stored && publicUrl && canonicalText(stored);
	const draft = text ? await draftAddress(publicUrl, { smallkey, text }) : null;
	const site = publicUrl.replace(/(?<!\/)\/+$/, "");
	const inCatalogue = site ? `${site}/?layer=${encodeURIComponent(smallkey)}` : undefined;
	const readable = stored ? readableAt(smallkey, stored, settings) : { paths: [], warnings: [] };
	const warnings = stored ? warningsOf(stored) : [];
	return {
		smallkey,
		key: smallkey,
		commit: outcome.commit,
		fragments: readable.paths.map((path) => `${basePath}/${path}`),
		published: store.published && outcome.branch === undefined,
		branch: outcome.branch,
		pull_request: outcome.pullRequest,
		draft: draft ?? undefined,
		status: status ? `${basePath}/status/${smallkey}` : inCatalogue,
		warnings: [...warnings, ...readable.warnings, ...(outcome.warnings ?? [])],
	};
}
