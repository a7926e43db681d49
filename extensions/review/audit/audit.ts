import { readReviews, servedRef } from "../../../api/service/repository.ts";
import { parseDescription } from "../../../registry/description.ts";
import { firstOf, plain } from "../../../registry/plain.ts";
import { parseRegistration } from "../../../registry/registration.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../../../registry/smallkey.ts";
import type { FragmentSettings } from "../../../registry/targets/facts.ts";
import { type CatFile, openCatFile } from "../../../store/git/commands/cat-file.ts";
import { maxAheadMs, personText, readCommits, trailersOf } from "../../../store/git/commands/commits.ts";
import { fragmentChanges } from "../fragments.ts";
import { viewerLines } from "../report.ts";
import { type Commit, openHistory, type ReadHistory } from "./history.ts";

type AuditEntry = ReturnType<typeof entryOf>;

export interface AuditOptions {
	repository: string;
	/** Milliseconds since 1970; older events are left out. */
	sinceMs: number;
	/** The clock. */
	nowMs: number;
	settings: FragmentSettings;
}

type CommitSummary = Pick<Commit, "id" | "committer" | "dateMs" | "provenance">;

/**
 * One event as a few lines of text. Control characters of a commit's text are removed.
 * @param proposed the commits that a merge brought or that a reviewer declined, the newest first
 */
function entryOf(commit: CommitSummary, what: string, proposed: CommitSummary[], more: string[] = []) {
	const { dateMs } = commit;
	const ownMs = commit.committer.timeMs;
	const verb = what === "declined" ? "proposed" : "brought";
	const lines = [
		`${timeText(dateMs)}  ${commit.id.slice(0, 12)}  ${what}`,
		...(Math.abs(ownMs - dateMs) <= maxAheadMs
			? []
			: [`  its own date, which cannot be, is ${timeText(ownMs)}`]),
		...commit.provenance.lines.map((line) => `  ${line}`),
		...proposed.flatMap((one) => commitLines(verb, one)),
		...more,
	];
	/** Whether one of its commits claims to be a sender's request and is not. */
	const isForged = [commit, ...proposed].some(({ provenance }) => provenance.isForged);
	return { dateMs, lines: lines.map(plain), isForged };
}

function commitLines(verb: string, { id, dateMs, provenance }: CommitSummary): string[] {
	const lines = [`${verb} ${id.slice(0, 12)} of ${timeText(dateMs)}`, ...provenance.lines];
	return lines.map((line, index) => (index === 0 ? `  ${line}` : `    ${line}`));
}

/** `2026-03-04 12:00:00` in UTC */
function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

/** Commits of a review that are shown. */
const maxProposed = 10;

/** The newest commits of a waiting review, with their authors. */
export async function proposalLines(repository: string, commit: string): Promise<string[]> {
	const history = await openHistory(repository);
	const proposed = await history(`${servedRef}..${commit}`);
	const hidden = proposed.length - maxProposed;
	const lines = proposed.slice(0, maxProposed).flatMap((one) => commitLines("proposed", one));
	return hidden > 0 ? [...lines, `  and ${hidden} commits before`] : lines;
}

/** Everything that happened to a layer, the newest first. */
export async function auditLayer(smallkey: string, options: AuditOptions): Promise<AuditEntry[]> {
	const { repository, sinceMs, nowMs, settings } = options;
	const paths = pathsOf(smallkey);
	const history = await openHistory(repository, nowMs);
	const commits = await history(servedRef, paths, true);
	const catFile = openCatFile(repository);
	try {
		const entries: AuditEntry[] = [];
		for (const commit of commits.filter(({ dateMs }) => dateMs >= sinceMs)) {
			const [first, second] = commit.parents;
			const merged = second === undefined ? [] : await history(`${first}..${second}`, paths);
			const { verb, lines } = await changeOf(catFile, commit, smallkey, settings);
			entries.push(entryOf(commit, verb, merged, lines));
		}
		return inOrder(entries, await readDeclined(options, history, smallkey));
	} finally {
		await catFile.close();
	}
}

/** All commits that claim to be a sender's, declined ones among them, the newest first. */
export async function auditSender(sender: string, options: AuditOptions): Promise<AuditEntry[]> {
	const isNamed = ({ message, author }: Commit) =>
		trailersOf(message, "Sender").includes(sender) || author.name === sender;
	const history = await openHistory(options.repository, options.nowMs);
	const commits = await history(servedRef);
	const own = commits.filter((commit) => isNamed(commit) && commit.dateMs >= options.sinceMs);
	const declined = await readDeclined(options, history, null, isNamed);
	const entries = own.map((commit) => entryOf(commit, changesText(commit), []));
	return inOrder(entries, declined);
}

