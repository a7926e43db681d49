// npx fragment-publisher audit: who changed the layers of a repository, from git alone
import { findRepository, readReviews, servedRef } from "../../../api/service/repository.ts";
import { parseSpan, readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { descriptionPath, layerPath, parseSmallkey, smallkeyRule } from "../../../registry/smallkey.ts";
import { counted, firstOf, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, parseSenderId } from "../../../scripts/terminal/command-line.ts";
import { historyCommit } from "../../../site/data/history.ts";
import {
	believedMs,
	isShallow,
	type LoggedCommit,
	maxAheadMs,
	personText,
	readLog,
	trailersOf,
} from "../../../store/git/commands/commits.ts";
import { judgeProvenance, type Provenance } from "../provenance.ts";
import { repoWords } from "../status.ts";

/** Its files are those below `layers/`. A user who may push can write anything into its texts. */
interface Commit extends LoggedCommit {
	/** When it was made, as far as its date can be believed, in milliseconds since 1970. */
	dateMs: number;
	provenance: Provenance;
}

type Filter = (commit: LoggedCommit) => boolean;

const maxAtOnce = 1_000;

/**
 * Reads the commits of the served branch, the newest first, and returns them with a function that reads those of another
 * branch. A merge is judged by what it changes in its first parent.
 * @param nowMs the clock: no date after it is believed
 * @param paths a filter gets only the changes of these paths
 */
async function readHistory(repository: string, nowMs: number, paths: readonly string[], isChosen: Filter) {
	/** Request id → the first commit of the served branch that has it: a later commit has copied it. */
	const first = new Map<string, string>();
	const dates = new Map<string, number>();
	const log = (...words: string[]) => readLog(repository, ["--diff-merges=first-parent", ...words]);
	const read = async (range: string, isMatch: Filter): Promise<Commit[]> => {
		const ids: string[] = [];
		// All commits, with their changes of some paths: all their changes take git three times as long.
		const order = ["--topo-order", "--reverse", "--full-history", "--sparse", "--end-of-options"];
		for await (const commit of log(...order, range, "--", ...paths)) {
			const { id, parents, committer, message } = commit;
			dates.set(id, believedMs(committer.timeMs, dates.get(parents[0] ?? "") ?? 0, nowMs));
			for (const request of range === servedRef ? trailersOf(message, "Request") : [])
				if (!first.has(request)) first.set(request, id);
			if (isMatch(commit)) ids.push(id);
		}
		const commits: Commit[] = [];
		while (ids.length > 0) {
			for await (const logged of log("--no-walk=unsorted", ...ids.splice(0, maxAtOnce))) {
				const files = logged.files.filter(({ path }) => path.startsWith("layers/"));
				const commit = { ...logged, files, dateMs: dates.get(logged.id) ?? 0 };
				commits.push({ ...commit, provenance: judgeProvenance(commit, first) });
			}
		}
		return commits.reverse();
	};
	return { served: await read(servedRef, isChosen), read };
}

/** What is looked for: a layer, or a sender, of whom each commit is listed that claims to be that sender's. */
interface Subject {
	name: string;
	smallkey: string | null;
	paths: readonly string[];
	isAbout: Filter;
}

/** @throws {Error} unless exactly one of them is given, and valid */
function parseSubject(text: string | undefined, sender: string | undefined): Subject {
	if ((text === undefined) === (sender === undefined))
		throw new Error("a smallkey, or --sender <id>: one of them is needed");
	if (sender !== undefined) {
		const isAbout = ({ message, author, files }: LoggedCommit) =>
			files.length > 0 && (trailersOf(message, "Sender").includes(sender) || author.name === sender);
		return { name: `the sender ${sender}`, smallkey: null, paths: ["layers"], isAbout };
	}
	const smallkey = parseSmallkey(text ?? "");
	if (smallkey === null) throw new Error(`smallkey: ${smallkeyRule}, not ${text}`);
	const paths = [layerPath(smallkey), descriptionPath(smallkey)];
	return { name: `the smallkey ${smallkey}`, smallkey, paths, isAbout: ({ files }) => files.length > 0 };
}

/** Everything that happened to a layer, or that a sender did, declined changes among them, the newest first. */
async function readEntries(
	repository: string,
	{ smallkey, paths, isAbout }: Subject,
	sinceMs: number,
	nowMs: number,
) {
	const { served, read } = await readHistory(repository, nowMs, paths, isAbout);
	const entries = served
		.filter(({ dateMs }) => dateMs >= sinceMs)
		.map((commit) => entryOf(commit, changesText(commit, smallkey)));
	for (const { commit: id, timeMs, reason } of await readReviews(repository, "declined")) {
		if (timeMs < sinceMs) continue;
		const range = await read(`${servedRef}..${id}`, (commit) => commit.id === id || isAbout(commit));
		// The last commit of a declined branch only records who declined it, and changes no layer.
		const [last, ...proposed] = range;
		if (!last || proposed.length === 0) continue;
		const provenance = { isForged: false, lines: [`by ${personText(last.committer)}: ${reason}`] };
		const entry = entryOf({ ...last, dateMs: timeMs, provenance }, "declined", proposed);
		// The commits keep git's order.
		const place = entries.findIndex(({ dateMs }) => dateMs < timeMs);
		entries.splice(place < 0 ? entries.length : place, 0, entry);
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
	const { read } = await readHistory(repository, nowMs, ["layers"], () => false);
	const proposed = await read(`${servedRef}..${commit}`, ({ files }) => files.length > 0);
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
function parseSince(text: string, nowMs: number): number {
	const span = parseSpan(text);
	if (span !== null) return nowMs - span;
	const timeMs = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
	if (Number.isNaN(timeMs)) throw new Error(`--since: must be a time such as 7d or 2026-03-04, not ${text}`);
	return timeMs;
}

export const run = createRun("audit", async ({ read, environment, io }) => {
	const [{ sender, since, repo }, smallkey] = await read((line) =>
		line
			.argument("[smallkey]", "the layer")
			.option("--sender <id>", "all that a sender has done, instead of one layer", parseSenderId)
			.option("--since <time>", "only what is newer: 7d, or 2026-03-04")
			.option(...repoWords)
			.addHelpText("after", '\nWhat git cannot prove is in docs/operate.md, "Who did it".'),
	);
	const subject = parseSubject(smallkey, sender);
	const nowMs = io.now().getTime();
	const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : parseSince(since, nowMs);
	const { dataDir } = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(repo, dataDir);
	io.warn(`Reading the history of ${subject.name} in ${name}`);
	if (await isShallow(repository)) io.warn("Only the end of its history is here: git fetch --unshallow");
	const entries = await readEntries(repository, subject, sinceMs, nowMs);
	for (const { lines } of entries) io.print(`${lines.join("\n")}\n`);
	if (entries.length === 0) {
		io.warn(`${subject.name}: nothing${since === undefined ? "" : ` since ${since}`} in ${name}`);
		return exitCodes.wrong;
	}
	const forged = entries.filter(({ isForged }) => isForged).length;
	io.print(`${counted(entries.length, "change")}${forged > 0 ? `, ${forged} forged` : ""}`);
	return forged > 0 ? exitCodes.wrong : exitCodes.done;
});
