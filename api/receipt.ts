import { draftAddress } from "../registry/draft.ts";
import { canonicalText } from "../registry/registration.ts";
import { readableAt } from "../registry/targets/table.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Commit } from "../store/store.ts";
import type { Context } from "./context.ts";
import type { RequestedChange } from "./register.ts";
import type { UnwrittenReceipt } from "./reply.ts";

/** The receipt of a change that was made, or that was not needed. */
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
