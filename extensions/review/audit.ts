import { readReviews, servedRef } from "../../api/service/repository.ts";
import { descriptionPath, layerPath, parseLayerPath } from "../../registry/smallkey.ts";
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
import { runGit } from "../../store/git/commands/run.ts";
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

interface AuditEntry {
	dateMs: number;
	lines: string[];
	isForged: boolean;
}

/**
 * Reads the commits of the served branch that change some paths, the newest first, and returns them with a function that
 * reads those of another branch. A merge is judged by what it changes in its first parent.
 */
async function readHistory(repository: string, paths: readonly string[], nowMs = Date.now()) {
	/** Request id → the first commit of the served branch that has it: a later commit has copied it. */
	const first = new Map<string, string>();
	const dates = new Map<string, number>();
	/** Notes the dates, and of the served branch the requests, of all commits of a range, without their changes. */
	const note = async (tips: string) => {
		// Without `--encoding=none`, git converts a message by the `encoding` header of its commit.
		const words = ["log", "--topo-order", "--encoding=none", "-z", "--format=%H %ct %P%n%B"];
		const output = await runGit(repository, [...words, "--end-of-options", tips, "--"]);
		// `<id> <seconds> <parents>`, and the message below; parents first.
		for (const record of output.toString("utf8").split("\0").filter(Boolean).reverse()) {
			const end = record.indexOf("\n");
			const [id = "", seconds, parent = ""] = record.slice(0, end).split(" ");
			dates.set(id, believedMs(Number(seconds) * 1_000, dates.get(parent) ?? 0, nowMs));
			if (tips !== servedRef) continue;
			for (const request of trailersOf(record.slice(end), "Request"))
				if (!first.has(request)) first.set(request, id);
		}
	};
	const read = async (tips: string) => {
		const words = ["--topo-order", "--full-history", "--full-diff", "--diff-merges=first-parent"];
		const range = [...words, "--end-of-options", tips, "--", ...paths];
		const logged: LoggedCommit[] = [];
		const listed = (async () => {
			for await (const commit of readLog(repository, range)) logged.push(commit);
		})();
		await Promise.all([listed, note(tips)]);
		return logged.map((commit): Commit => {
			const files = commit.files.filter(({ path }) => path.startsWith("layers/"));
			const layers = { ...commit, files };
			return { ...layers, dateMs: dates.get(commit.id) ?? 0, provenance: judgeProvenance(layers, first) };
		});
	};
	return { served: await read(servedRef), read };
}

/** Everything that happened to a layer, the newest first. */
export function auditLayer(smallkey: string, options: AuditOptions): Promise<AuditEntry[]> {
	const paths = [layerPath(smallkey), descriptionPath(smallkey)];
	const isOf = ({ files }: Commit) => files.some(({ path }) => parseLayerPath(path)?.smallkey === smallkey);
	return auditWhere(isOf, options, paths, smallkey);
}

/** All commits that claim to be a sender's, declined ones among them, the newest first. */
export function auditSender(sender: string, options: AuditOptions): Promise<AuditEntry[]> {
	const isOf = ({ message, author, files }: Commit) =>
		files.length > 0 && (trailersOf(message, "Sender").includes(sender) || author.name === sender);
	return auditWhere(isOf, options, ["layers"]);
}

async function auditWhere(
	isOf: (commit: Commit) => boolean,
	{ repository, sinceMs, nowMs }: AuditOptions,
	paths: readonly string[],
	smallkey?: string,
) {
	const { served, read } = await readHistory(repository, paths, nowMs);
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

function timeText(timeMs: number): string {
	return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

const maxProposed = 10;

/** The newest commits of a waiting review, with their authors. */
export async function proposalLines(repository: string, commit: string): Promise<string[]> {
	const { read } = await readHistory(repository, ["layers"]);
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
