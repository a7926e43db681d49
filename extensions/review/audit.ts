import { readReviews, servedRef } from "../../api/service/repository.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { firstOf, plain } from "../../registry/untrusted-text.ts";
import {
	believedMs,
	type LoggedCommit,
	maxAheadMs,
	personText,
	readCommits,
	readLog,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { judgeProvenance, type Provenance } from "./provenance.ts";

/** A commit that changes layers. A user who may push can write anything into its texts. */
interface Commit extends LoggedCommit {
	/** When it was made, as far as its date can be believed, in milliseconds since 1970. */
	dateMs: number;
	provenance: Provenance;
}

export interface AuditOptions {
	repository: string;
	/** Milliseconds since 1970; older events are left out. */
	sinceMs: number;
	/** The clock: no date after it is believed. */
	nowMs: number;
}

/** One event, as a few lines of text. */
interface AuditEntry {
	dateMs: number;
	lines: string[];
	isForged: boolean;
}

/**
 * Reads the served branch, the newest first, and returns it with a function that reads the commits of another branch.
 * A merge is judged by what it changes in its first parent.
 */
async function readHistory(repository: string, nowMs = Date.now()) {
	/** Request id → the first commit of the served branch that has it: a later commit has copied it. */
	const first = new Map<string, string>();
	const dates = new Map<string, number>();
	const read = async (range: string, note: (commit: LoggedCommit) => void = () => undefined) => {
		const logged: LoggedCommit[] = [];
		const words = ["--topo-order", "--diff-merges=first-parent", "--end-of-options", range, "--"];
		for await (const commit of readLog(repository, words)) logged.push(commit);
		// Parents first.
		for (const commit of logged.toReversed()) {
			const { id, parents, committer } = commit;
			dates.set(id, believedMs(committer.timeMs, dates.get(parents[0] ?? "") ?? 0, nowMs));
			note(commit);
		}
		return logged.map((commit): Commit => {
			const files = commit.files.filter(({ path }) => path.startsWith("layers/"));
			const layers = { ...commit, files };
			return { ...layers, dateMs: dates.get(commit.id) ?? 0, provenance: judgeProvenance(layers, first) };
		});
	};
	const served = await read(servedRef, ({ id, message }) => {
		for (const request of trailersOf(message, "Request")) if (!first.has(request)) first.set(request, id);
	});
	return { served, read };
}

/** Everything that happened to a layer, the newest first. */
export function auditLayer(smallkey: string, options: AuditOptions): Promise<AuditEntry[]> {
	const isOf = ({ files }: Commit) => files.some(({ path }) => parseLayerPath(path)?.smallkey === smallkey);
	return auditWhere(isOf, options, smallkey);
}

/** All commits that claim to be a sender's, declined ones among them, the newest first. */
export function auditSender(sender: string, options: AuditOptions): Promise<AuditEntry[]> {
	const isOf = ({ message, author, files }: Commit) =>
		files.length > 0 && (trailersOf(message, "Sender").includes(sender) || author.name === sender);
	return auditWhere(isOf, options);
}

async function auditWhere(isOf: (commit: Commit) => boolean, options: AuditOptions, smallkey?: string) {
	const { repository, sinceMs, nowMs } = options;
	const { served, read } = await readHistory(repository, nowMs);
	const entries = served
		.filter((commit) => isOf(commit) && commit.dateMs >= sinceMs)
		.map((commit) => entryOf(commit, changesText(commit, smallkey)));
	for (const { commit: id, timeMs, reason } of await readReviews(repository, "declined")) {
		if (timeMs < sinceMs) continue;
		const proposed = (await read(`${servedRef}..${id}`)).filter(isOf);
		if (proposed.length === 0) continue;
		// The last commit of a declined branch only records who declined it, and changes no layer.
		for await (const commit of readCommits(repository, [id])) {
			const provenance = { isForged: false, lines: [`by ${personText(commit.committer)}: ${reason}`] };
			const declined = { ...commit, files: [], dateMs: timeMs, provenance };
			const entry = entryOf(declined, "declined", proposed);
			// The commits keep git's order.
			const place = entries.findIndex(({ dateMs }) => dateMs < timeMs);
			entries.splice(place < 0 ? entries.length : place, 0, entry);
		}
	}
	return entries;
}

/** @param proposed the commits that a reviewer declined, the newest first */
function entryOf(commit: Commit, what: string, proposed: Commit[] = []): AuditEntry {
	const { id, dateMs, committer, provenance } = commit;
	const isOdd = Math.abs(committer.timeMs - dateMs) > maxAheadMs;
	const lines = [
		`${timeText(dateMs)}  ${id.slice(0, 12)}  ${what}`,
		...(isOdd ? [`  its own date, which cannot be, is ${timeText(committer.timeMs)}`] : []),
		...provenance.lines.map((line) => `  ${line}`),
		...proposed.flatMap(proposedLines),
	];
	const isForged = [commit, ...proposed].some(({ provenance }) => provenance.isForged);
	return { dateMs, lines: lines.map(plain), isForged };
}

function proposedLines({ id, dateMs, provenance }: Commit): string[] {
	const lines = provenance.lines.map((line) => `    ${line}`);
	return [`  proposed ${id.slice(0, 12)} of ${timeText(dateMs)}`, ...lines];
}

/** `2026-03-04 12:00:00` in UTC */
function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

/** Commits of a review that are shown. */
const maxProposed = 10;

/** The newest commits of a waiting review, with their authors. */
export async function proposalLines(repository: string, commit: string): Promise<string[]> {
	const { read } = await readHistory(repository);
	const proposed = (await read(`${servedRef}..${commit}`)).filter(({ files }) => files.length > 0);
	const hidden = proposed.length - maxProposed;
	const lines = proposed.slice(0, maxProposed).flatMap(proposedLines);
	return hidden > 0 ? [...lines, `  and ${hidden} commits before`] : lines;
}

const maxKeys = 5;

/** What a commit did: `removed`, of one layer; otherwise `added a b, removed c`. */
function changesText({ files }: Commit, smallkey?: string): string {
	const verbs = new Map<string, string>();
	for (const { path, status } of files) {
		const name = parseLayerPath(path);
		if (name?.kind === "registration")
			verbs.set(name.smallkey, status === "A" ? "added" : status === "D" ? "removed" : "changed");
		else if (name && !verbs.has(name.smallkey)) verbs.set(name.smallkey, "changed");
	}
	if (smallkey !== undefined) return verbs.get(smallkey) ?? "changed";
	const parts = ["added", "changed", "removed"].flatMap((verb) => {
		const keys = [...verbs].flatMap(([key, done]) => (done === verb ? [key] : []));
		return keys.length > 0 ? [`${verb} ${firstOf(keys, maxKeys)}`] : [];
	});
	return parts.join(", ") || "changed no layer";
}
