// npx fragment-publisher audit: who changed the layers of a repository, from git alone

import { parseSpan, readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { descriptionPath, layerPath, parseSmallkey, smallkeyRule } from "../../../registry/smallkey.ts";
import { counted, firstOf, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, parseSenderId } from "../../../scripts/terminal/command-line.ts";
import { historyCommit } from "../../../site/data/history.ts";
import {
	believedMs,
	type LoggedCommit,
	maxAheadMs,
	personText,
	readLog,
	trailersOf,
} from "../../../store/git/commands/commits.ts";
import { findRepository, servedRef } from "../../harvest/repository.ts";
import { judgeProvenance, type Provenance } from "../provenance.ts";
import { indented } from "../status.ts";
import { readReviews } from "../waiting.ts";

/** A commit, or a declined review. A user who may push can write anything into its texts. */
interface Entry extends Provenance {
	id: string;
	/** When it was made, as far as its date can be believed, in milliseconds since 1970. */
	dateMs: number;
	what: string;
}

type IsAbout = (commit: LoggedCommit) => boolean;

/**
 * The result reads the commits of a range that change layers, the newest first. A merge is judged by what it changes in its
 * first parent.
 * @param nowMs the clock: no date after it is believed
 */
function openHistory(repository: string, nowMs: number, smallkey?: string) {
	/** Request id → the first commit that has it: a later commit has copied it. */
	const first = new Map<string, string>();
	const dates = new Map<string, number>();
	// All commits, those before first: a date is compared with that of its parent.
	const order = ["--topo-order", "--reverse", "--full-history", "--sparse", "--end-of-options"];
	// Without all other files of each commit, git takes a third of the time.
	const paths = smallkey === undefined ? ["layers"] : [layerPath(smallkey), descriptionPath(smallkey)];
	const log = (words: readonly string[], input?: string) =>
		readLog(repository, ["--diff-merges=first-parent", ...words], input);

	async function* whole(commits: readonly LoggedCommit[]): AsyncGenerator<LoggedCommit> {
		if (smallkey === undefined || commits.length === 0) return yield* commits;
		yield* log(["--no-walk=unsorted", "--stdin"], commits.map(({ id }) => `${id}\n`).join(""));
	}

	return async (range: string, isAbout: IsAbout = () => true): Promise<Entry[]> => {
		const about: LoggedCommit[] = [];
		for await (const commit of log([...order, range, "--", ...paths])) {
			const { id, parents, committer, message, files } = commit;
			const dateMs = believedMs(committer.timeMs, dates.get(parents[0] ?? "") ?? 0, nowMs);
			dates.set(id, dateMs);
			for (const request of trailersOf(message, "Request")) if (!first.has(request)) first.set(request, id);
			if (files.length > 0 && isAbout(commit)) about.push(commit);
		}
		const entries: Entry[] = [];
		for await (const logged of whole(about)) {
			const { id, committer } = logged;
			const commit = { ...logged, files: logged.files.filter(({ path }) => path.startsWith("layers/")) };
			const dateMs = dates.get(id) ?? 0;
			const { isForged, lines } = judgeProvenance(commit, first);
			if (Math.abs(committer.timeMs - dateMs) > maxAheadMs)
				lines.unshift(`its own date, which cannot be, is ${timeText(committer.timeMs)}`);
			entries.push({ id, dateMs, what: changesText(commit, smallkey), lines, isForged });
		}
		return entries.reverse();
	};
}

/**
 * Everything that happened to a layer, or that a sender did, declined changes among them, the newest first.
 * @param sender also what only claims to be the sender's
 */
async function readEntries(repository: string, nowMs: number, smallkey?: string, sender?: string) {
	const isAbout: IsAbout = ({ author, message }) =>
		sender === undefined || author.name === sender || trailersOf(message, "Sender").includes(sender);
	const read = openHistory(repository, nowMs, smallkey);
	const entries = await read(servedRef, isAbout);
	const declined = await readReviews(repository, "declined");
	for (const { commit: id, timeMs: dateMs, author: name, mail, reason } of declined) {
		const proposed = await read(`${servedRef}..${id}`, isAbout);
		const lines = [`by ${personText({ name, mail })}: ${reason}`, ...proposed.flatMap(proposedLines)];
		const isForged = proposed.some((commit) => commit.isForged);
		if (proposed.length > 0) entries.push({ id, dateMs, what: "declined", lines, isForged });
	}
	return entries.sort((a, b) => b.dateMs - a.dateMs);
}

function proposedLines({ id, dateMs, lines }: Entry): string[] {
	return [`proposed ${id.slice(0, 12)} of ${timeText(dateMs)}`, ...indented(lines)];
}

function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

/** The commits of a waiting review, with their authors, the newest first. */
export async function proposalLines(repository: string, commit: string, nowMs: number): Promise<string[]> {
	const read = openHistory(repository, nowMs);
	await read(servedRef);
	return indented((await read(`${servedRef}..${commit}`)).flatMap(proposedLines));
}

const maxKeys = 5;

/** What a commit did: `removed`, of one layer; otherwise `added a b, removed c`. */
function changesText(commit: LoggedCommit, smallkey: string | undefined): string {
	const { layers } = historyCommit(commit);
	if (smallkey !== undefined) return layers.find((layer) => layer.smallkey === smallkey)?.kind ?? "changed";
	const parts = ["added", "changed", "removed"].flatMap((verb) => {
		const keys = layers.flatMap((layer) => (layer.kind === verb ? layer.smallkey : []));
		return keys.length > 0 ? `${verb} ${firstOf(keys, maxKeys)}` : [];
	});
	return parts.join(", ") || "changed no layer";
}

/** Parses `7d`, or a date such as `2026-03-04`, into milliseconds since 1970. @throws {Error} */
function parseSince(text: string, nowMs: number): number {
	const span = parseSpan(text);
	if (span !== null) return nowMs - span;
	const timeMs = Date.parse(text);
	if (/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) && !Number.isNaN(timeMs)) return timeMs;
	throw new Error(`--since: must be a time such as 7d or 2026-03-04, not ${text}`);
}