/** Puts declined changes among the commits of the history, which keep git's order. */
function inOrder(entries: AuditEntry[], declined: AuditEntry[]): AuditEntry[] {
	const ordered = [...entries];
	for (const one of declined) {
		const place = ordered.findIndex(({ dateMs }) => dateMs < one.dateMs);
		ordered.splice(place < 0 ? ordered.length : place, 0, one);
	}
	return ordered;
}

function pathsOf(smallkey: string): string[] {
	return [layerPath(smallkey), descriptionPath(smallkey)];
}

const maxKeys = 5;

/** What a commit did to layers: `added a b, removed c`. */
function changesText({ statuses }: Commit): string {
	const done = new Map<string, Set<string>>([
		["added", new Set()],
		["changed", new Set()],
		["removed", new Set()],
	]);
	for (const [path, status] of statuses) {
		const name = parseLayerPath(path);
		const isRegistration = name?.kind === "registration";
		const verb = isRegistration ? (verbs.get(status) ?? "changed") : "changed";
		if (name && (isRegistration || !statuses.has(layerPath(name.smallkey))))
			done.get(verb)?.add(name.smallkey);
	}
	const parts = [...done].filter(([, keys]) => keys.size > 0);
	return (
		parts.map(([verb, keys]) => `${verb} ${firstOf([...keys], maxKeys)}`).join(", ") || "changed no layer"
	);
}

/** Status of a file in git → what was done to the layer. */
const verbs: ReadonlyMap<string, string> = new Map([
	["A", "added"],
	["D", "removed"],
]);

/**
 * The declined changes of a layer, or of all layers if `smallkey` is null.
 * @param isWanted a declined change is returned if this holds for one of its commits
 */
async function readDeclined(
	{ repository, sinceMs }: AuditOptions,
	history: ReadHistory,
	smallkey: string | null,
	isWanted: (commit: Commit) => boolean = () => true,
): Promise<AuditEntry[]> {
	const entries: AuditEntry[] = [];
	for (const { name, commit: id, timeMs, reason } of await readReviews(repository, "declined")) {
		const isOfLayer = smallkey === null || name === smallkey || name.includes(".");
		if (!isOfLayer || timeMs < sinceMs) continue;
		const proposed = await history(`${servedRef}..${id}`, smallkey === null ? [] : pathsOf(smallkey));
		if (!proposed.some(isWanted)) continue;
		// The last commit of a declined branch only records who declined it, and changes no layer.
		for await (const { committer } of readCommits(repository, [id])) {
			const provenance = { isForged: false, lines: [`by ${personText(committer)}: ${reason}`] };
			entries.push(entryOf({ id, committer, dateMs: committer.timeMs, provenance }, "declined", proposed));
		}
	}
	return entries;
}

/** What a commit did to a layer, and the difference for viewers, by language. */
async function changeOf(catFile: CatFile, commit: Commit, smallkey: string, settings: FragmentSettings) {
	const {
		id,
		parents: [parent],
	} = commit;
	const before = parent === undefined ? null : await readLayer(catFile, parent, smallkey);
	const after = await readLayer(catFile, id, smallkey);
	if (after === "broken")
		return { verb: after, lines: ["  the file is not in order: viewers read on what was served before"] };
	const verb = !after ? "removed" : before ? "changed" : "added";
	const layer = { smallkey, before: before === "broken" ? null : before, after };
	const lines = viewerLines(fragmentChanges(layer, settings));
	return { verb, lines: lines.length > 0 ? lines : ["  nothing changed for viewers"] };
}

/** A layer in a commit; null if the commit does not have it; "broken" if its file is wrong: the last good one is served. */
async function readLayer(catFile: CatFile, commit: string, smallkey: string) {
	const file = await catFile.read(`${commit}:${layerPath(smallkey)}`);
	if (!file) return null;
	const { registration } = parseRegistration(file.body, "stored");
	if (!registration) return "broken";
	const found = await catFile.read(`${commit}:${descriptionPath(smallkey)}`);
	return { smallkey, registration, description: found && parseDescription(found.body.toString("utf8")) };
}
