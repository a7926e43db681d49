import { draftAddress } from "../registry/draft.ts";
import { canonicalText, warningsOf } from "../registry/registration.ts";
import { layerPath } from "../registry/smallkey.ts";
import { readableAt } from "../registry/targets/table.ts";
import { problemAt } from "../registry/texts.ts";
import { blobId, matchesEtag } from "../store/hashes.ts";
import { type Commit, type Edits, isRefusal, type Refusal } from "../store/store.ts";
import type { Context } from "./context.ts";
import type { RequestedChange } from "./register.ts";
import type { UnwrittenReceipt } from "./reply.ts";

/** RFC 9110, section 13.1. The headers are not signed; empty: not sent. */
export interface Conditions {
	ifMatch: string;
	ifNoneMatch: string;
}

/**
 * The git blob id: every store knows it without a request, and neither a harvest nor a change of another
 * layer alters it.
 */
export function registrationEtag(blob: string): string {
	return `"${blob}"`;
}

/**
 * Refuses edits with 412 if a condition does not hold on the state on which they are made. `etag`: of the
 * registration that they leave; null if they leave none.
 */
export function conditionalEdits(
	smallkey: string,
	edits: Edits,
	conditions: Conditions,
): { edits: Edits; etag: () => string | null } {
	let etag: string | null = null;
	const decide: Edits = async (now) => {
		const proposed = await edits(now);
		// A request that is refused in any case is refused for that reason (RFC 9110, section 13.2.1).
		if (isRefusal(proposed)) return proposed;
		const ids = await now.ids(smallkey);
		const before = ids && registrationEtag(ids.registration);
		const edit = proposed.find(({ path }) => path === layerPath(smallkey));
		etag = before;
		if (edit) etag = edit.text === null ? null : registrationEtag(await blobId(edit.text));
		const refusal = judgeConditions(smallkey, conditions, before);
		return refusal ? { ...refusal, isDone: proposed.length === 0 } : proposed;
	};
	return { edits: decide, etag: () => etag };
}

function judgeConditions(
	smallkey: string,
	{ ifMatch, ifNoneMatch }: Conditions,
	etag: string | null,
): Refusal | null {
	if (ifMatch !== "" && (etag === null || !matchesEtag(ifMatch, etag)))
		return refusalOf("If-Match", ifMatch, smallkey, etag);
	if (ifNoneMatch !== "" && etag !== null && matchesEtag(ifNoneMatch, etag))
		return refusalOf("If-None-Match", ifNoneMatch, smallkey, etag);
	return null;
}

const maxShownLength = 80;

function refusalOf(header: string, text: string, smallkey: string, etag: string | null): Refusal {
	const shown = text.slice(0, maxShownLength);
	const error =
		etag === null
			? problemAt(header, "condition-none", shown, smallkey)
			: problemAt(header, "condition", shown, smallkey, etag);
	return { status: 412, errors: [error] };
}

export async function receiptOf(
	{ smallkey, registration }: RequestedChange,
	outcome: Commit,
	{ settings, store, status }: Context,
): Promise<UnwrittenReceipt> {
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
		changed: outcome.changed,
		fragments: readable.paths.map((path) => `${basePath}/${path}`),
		published: store.published && outcome.branch === undefined && outcome.published !== false,
		branch: outcome.branch,
		pull_request: outcome.pullRequest,
		draft: draft ?? undefined,
		status: status ? `${basePath}/status/${smallkey}` : inCatalogue,
		warnings: [...warnings, ...readable.warnings, ...(outcome.warnings ?? [])],
	};
}
