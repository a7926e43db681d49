import pMap from "p-map";
import type { Io } from "../../api/configuration.ts";
import { putEdits } from "../../api/register.ts";
import type { Registration } from "../../registry/registration.ts";
import type { Problem } from "../../registry/texts.ts";
import { counted } from "../../registry/untrusted.ts";
import { isRefusal } from "../../store/decide.ts";
import type { Commit, Decide, Edit, Meta, Reader, Store } from "../../store/store.ts";
import type { Comparison, Registrations } from "./register-many.ts";

export interface StoreBatchOptions {
	sender?: string | undefined;
	reviewName?: string | undefined;
	partial?: boolean;
	dryRun?: boolean;
}

const maxConcurrent = 32;

/**
 * In one commit; without `partial` all or none. What is stored already is skipped.
 * @param dryRun decides on the served branch, and stores nothing
 * @param editsOf returns none for a layer that is stored already
 */
export async function storeBatch(
	store: Store,
	registrations: Registrations,
	{ sender = "operator", time, reviewName, partial, dryRun }: StoreBatchOptions & { time: number },
	editsOf = (now: Reader, ...layer: [string, Registration]) => putEdits(now, ...layer, "text"),
	verb = "register a batch of",
) {
	let comparison: Comparison = { added: [], changed: [], unchanged: [] };
	let refused: [smallkey: string, problems: readonly Problem[]][] = [];
	const decide: Decide = async (now) => {
		const decisions = await pMap(
			registrations,
			async ([smallkey, registration]) => {
				const isStored = (await now.ids(smallkey)) !== null;
				return { smallkey, isStored, outcome: await editsOf(now, smallkey, registration) };
			},
			{ concurrency: maxConcurrent },
		);
		// The store may decide again, on a newer state.
		comparison = { added: [], changed: [], unchanged: [] };
		refused = [];
		const edits: Edit[] = [];
		for (const { smallkey, isStored, outcome } of decisions) {
			if (isRefusal(outcome)) refused.push([smallkey, outcome.errors]);
			else if (outcome.length === 0) comparison.unchanged.push(smallkey);
			else {
				comparison[isStored ? "changed" : "added"].push(smallkey);
				edits.push(...outcome);
			}
		}
		const errors = refused.flatMap(([, problems]) => problems);
		if (errors.length > 0 && !partial && !dryRun) return { status: 409, errors };
		meta.subject = `${verb} ${counted(comparison.added.length + comparison.changed.length, "layer")}`;
		return dryRun ? [] : edits;
	};
	const meta: Meta = {
		smallkey: null,
		author: sender,
		time,
		subject: verb,
		request: null,
		review: false,
		...(reviewName !== undefined && !dryRun && { review: true, reviewName }),
	};
	const outcome = await store.change(decide, meta);
	return { outcome, comparison, refused };
}

export function printCommit({ changed, commit, branch, pullRequest }: Commit, io: Io): void {
	if (changed) io.print(`commit ${commit}`);
	if (branch) io.print(`branch ${branch}`);
	if (pullRequest) io.print(`pull request ${pullRequest}`);
}
