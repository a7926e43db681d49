import { canonicalText } from "../registry/canonical.ts";
import { draftAddress } from "../registry/draft.ts";
import { readableAt } from "../registry/targets/readable.ts";
import { warningsOf } from "../registry/warnings.ts";
import type { Commit } from "../store/store.ts";
import type { Context, Settings } from "./context.ts";
import type { Asked } from "./write.ts";

/** The answer to an accepted write (`schemas/answers.ts`, `receipt`). */
export async function receipt(
	asked: Asked,
	outcome: Commit,
	{ settings, store, status }: Context,
): Promise<object> {
	const { smallkey } = asked;
	const registration = asked.registration();
	const { publicUrl = "" } = settings;
	const draft =
		registration && publicUrl !== ""
			? await draftAddress(publicUrl, { smallkey, text: canonicalText(registration) })
			: null;
	const readable = registration ? readableAt(smallkey, registration, settings) : { paths: [], warnings: [] };
	const warnings = registration ? warningsOf(registration) : [];
	return {
		smallkey,
		key: smallkey,
		commit: outcome.commit,
		fragments: readable.paths.map((path) => `${settings.basePath}/${path}`),
		published: store.published && outcome.branch === undefined,
		branch: outcome.branch,
		pull_request: outcome.pullRequest,
		draft: draft ?? undefined,
		status: statusAddress(smallkey, settings, status !== undefined),
		warnings: [...warnings, ...readable.warnings, ...(outcome.warnings ?? [])],
	};
}

/** The address of a layer's status, at this service or in its catalogue; undefined where neither is known. */
function statusAddress(
	smallkey: string,
	{ basePath, publicUrl }: Settings,
	isHere: boolean,
): string | undefined {
	const key = encodeURIComponent(smallkey);
	if (isHere) return `${basePath}/status/${smallkey}`;
	return publicUrl ? `${publicUrl.replace(/(?<!\/)\/+$/, "")}/?layer=${key}` : undefined;
}
