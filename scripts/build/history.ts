import { runGit } from "../../api/git/run.ts";
import { parseLayerPath } from "../../registry/catalogue.ts";
import type { ChangeKind, CommitChanges } from "../../registry/index/changes.ts";

/**
 * The commits that touched layers, oldest first: those of the branch itself, where a merge counts as one commit.
 * @param from an earlier commit, which is left out with all before it; null: from the first one on
 * @returns null where the history is not whole here (a shallow clone), or `from` is not part of it
 */
export async function readHistory(
	repository: string,
	from: string | null,
	to: string,
): Promise<CommitChanges[] | null> {
	if (from === null && (await isShallow(repository))) return null;
	if (from !== null && !(await isAncestor(repository, from, to))) return null;
	const range = from === null ? to : `${from}..${to}`;
	const format = "--format=%x01%H %ct";
	const walk = ["log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--no-renames", "--root"];
	const output = await runGit(repository, [...walk, "--raw", "-z", format, range, "--", "layers"]);
	return parseLog(output.toString("utf8"));
}

async function isShallow(repository: string): Promise<boolean> {
	return (
		(await runGit(repository, ["rev-parse", "--is-shallow-repository"])).toString("latin1").trim() === "true"
	);
}

async function isAncestor(repository: string, from: string, to: string): Promise<boolean> {
	return runGit(repository, ["merge-base", "--is-ancestor", from, to]).then(
		() => true,
		() => false,
	);
}

/** Reads `git log --raw -z`: for each commit \x01<id> <seconds>, then :<modes> <ids> <status>\0<path>\0 for each file. */
function parseLog(text: string): CommitChanges[] {
	const commits: CommitChanges[] = [];
	for (const part of text.split("\x01").slice(1)) {
		const [head = "", ...fields] = part.split("\0");
		const [commit = "", seconds = ""] = head.trim().split(" ");
		const layers = readLayers(fields);
		if (layers.length > 0) commits.push({ commit, date: isoDate(Number(seconds)), layers });
	}
	return commits;
}

/** `2026-03-04T12:00:00Z` */
function isoDate(seconds: number): string {
	return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}

function readLayers(fields: readonly string[]): CommitChanges["layers"] {
	const kinds = new Map<string, ChangeKind>();
	for (let index = 0; index + 1 < fields.length; index += 2) {
		const status = (fields[index] as string).trimEnd().at(-1) ?? "";
		const name = parseLayerPath(fields[index + 1] as string);
		if (typeof name === "string") continue;
		// A layer comes and goes with its registration; its description alone changes it.
		const isWhole = name.kind === "registration";
		const kind = isWhole && status === "A" ? "added" : isWhole && status === "D" ? "removed" : "changed";
		if (isWhole || !kinds.has(name.smallkey)) kinds.set(name.smallkey, kind);
	}
	return [...kinds]
		.map(([smallkey, kind]) => ({ smallkey, kind }))
		.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
}

/** The last commit of each layer that changed. */
export function lastChanges(
	history: readonly CommitChanges[],
): Map<string, { commit: string; date: string }> {
	const last = new Map<string, { commit: string; date: string }>();
	for (const { commit, date, layers } of history) {
		for (const { smallkey } of layers) last.set(smallkey, { commit, date });
	}
	return last;
}
