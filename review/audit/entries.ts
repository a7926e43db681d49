import { CatFile } from "../../git/cat-file.ts";
import { parseDescription } from "../../registry/description.ts";
import type { CheckedLayer } from "../../registry/judge.ts";
import { parseRegistration } from "../../registry/registration.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { servedRef } from "../../service/find-repository.ts";
import { readReviews } from "../../service/reviews.ts";
import { type FragmentChange, fragmentChanges } from "../fragments.ts";
import { type Commit, History } from "./history.ts";

export interface AuditEntry {
	commit: Commit;
	/** What became of the layer that was asked for; null where a sender was asked for. */
	change: LayerChange | null;
	/** What a merge brought, or a reviewer declined, the newest first. */
	merged: Commit[];
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
	const history = await History.open(repository);
	const commits = await history.commits({ range: servedRef, paths, isBranchOnly: true });
	const catFile = new CatFile(repository);
	try {
		const entries: AuditEntry[] = [];
		for (const commit of commits.filter(({ committer }) => committer.timeMs >= sinceMs)) {
			const [first, second] = commit.parents;
			const merged =
				second === undefined ? [] : await history.commits({ range: `${first}..${second}`, paths });
			const change = await changeOf(catFile, commit, smallkey, settings);
			entries.push({ commit, change, merged });
		}
		for (const declined of await readDeclined(options, history, smallkey, paths)) {
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
	const history = await History.open(repository);
	const commits = await history.commits({ range: servedRef });
	const declined = await readDeclined(options, history, null, []);
	return [
		...declined.filter(({ merged }) => merged.some(isNamed)),
		...commits
			.filter((commit) => isNamed(commit) && commit.committer.timeMs >= sinceMs)
			.map((commit) => ({ commit, change: null, merged: [] })),
	];
}

export function smallkeysOf({ paths }: Commit): string[] {
	const names = paths.map(parseLayerPath);
	return [...new Set(names.flatMap((name) => (name ? [name.smallkey] : [])))];
}

/** The declined changes of a layer; null: of all layers. */
async function readDeclined(
	{ repository, sinceMs }: AuditOptions,
	history: History,
	smallkey: string | null,
	paths: string[],
): Promise<AuditEntry[]> {
	const entries: AuditEntry[] = [];
	for (const { name, commit: id, timeMs, reason } of await readReviews(repository, "declined")) {
		const isOfLayer = smallkey === null || name === smallkey || name.endsWith(".batch");
		if (!isOfLayer || timeMs < sinceMs) continue;
		const merged = await history.commits({ range: `${servedRef}..${id}`, paths });
		const commit: Commit = { ...(await history.commit(id)), door: { kind: "declined", reason } };
		if (merged.length > 0) entries.push({ commit, change: null, merged });
	}
	return entries;
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
	if (after === "broken") return { verb: "broken", fragments: [] };
	const verb = !after ? "removed" : before ? "changed" : "added";
	const layer = { smallkey, before: before === "broken" ? null : before, after };
	return { verb, fragments: fragmentChanges(layer, settings) };
}

/** A layer as a commit has it; null where it has none, "broken" where what was served before stays. */
async function readLayer(
	catFile: CatFile,
	commit: string,
	smallkey: string,
): Promise<CheckedLayer | "broken" | null> {
	const file = await catFile.read(`${commit}:${layerPath(smallkey)}`);
	if (!file) return null;
	const { registration } = parseRegistration(file.body, "stored");
	if (!registration) return "broken";
	const found = await catFile.read(`${commit}:${descriptionPath(smallkey)}`);
	return { smallkey, registration, description: found && parseDescription(found.body.toString("utf8")) };
}
