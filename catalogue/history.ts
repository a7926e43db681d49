import { isSenderId } from "../api/senders.ts";
import { personText, type RawCommit, readCommits, trailersOf } from "../git/commits.ts";
import { runGit } from "../git/run.ts";
import type { PublicName } from "../registry/entries.ts";
import { healthPath, repairTrailer } from "../registry/health.ts";
import { parseLayerPath, parseSmallkey } from "../registry/smallkey.ts";
import { serviceIdentity } from "../store/store.ts";
import type { ChangeKind, CommitChanges } from "./changes.ts";

/** A commit on the branch that touched layers, or for which a repair was proposed. */
export interface HistoryCommit extends CommitChanges {
	/** Id of the sender whose request the service committed; null for a commit that arrived in another way. */
	sender: string | null;
	/** The smallkeys whose registration the commit wrote or deleted, not only their description. */
	registered: string[];
}

/** Each commit is followed by its files: `\x01<id> <seconds> <parents>\0`, `:<modes> <ids> <status>\0<path>\0`… */
const format = "--format=%x01%H %ct %P";

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
	// Without a path, git lists all commits of the range: the parent of the first one must be `from`.
	const range = from === null ? [to, "--", "layers"] : [`${from}..${to}`, "--"];
	const output = await runGit(repository, ["log", ...flags.split(" "), format, ...range]).catch(() => null);
	if (output === null) return null;
	const commits = parseLog(output.toString("utf8"));
	if (from !== null && commits[0]?.parent !== from) return null;
	const touchingCommits = commits.filter(({ layers, isHealth }) => layers.length > 0 || isHealth);
	const ids = touchingCommits.map(({ commit }) => commit);
	const found: HistoryCommit[] = [];
	let next = 0;
	for await (const one of readCommits(repository, ids)) {
		const { parent: _, isHealth, ...commit } = touchingCommits[next++] as ListedCommit;
		const repairs = isHealth ? repairsOf(one) : [];
		if (commit.layers.length === 0 && repairs.length === 0) continue;
		found.push({ ...commit, ...(repairs.length > 0 && { repairs }), sender: senderOf(one) });
	}
	return found;
}

/** The sender that the trailer names. Only commits of the service are read: a pushed commit may have any trailer. */
function senderOf({ committer, message }: RawCommit): string | null {
	const id = personText(committer) === serviceIdentity ? trailersOf(message, "Sender").at(-1) : undefined;
	return id !== undefined && isSenderId(id) ? id : null;
}

/** The smallkeys of the layers for which a commit of the service proposes repairs. */
function repairsOf({ committer, message }: RawCommit): string[] {
	if (personText(committer) !== serviceIdentity) return [];
	return trailersOf(message, repairTrailer).filter((smallkey) => parseSmallkey(smallkey) !== null);
}

/** A commit as `git log` lists it. */
type ListedCommit = Omit<HistoryCommit, "sender"> & {
	parent: string;
	/** Whether the commit changed the file on the layers' health. */
	isHealth: boolean;
};

async function isShallow(repository: string): Promise<boolean> {
	const answer = await runGit(repository, ["rev-parse", "--is-shallow-repository"]);
	return answer.toString("latin1").trim() === "true";
}

function parseLog(text: string): ListedCommit[] {
	return text.split("\x01").flatMap((part) => {
		const [head = "", ...fields] = part.split("\0");
		const match = /^([0-9a-f]{40,64}) (\d+) ?([0-9a-f]*)/.exec(head);
		if (!match) return [];
		const [, commit = "", seconds = "", parent = ""] = match;
		const isHealth = fields.includes(healthPath);
		return [{ commit, date: isoDate(Number(seconds)), parent, isHealth, ...readLayers(fields) }];
	});
}

/** `2026-03-04T12:00:00Z` */
function isoDate(seconds: number): string {
	return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function readLayers(fields: readonly string[]): Pick<HistoryCommit, "layers" | "registered"> {
	const kinds = new Map<string, ChangeKind>();
	const registered: string[] = [];
	for (let index = 0; index + 1 < fields.length; index += 2) {
		const status = (fields[index] as string).trimEnd().at(-1) ?? "";
		const name = parseLayerPath(fields[index + 1] as string);
		if (!name) continue;
		// A registration adds or removes a layer; a description alone only changes it.
		const isWhole = name.kind === "registration";
		const kind = isWhole && status === "A" ? "added" : isWhole && status === "D" ? "removed" : "changed";
		if (isWhole || !kinds.has(name.smallkey)) kinds.set(name.smallkey, kind);
		if (isWhole) registered.push(name.smallkey);
	}
	const layers = [...kinds]
		.map(([smallkey, kind]) => ({ smallkey, kind }))
		.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
	return { layers, registered };
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
 * @param nameOf the public name of a sender, by its id
 * @param before the public name for a layer before this history, which may change only the layer's description
 */
export function lastChanges(
	history: readonly HistoryCommit[],
	nameOf: (sender: string) => PublicName | null = () => null,
	before: (smallkey: string) => PublicName | null = () => null,
): Map<string, LastChange> {
	const last = new Map<string, LastChange>();
	for (const { commit, date, layers, registered, sender } of history) {
		const written = new Set(registered);
		for (const { smallkey } of layers) {
			const earlier = last.has(smallkey) ? (last.get(smallkey)?.sender ?? null) : before(smallkey);
			const name = sender === null ? null : nameOf(sender);
			last.set(smallkey, { changed: { commit, date }, sender: written.has(smallkey) ? name : earlier });
		}
	}
	return last;
}
