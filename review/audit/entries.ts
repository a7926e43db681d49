import { CatFile } from "../../git/cat-file.ts";
import { parseDescription } from "../../registry/description.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { parseRegistration } from "../../registry/registration.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { servedRef } from "../../service/find-repository.ts";
import { readReviews } from "../../service/reviews.ts";
import { type FragmentChange, fragmentChanges } from "../fragments.ts";
import { type Door, doorOf } from "./door.ts";
import { type Commit, firstOfRequests, readCommit, readCommits } from "./history.ts";

export interface AuditEntry {
	commit: Commit;
	door: Door;
	/** What became of the layer that was asked for; null where a sender was asked for. */
	change: LayerChange | null;
	/** What a merge brought, or a reviewer declined, the newest first. */
	merged: { commit: Commit; door: Door }[];
}

export interface LayerChange {
	verb: "added" | "changed" | "removed" | "broken";
	/** For a viewer, by language; without lines nothing is different. */
	fragments: FragmentChange[];
}

export interface AuditOptions {
	repository: string;
	/** Milliseconds since 1970; what is older is left out. */
	sinceMs: number;
	settings: FragmentSettings;
}

/** Everything that happened to a layer, the newest first. */
export async function auditLayer(smallkey: string, options: AuditOptions): Promise<AuditEntry[]> {
	const { repository, sinceMs, settings } = options;
	const paths = [layerPath(smallkey), descriptionPath(smallkey)];
	const commits = await readCommits(repository, { range: servedRef, paths, isBranchOnly: true });
	const firstOf = await firstOfRequests(repository, servedRef);
	const catFile = new CatFile(repository);
	try {
		const entries: AuditEntry[] = [];
		for (const commit of commits.filter(({ committer }) => committer.timeMs >= sinceMs)) {
			const [first, second] = commit.parents;
			const merged =
				second === undefined ? [] : await readProposed(repository, `${first}..${second}`, paths, firstOf);
			const change = await changeOf(catFile, commit, smallkey, settings);
			entries.push({ commit, door: doorOf(commit, firstOf), change, merged });
		}
		for (const declined of await readDeclined(options, smallkey, paths, firstOf)) {
			const isOlder = ({ commit }: AuditEntry) => commit.committer.timeMs < declined.commit.committer.timeMs;
			const place = entries.findIndex(isOlder);
			entries.splice(place < 0 ? entries.length : place, 0, declined);
		}
		return entries;
	} finally {
		await catFile.close();
	}
}

/** Everything that says of itself that it is a sender's, the newest first; what was declined comes first. */
export async function auditSender(sender: string, options: AuditOptions): Promise<AuditEntry[]> {
	const { repository, sinceMs } = options;
	const isNamed = ({ trailers, author }: Commit) =>
		trailers.Sender.includes(sender) || author.name === sender;
	const commits = await readCommits(repository, { range: servedRef, isBranchOnly: false });
	const firstOf = await firstOfRequests(repository, servedRef);
	const declined = await readDeclined(options, null, [], firstOf);
	return [
		...declined.filter(({ merged }) => merged.some(({ commit }) => isNamed(commit))),
		...commits
			.filter((commit) => isNamed(commit) && commit.committer.timeMs >= sinceMs)
			.map((commit) => ({ commit, door: doorOf(commit, firstOf), change: null, merged: [] })),
	];
}

export function smallkeysOf({ paths }: Commit): string[] {
	const names = paths.map(parseLayerPath);
	return [...new Set(names.flatMap((name) => (name ? [name.smallkey] : [])))];
}

/** The declined changes of a layer; null: of all layers. */
async function readDeclined(
	{ repository, sinceMs }: AuditOptions,
	smallkey: string | null,
	paths: string[],
	firstOf: ReadonlyMap<string, string>,
): Promise<AuditEntry[]> {
	const entries: AuditEntry[] = [];
	for (const { name, commit: id, timeMs, reason } of await readReviews(repository, "declined")) {
		const isOfLayer = smallkey === null || name === smallkey || name.endsWith(".batch");
		if (!isOfLayer || timeMs < sinceMs) continue;
		const merged = await readProposed(repository, `${servedRef}..${id}`, paths, firstOf);
		const commit = await readCommit(repository, id);
		if (merged.length > 0) entries.push({ commit, door: { kind: "declined", reason }, change: null, merged });
	}
	return entries;
}

/** The commits that a review has on a branch of its own. */
export async function readProposed(
	repository: string,
	range: string,
	paths: string[],
	firstOf: ReadonlyMap<string, string>,
): Promise<AuditEntry["merged"]> {
	const commits = await readCommits(repository, { range, paths, isBranchOnly: false });
	return commits.map((commit) => ({ commit, door: doorOf(commit, firstOf) }));
}

async function changeOf(
	catFile: CatFile,
	{ id, parents }: Commit,
	smallkey: string,
	settings: FragmentSettings,
): Promise<LayerChange> {
	const [parent] = parents;
	const before = parent === undefined ? null : await readLayer(catFile, parent, smallkey);
	const after = await readLayer(catFile, id, smallkey);
	const verb = verbOf(before, after);
	const layer = { smallkey, before: before?.layer ?? null, after: after?.layer ?? null };
	const rest = { paths: [], removed: after === null, text: "" };
	return { verb, fragments: verb === "broken" ? [] : fragmentChanges({ ...layer, ...rest }, settings) };
}

interface StoredLayer {
	/** Null where the file is not in order: what was served before stays. */
	layer: CheckedLayer | null;
}

function verbOf(before: StoredLayer | null, after: StoredLayer | null): LayerChange["verb"] {
	if (!after) return "removed";
	if (!after.layer) return "broken";
	return before ? "changed" : "added";
}

/** A layer as a commit has it; null where it has none. */
async function readLayer(catFile: CatFile, commit: string, smallkey: string): Promise<StoredLayer | null> {
	const file = await catFile.read(`${commit}:${layerPath(smallkey)}`);
	if (!file) return null;
	const { registration } = parseRegistration(file.body, "stored");
	if (!registration) return { layer: null };
	const found = await catFile.read(`${commit}:${descriptionPath(smallkey)}`);
	return {
		layer: { smallkey, registration, description: found && parseDescription(found.body.toString("utf8")) },
	};
}