export const run = createRun(async ({ read, environment, io }) => {
	const [{ sender, since }, smallkey] = await read((line) =>
		line
			.argument("[smallkey]", "the layer")
			.option("--sender <id>", "all that a sender has done, instead of one layer", parseSenderId)
			.option("--since <time>", "only what is newer: 7d, or 2026-03-04")
			.addHelpText("after", '\nWhat git cannot prove is in docs/operate.md, "Who did it".'),
	);
	if ((smallkey === undefined) === (sender === undefined))
		throw new Error("a smallkey, or --sender <id>: one of them is needed");
	if (smallkey !== undefined && !parseSmallkey(smallkey))
		throw new Error(`smallkey: ${smallkeyRule}, not ${smallkey}`);
	const nowMs = io.now().getTime();
	const sinceMs = since === undefined ? Number.NEGATIVE_INFINITY : parseSince(since, nowMs);
	const { dataDir } = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(dataDir);
	const who = sender === undefined ? `the smallkey ${smallkey}` : `the sender ${sender}`;
	const all = await readEntries(repository, nowMs, smallkey, sender);
	const entries = all.filter(({ dateMs }) => dateMs >= sinceMs);
	for (const { id, dateMs, what, lines } of entries) {
		const head = `${timeText(dateMs)}  ${id.slice(0, 12)}  ${what}`;
		io.print(`${[head, ...indented(lines)].map(plain).join("\n")}\n`);
	}
	if (entries.length === 0) {
		io.warn(`${who}: nothing${since === undefined ? "" : ` since ${since}`} in ${name}`);
		return exitCodes.wrong;
	}
	const forged = entries.filter(({ isForged }) => isForged).length;
	io.print(`${counted(entries.length, "change")}${forged > 0 ? `, ${forged} forged` : ""}`);
	return forged > 0 ? exitCodes.wrong : exitCodes.done;
});
