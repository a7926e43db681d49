// npx fragment-publisher audit: who changed the layers of a repository, from git alone
import { findRepository, readReviews, servedRef } from "../../../api/service/repository.ts";
import { parseSpan, readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { isSenderId } from "../../../registry/sender.ts";
import {
	descriptionPath,
	layerPath,
	parseLayerPath,
	parseSmallkey,
	smallkeyRule,
} from "../../../registry/smallkey.ts";
import { counted, firstOf, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { historyCommit } from "../../../site/data/history.ts";
import {
	believedMs,
	isShallow,
	type LoggedCommit,
	maxAheadMs,
	personText,
	readCommits,
	readLog,
	trailersOf,
} from "../../../store/git/commands/commits.ts";
import { runGit } from "../../../store/git/commands/run.ts";
import { judgeProvenance, type Provenance } from "../provenance.ts";
import { repoWords } from "../status.ts";

/** A commit that changes layers. A user who may push can write anything into its texts. */
interface Commit extends LoggedCommit {
	/** When it was made, as far as its date can be believed, in milliseconds since 1970. */
	dateMs: number;
	provenance: Provenance;
}

interface AuditOptions {
	repository: string;
	/** Milliseconds since 1970; older events are left out. */
	sinceMs: number;
	/** The clock: no date after it is believed. */
	nowMs: number;
}

/**
 * Reads the commits of the served branch that change some paths, the newest first, and returns them with a function that
 * reads those of another branch. A merge is judged by what it changes in its first parent.
 */
async function readHistory(repository: string, paths: readonly string[], nowMs: number) {
	/** Request id → the first commit of the served branch that has it: a later commit has copied it. */
	const first = new Map<string, string>();
	const dates = new Map<string, number>();
	/**
	 * Notes the dates, and of the served branch the requests, of all commits of a range, without their changes.
	 * @returns their ids, the newest first
	 */
	const note = async (tips: string): Promise<string[]> => {
		// Without `--encoding=none`, git converts a message by the `encoding` header of its commit.
		const words = ["log", "--topo-order", "--encoding=none", "-z", "--format=%H %ct %P%n%B"];
		const output = await runGit(repository, [...words, "--end-of-options", tips, "--"]);
		const ids: string[] = [];
		// `<id> <seconds> <parents>`, and the message below; parents first.
		for (const record of output.toString("utf8").split("\0").filter(Boolean).reverse()) {
			const end = record.indexOf("\n");
			const [id = "", seconds, parent = ""] = record.slice(0, end).split(" ");
			ids.push(id);
			dates.set(id, believedMs(Number(seconds) * 1_000, dates.get(parent) ?? 0, nowMs));
			if (tips !== servedRef) continue;
			for (const request of trailersOf(record.slice(end), "Request"))
				if (!first.has(request)) first.set(request, id);
		}
		return ids.reverse();
	};
	const list = async (tips: string, path: string) => {
		const words = ["--topo-order", "--full-history", "--full-diff", "--diff-merges=first-parent"];
		const listed: LoggedCommit[] = [];
		for await (const commit of readLog(repository, [...words, "--end-of-options", tips, "--", path]))
			listed.push(commit);
		return listed;
	};
	const read = async (tips: string): Promise<Commit[]> => {
		// Git uses the changed paths of the commit graph for one path only: two take as long as without a graph.
		const lists = Promise.all(paths.map((path) => list(tips, path)));
		const [listed, ids] = await Promise.all([lists, note(tips)]);
		const commits = new Map(listed.flat().map((commit) => [commit.id, commit]));
		return ids.flatMap((id) => {
			const logged = commits.get(id);
			if (!logged) return [];
			const files = logged.files.filter(({ path }) => path.startsWith("layers/"));
			const commit = { ...logged, files };
			return { ...commit, dateMs: dates.get(id) ?? 0, provenance: judgeProvenance(commit, first) };
		});
	};
	return { served: await read(servedRef), read };
}

/** A layer, or a sender: then the commits that claim to be that sender's. */
type Subject = { smallkey: string } | { sender: string };

function isAbout({ message, author, files }: Commit, subject: Subject): boolean {
	if ("smallkey" in subject)
		return files.some(({ path }) => parseLayerPath(path)?.smallkey === subject.smallkey);
	const { sender } = subject;
	return files.length > 0 && (trailersOf(message, "Sender").includes(sender) || author.name === sender);
}

/** Everything that happened to a layer, or that a sender did, declined changes among them, the newest first. */
async function readEntries(subject: Subject, { repository, sinceMs, nowMs }: AuditOptions) {
	const smallkey = "smallkey" in subject ? subject.smallkey : null;
	const paths = smallkey === null ? ["layers"] : [layerPath(smallkey), descriptionPath(smallkey)];
	const { served, read } = await readHistory(repository, paths, nowMs);
	const entries = served
		.filter((commit) => isAbout(commit, subject) && commit.dateMs >= sinceMs)
		.map((commit) => entryOf(commit, changesText(commit, smallkey)));
	for (const { commit: id, timeMs, reason } of await readReviews(repository, "declined")) {
		if (timeMs < sinceMs) continue;
		const range = await read(`${servedRef}..${id}`);
		const proposed = range.filter((commit) => isAbout(commit, subject));
		if (proposed.length === 0) continue;
		// The last commit of a declined branch only records who declined it, and changes no layer.
		for await (const commit of readCommits(repository, [id])) {
			const provenance = { isForged: false, lines: [`by ${personText(commit.committer)}: ${reason}`] };
			const declined = { ...commit, files: [], dateMs: timeMs, provenance };
			// The commits keep git's order.
			const place = entries.findIndex(({ dateMs }) => dateMs < timeMs);
			entries.splice(place < 0 ? entries.length : place, 0, entryOf(declined, "declined", proposed));
		}
	}
	return entries;
}

/** @param proposed the commits that a reviewer declined, the newest first */
function entryOf(commit: Commit, what: string, proposed: Commit[] = []) {
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

function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

const maxProposed = 10;

/** The newest commits of a waiting review, with their authors. */
export async function proposalLines(repository: string, commit: string, nowMs: number): Promise<string[]> {
	const { read } = await readHistory(repository, ["layers"], nowMs);
	const proposed = (await read(`${servedRef}..${commit}`)).filter(({ files }) => files.length > 0);
	const hidden = proposed.length - maxProposed;
	const lines = proposed.slice(0, maxProposed).flatMap(proposedLines);
	return hidden > 0 ? [...lines, `  and ${hidden} commits before`] : lines;
}

const maxKeys = 5;

/** What a commit did: `removed`, of one layer; otherwise `added a b, removed c`. */
function changesText(commit: Commit, smallkey: string | null): string {
	const { layers } = historyCommit(commit);
	if (smallkey !== null) return layers.find((layer) => layer.smallkey === smallkey)?.kind ?? "changed";
	const parts = ["added", "changed", "removed"].flatMap((verb) => {
		const keys = layers.flatMap((layer) => (layer.kind === verb ? layer.smallkey : []));
		return keys.length > 0 ? [`${verb} ${firstOf(keys, maxKeys)}`] : [];
	});
	return parts.join(", ") || "changed no layer";
}

/** Parses `7d`, or a date such as `2026-03-04`, into milliseconds since 1970. @throws {Error} */
function parseSince(text: string, now: Date): number {
	const span = parseSpan(text);
	if (span !== null) return now.getTime() - span;
	const timeMs = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
	if (Number.isNaN(timeMs)) throw new Error(`--since: must be a time such as 7d or 2026-03-04, not ${text}`);
	return timeMs;
}

/** @throws {Error} unless exactly one of them is given, and valid */
function parseSubject(smallkey: string | undefined, sender: string | undefined): Subject {
	if ((smallkey === undefined) === (sender === undefined)) {
		throw new Error("a smallkey, or --sender <id>: one of them is needed");
	}
	if (sender !== undefined) {
		if (isSenderId(sender)) return { sender };
		throw new Error(`--sender: an id must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
	}
	const key = parseSmallkey(smallkey ?? "");
	if (key === null) throw new Error(`smallkey: ${smallkeyRule}, not ${smallkey}`);
	return { smallkey: key };
}

export const run = createRun("audit", async ({ read, environment, io }) => {
	const [{ sender, since, repo }, smallkey] = await read((line) =>
		line
			.argument("[smallkey]", "the layer")
			.option("--sender <id>", "all that a sender has done, instead of one layer")
			.option("--since <time>", "only what is newer: 7d, or 2026-03-04")
			.option(...repoWords)
			.addHelpText("after", '\nWhat git cannot prove is in docs/operate.md, "Who did it".'),
	);
	const subject = parseSubject(smallkey, sender);
	const subjectName =
		"sender" in subject ? `the sender ${subject.sender}` : `the smallkey ${subject.smallkey}`;
	const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : parseSince(since, io.now());
	const nowMs = io.now().getTime();
	const settings = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(repo, settings.dataDir);
	io.warn(`Reading the history of ${subjectName} in ${name}`);
	if (await isShallow(repository)) io.warn("Only the end of its history is here: git fetch --unshallow");
	const entries = await readEntries(subject, { repository, sinceMs, nowMs });
	for (const entry of entries) io.print(`${entry.lines.join("\n")}\n`);
	if (entries.length === 0) {
		io.warn(`${subjectName}: nothing${since === undefined ? "" : ` since ${since}`} in ${name}`);
		return exitCodes.wrong;
	}
	const forged = entries.filter(({ isForged }) => isForged).length;
	const counts = [counted(entries.length, "change"), ...(forged > 0 ? [`${forged} forged`] : [])];
	io.print(counts.join(", "));
	return forged > 0 ? exitCodes.wrong : exitCodes.done;
});
