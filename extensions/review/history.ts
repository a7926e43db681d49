import { layerPaths } from "../../registry/smallkey.ts";
import { firstOf } from "../../registry/untrusted.ts";
import { historyCommit } from "../../site/data/history.ts";
import {
	believedMs,
	type LoggedCommit,
	maxAheadMs,
	personText,
	readLog,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { servedRef } from "../harvest/repository.ts";
import { judgeProvenance, type Provenance } from "./provenance.ts";
import { indent } from "./terminal.ts";
import { readReviews, smallkeysOf } from "./waiting.ts";

/** A commit, or a declined review. A user who may push can write anything into its texts. */
interface Entry extends Provenance {
	id: string;
	/** As far as the commit's date can be believed, in milliseconds since 1970. */
	dateMs: number;
	what: string;
}

/** A layer, a sender (with what only claims to be the sender's), or all. */
export interface Subject {
	smallkey?: string | undefined;
	sender?: string | undefined;
}

/** Parents first: the date of a commit is compared with theirs. */
const order = ["--topo-order", "--reverse", "--full-history", "--sparse", "--end-of-options"];

class History {
	/** Request id → the first commit that has it: a later one has copied it. */
	readonly #first = new Map<string, string>();
	readonly #dates = new Map<string, number>();
	/** Merge → paths of files that none of its parents has so. */
	readonly #altered = new Map<string, string[]>();
	/** Ids of commits. */
	readonly #about = new Set<string>();

	constructor(
		readonly repository: string,
		readonly nowMs: number,
		readonly subject: Subject = {},
	) {}

	/** The newest first. A merge is judged by what it changes in its first parent. */
	async read(range: string): Promise<Entry[]> {
		const { smallkey } = this.subject;
		// With all files of each commit, git takes three times as long.
		const paths = smallkey === undefined ? ["layers"] : layerPaths(smallkey);
		const about: LoggedCommit[] = [];
		for await (const commit of this.#log([...order, range, "--", ...paths])) {
			const { id, parents, committer, message, files } = commit;
			const parentMs = this.#dates.get(parents[0] ?? "") ?? 0;
			this.#dates.set(id, believedMs(committer.timeMs, parentMs, this.nowMs));
			for (const request of trailersOf(message, "Request"))
				if (!this.#first.has(request)) this.#first.set(request, id);
			if (files.length === 0 || !this.#isAbout(commit)) continue;
			this.#about.add(id);
			about.push(commit);
		}
		const merges = about.flatMap(({ id, parents }) => (parents.length > 1 ? `${id}\n` : [])).join("");
		const words = ["--diff-merges=combined", "--no-walk=unsorted", "--stdin", "--", ...paths];
		if (merges !== "")
			for await (const { id, files } of readLog(this.repository, words, merges))
				this.#altered.set(
					id,
					files.map(({ path }) => path),
				);
		const entries: Entry[] = [];
		const ids = about.map(({ id }) => `${id}\n`).join("");
		const isPart = smallkey !== undefined && ids !== "";
		for await (const commit of isPart ? this.#log(["--no-walk=unsorted", "--stdin"], ids) : about)
			entries.push(this.#entryOf(commit));
		return entries.reverse();
	}

	/** A merge is about the sender whose commits it merges, too. */
	#isAbout({ author, message, parents }: LoggedCommit): boolean {
		const { sender } = this.subject;
		if (sender === undefined) return true;
		const isNamed = [author.name, ...trailersOf(message, "Sender")].includes(sender);
		return isNamed || parents.slice(1).some((id) => this.#about.has(id));
	}

	#log(words: readonly string[], input?: string): AsyncIterable<LoggedCommit> {
		return readLog(this.repository, ["--diff-merges=first-parent", ...words], input);
	}

	#entryOf(logged: LoggedCommit): Entry {
		const { id, committer, files } = logged;
		const commit = { ...logged, files: files.filter(({ path }) => path.startsWith("layers/")) };
		const dateMs = this.#dates.get(id) ?? 0;
		const { isForged, lines } = judgeProvenance(commit, this.#first);
		if (Math.abs(committer.timeMs - dateMs) > maxAheadMs)
			lines.unshift(`its own date, which cannot be, is ${timeText(committer.timeMs)}`);
		const altered = this.#altered.get(id) ?? [];
		if (altered.length > 0) lines.push(`changed in the merge itself: ${firstOf(altered, maxKeys)}`);
		return { id, dateMs, what: changesText(commit, this.subject), lines, isForged };
	}
}

/** Also has declined changes; the newest first. */
export async function readEntries(repository: string, nowMs: number, subject: Subject): Promise<Entry[]> {
	const history = new History(repository, nowMs, subject);
	const entries = await history.read(servedRef);
	const declined = await readReviews(repository, "declined");
	for (const { commit: id, timeMs: dateMs, author: name, mail, reason } of declined) {
		const proposed = await history.read(`${servedRef}..${id}`);
		if (proposed.length === 0) continue;
		const smallkeys = subject.smallkey === undefined ? await smallkeysOf(repository, id) : [];
		const what = ["declined", firstOf(smallkeys, maxKeys)].join(" ").trim();
		const lines = [`by ${personText({ name, mail })}: ${reason}`, ...proposed.flatMap(proposedLines)];
		entries.push({ id, dateMs, what, lines, isForged: proposed.some(({ isForged }) => isForged) });
	}
	return entries.sort((a, b) => b.dateMs - a.dateMs);
}

/** The newest commit first. */
export async function proposalLines(repository: string, commit: string, nowMs: number): Promise<string[]> {
	const history = new History(repository, nowMs);
	await history.read(servedRef);
	return indent((await history.read(`${servedRef}..${commit}`)).flatMap(proposedLines));
}

function proposedLines({ id, dateMs, lines }: Entry): string[] {
	return [`proposed ${id.slice(0, 12)} of ${timeText(dateMs)}`, ...indent(lines)];
}

export function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

const maxKeys = 5;

/** `removed`, of one layer; otherwise `added a b, removed c`. */
function changesText(commit: LoggedCommit, { smallkey }: Subject) {
	const { layers } = historyCommit(commit);
	if (smallkey !== undefined) return layers.find((layer) => layer.smallkey === smallkey)?.kind ?? "changed";
	const parts = ["added", "changed", "removed"].flatMap((verb) => {
		const keys = layers.flatMap((layer) => (layer.kind === verb ? layer.smallkey : []));
		return keys.length > 0 ? `${verb} ${firstOf(keys, maxKeys)}` : [];
	});
	return parts.join(", ") || "changed no layer";
}
