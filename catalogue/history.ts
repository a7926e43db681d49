import { isSenderId } from "../api/senders.ts";
import { personText, type RawCommit, readCommits, trailersOf } from "../git/commits.ts";
import { runGit } from "../git/run.ts";
import type { Entry, PublicName } from "../registry/entries.ts";
import { healthPath, repairTrailer } from "../registry/health.ts";
import { parseLayerPath, parseSmallkey } from "../registry/smallkey.ts";
import { serviceIdentity } from "../store/store.ts";
import type { ChangeKind, CommitChanges } from "./changes.ts";

/** A commit on the branch that touched layers, or for which a repair was proposed. */
export interface HistoryCommit extends CommitChanges {
	/** Id of the sender whose request the service committed; null for a commit that arrived in another way. */
	sender: string | null;
	/** The smallkeys whose registration the commit wrote or deleted, not only their description. */
	registered: ReadonlySet<string>;
}

const flags = "--first-parent --diff-merges=first-parent --reverse --no-renames --root --raw -z";

/**
 * Reads the commits that touched layers, oldest first: first parents only, so a merge is one commit.
 * @param from full id of an earlier commit, which is excluded with all commits before it; null: from the first commit
 * @returns null if the repository is a shallow clone, or if the first parents of `to` do not include `from`
 */
export async function readHistory(
	repository: string,
	from: string | null,
	to: string,
): Promise<HistoryCommit[] | null> {
	if (from === to) return [];
	if (from === null && (await isShallow(repository))) return null;
	const range = from === null ? [to, "--", "layers"] : [`${from}..${to}`, "--"];
	const output = await runGit(repository, ["log", ...flags.split(" "), "--format=%H %ct", ...range]).catch(
		() => null,
	);
	if (output === null) return null;
	const listed = parseLog(output.toString("utf8"));
	const found: HistoryCommit[] = [];
	let before = from;
	for await (const commit of readCommits(repository, [...listed.keys()])) {
		// Without a path, git lists all commits of the range.
		if (before !== null && commit.parents[0] !== before) return null;
		if (before !== null) before = commit.id;
		const touching = historyCommit(commit, listed.get(commit.id) as ListedCommit);
		if (touching.layers.length > 0 || touching.repairs) found.push(touching);
	}
	return before !== null && before === from ? null : found;
}

/** Whether a clone has only the newest part of its history. */
export async function isShallow(repository: string): Promise<boolean> {
	const answer = await runGit(repository, ["rev-parse", "--is-shallow-repository"]);
	return answer.toString("latin1").trim() === "true";
}

/** A commit as `git log` lists it. */
interface ListedCommit {
	/** When it was committed, in seconds since 1970. */
	seconds: number;
	files: { status: string; path: string }[];
}

/** Parses `<id> <seconds>\0` of each commit, with `:<modes> <ids> <status>\0<path>\0` of each of its files, by id. */
function parseLog(text: string): Map<string, ListedCommit> {
	const commits = new Map<string, ListedCommit>();
	let files: ListedCommit["files"] = [];
	const fields = text.split("\0").values();
	for (const field of fields) {
		const [first = "", second = ""] = field.trim().split(" ");
		if (first.startsWith(":")) {
			files.push({ status: field.at(-1) as string, path: fields.next().value as string });
		} else if (first) {
			files = [];
			commits.set(first, { seconds: Number(second), files });
		}
	}
	return commits;
}

function historyCommit(
	{ id, committer, message }: RawCommit,
	{ seconds, files }: ListedCommit,
): HistoryCommit {
	const kinds = new Map<string, ChangeKind>();
	const registered = new Set<string>();
	for (const { status, path } of files) {
		const name = parseLayerPath(path);
		if (!name) continue;
		// A registration adds or removes a layer; a description alone only changes it.
		const isWhole = name.kind === "registration";
		const kind = isWhole && status === "A" ? "added" : isWhole && status === "D" ? "removed" : "changed";
		if (isWhole || !kinds.has(name.smallkey)) kinds.set(name.smallkey, kind);
		if (isWhole) registered.add(name.smallkey);
	}
	// Only trailers of the service's commits are read: a pushed commit may have any trailer.
	const isOurs = personText(committer) === serviceIdentity;
	const valuesOf = (trailer: string) => (isOurs ? trailersOf(message, trailer) : []);
	const isHealth = files.some(({ path }) => path === healthPath);
	const repairs = isHealth ? valuesOf(repairTrailer).filter((smallkey) => parseSmallkey(smallkey)) : [];
	const sender = valuesOf("Sender").at(-1) ?? "";
	const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
	return {
		commit: id,
		date: `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`,
		layers: sorted.map(([smallkey, kind]) => ({ smallkey, kind })),
		...(repairs.length > 0 && { repairs }),
		registered,
		sender: isSenderId(sender) ? sender : null,
	};
}

/** A layer's last change, as the history has it. */
export interface LastChange {
	/** The last commit that changed it. */
	changed: { commit: string; date: string };
	/** Public name of the sender who registered it last; null without a public name, or if no sender registered it. */
	sender: PublicName | null;
}

/**
 * The last change of each layer that the history touched.
 * @param names sender's id → public name
 * @param before layers before this history, which may change only the description of a layer, or none of its files
 */
export function lastChanges(
	history: readonly HistoryCommit[],
	names: Readonly<Record<string, PublicName>> = {},
	before: Iterable<Entry> = [],
): Map<string, LastChange> {
	const last = new Map<string, LastChange>();
	for (const { smallkey, changed, sender = null } of before) {
		if (changed) last.set(smallkey, { changed, sender });
	}
	for (const { commit, date, layers, registered, sender } of history) {
		const name = sender !== null && Object.hasOwn(names, sender) ? (names[sender] ?? null) : null;
		for (const { smallkey } of layers) {
			const known = registered.has(smallkey) ? name : (last.get(smallkey)?.sender ?? null);
			last.set(smallkey, { changed: { commit, date }, sender: known });
		}
	}
	return last;
}
