import { readReviews, servedRef } from "../../api/service/repository.ts";
import { parseLayerPath } from "../../registry/smallkey.ts";
import { maxClockSkewMs, parseTimestamp } from "../../registry/timestamp.ts";
import { firstOf, plain } from "../../registry/untrusted-text.ts";
import {
	believedMs,
	type LoggedCommit,
	maxAheadMs,
	type Person,
	personText,
	readCommits,
	readLog,
	subjectOf,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { repairedTrailer } from "../../store/git/repair-branches.ts";
import { authorMail, serviceAuthor } from "../../store/store.ts";

/** A commit that changes layers. A user who may push can write anything into its texts. */
interface Commit extends LoggedCommit {
	/** When it was made, as far as its date can be believed, in milliseconds since 1970. */
	dateMs: number;
	provenance: Provenance;
}

/** How a commit arrived (signed request, push, merge), as lines of text for a person. */
interface Provenance {
	/** Whether the commit names a sender whose request it cannot be: the person who pushed it wrote that. */
	isForged: boolean;
	lines: string[];
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

/** Longest time from a request's timestamp to its commit, in milliseconds. */
const maxWaitMs = 5 * 60_000;

/**
 * Judges from a commit's content how it arrived. Git alone cannot prove that a request was signed; this function finds
 * the commits that the service would never have written.
 * @param firstOf request id → the first commit of the served branch that has it in a trailer
 */
function judgeProvenance(commit: LoggedCommit, firstOf: ReadonlyMap<string, string>): Provenance {
	const { parents, message, author, committer } = commit;
	const subject = subjectOf(message);
	// The trailers of a signed request (`api/write.ts`).
	const [senders = [], ...rest] = ["Sender", "TimeStamp", "Request"].map((name) => trailersOf(message, name));
	const isBatch = rest.flat().length === 0;
	if (senders.length === 0 && isBatch) {
		if (isOwn(author) && isOwn(committer)) return ownProvenance(commit);
		if (parents.length > 1) return genuine(`merged by ${personText(committer)}: ${subject}`);
		return genuine(
			`by ${personText(author)}, with a push or a pull request: ${subject}`,
			...(author.mail === committer.mail ? [] : [`committed by ${personText(committer)}`]),
		);
	}
	const sender = senders.join(", ");
	const [only, ...others] = new Set(senders);
	if (isByGithub(commit) && others.length === 0 && (author.name === only || isApp(author)))
		return genuine(
			`by the sender ${only}, merged at GitHub, which has who merged it: ${subject}`,
			"GitHub signs such commits: git log --show-signature tells one that is not its own",
		);
	const why = whyNotOf(commit, senders) ?? (isBatch ? null : whyNoRequest(commit, rest, firstOf));
	if (why !== null) return forged(commit, sender || "a sender", why);
	if (isBatch) return genuine(`by the sender ${sender}, with npx fragment-publisher register: ${subject}`);
	const [[timestamp] = [], [request] = []] = rest;
	return genuine(`by the sender ${sender}, with a signed request of ${timestamp}`, `request ${request}`);
}

function genuine(...lines: string[]): Provenance {
	return { isForged: false, lines };
}

function forged({ author, committer, message }: LoggedCommit, sender: string, why: string): Provenance {
	const lines = [
		`FORGED: it says that it is a request of ${sender}, and is not: ${why}`,
		`by ${personText(author)}, committed by ${personText(committer)}: ${subjectOf(message)}`,
	];
	return { isForged: true, lines };
}

/** Whether GitHub made a commit from a pull request (GitHub, "About commit signature verification"). */
function isByGithub({ committer: { name, mail }, parents }: LoggedCommit): boolean {
	return name === "GitHub" && mail === "noreply@github.com" && parents.length === 1;
}

/** Whether GitHub wrote an App as the author: the one that opened a pull request is the author of its squash. */
function isApp({ name, mail }: Person): boolean {
	return name.endsWith("[bot]") && mail.endsWith("[bot]@users.noreply.github.com");
}

/**
 * A commit of the service itself: except for the first one, which seeds the branch, it changes no registration but those
 * that it proposes as a repair (`store/git/repair-branches.ts`).
 */
function ownProvenance(commit: LoggedCommit): Provenance {
	const repaired = trailersOf(commit.message, repairedTrailer);
	const changesLayers = commit.files.some(({ path }) => {
		const name = parseLayerPath(path);
		return name?.kind === "registration" && !repaired.includes(name.smallkey);
	});
	if (commit.parents.length > 0 && changesLayers)
		return forged(commit, "the service itself", "the service changes no registration");
	return genuine(`by the service itself: ${subjectOf(commit.message)}`);
}

/** Whether a person is the service, or the named sender. */
function isOwn({ name, mail }: Person, own = serviceAuthor): boolean {
	return name === own && mail === authorMail(own);
}

/** Why the service cannot have made a commit for the named senders; null if it can have. */
function whyNotOf({ author, committer, parents }: LoggedCommit, senders: readonly string[]): string | null {
	const [sender, ...others] = senders;
	if (sender === undefined) return "it names no sender";
	if (others.length > 0) return "it names more than one sender";
	if (!isOwn(committer)) return `its committer is ${personText(committer)}, and not the service`;
	if (!isOwn(author, sender)) return `its author is ${personText(author)}, and not the sender`;
	return parents.length > 1 ? "it is a merge" : null;
}

/** Why a commit cannot be of a signed request; null if it can be. */
function whyNoRequest(
	{ author, committer, files, id, message }: LoggedCommit,
	[[timestamp = "", ...later] = [], [request = "", ...others] = []]: readonly string[][],
	firstOf: ReadonlyMap<string, string>,
): string | null {
	const laterMs = committer.timeMs - author.timeMs;
	// A commit's times are whole seconds.
	if (laterMs < -maxClockSkewMs - 1_000) return "it was committed before its timestamp";
	if (laterMs > maxWaitMs) return "it was committed long after its timestamp";
	if (!timestamp || !request || later.length + others.length > 0)
		return "a request has one TimeStamp and one Request";
	if (!/^[0-9a-f]{64}$/.test(request)) return "its Request is no SHA-256";
	const timeMs = parseTimestamp(timestamp);
	if (timeMs === null || Math.floor(timeMs / 1_000) * 1_000 !== author.timeMs) {
		return "its author's time is not its TimeStamp";
	}
	const names = files.map(({ path }) => parseLayerPath(path));
	const smallkeys = new Set(names.map((name) => name?.smallkey ?? null));
	if (smallkeys.size > 1 || smallkeys.has(null))
		return "a request changes one layer, and this changes others";
	const [smallkey] = smallkeys;
	if (smallkey && !subjectOf(message).split(" ").includes(smallkey)) return "its subject names another layer";
	const first = firstOf.get(request);
	return first === undefined || first === id ? null : `its Request is copied from ${first.slice(0, 12)}`;
}
