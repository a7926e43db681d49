import type { GitObject } from "./cat-file.ts";
import { readRecords } from "./run.ts";

/** A name in a tree: how it is kept, and what it holds. */
export interface TreeEntry {
	/** Mode of the file, such as `100644`. */
	mode: string;
	id: string;
}

/** What became of one path between two commits. */
export interface PathChange {
	path: string;
	/** Mode of the file now, such as `100644`; null where it is gone. */
	mode: string | null;
	/** Id of its content now; null where it is gone. */
	id: string | null;
}

/**
 * The paths under `folder` that differ between two commits, sorted by path. They are parsed as git prints them: a
 * hundred thousand do not block the event loop.
 */
export async function diffTree(
	repository: string,
	from: string,
	to: string,
	folder: string,
): Promise<PathChange[]> {
	const args = ["diff-tree", "-r", "-z", "--no-renames", from, to, "--", folder];
	const changes: PathChange[] = [];
	let fields: string[] | null = null;
	// git's raw diff format with `-z`: `:<mode> <mode> <id> <id> <status>\0<path>\0`.
	for await (const texts of readRecords(repository, args)) {
		for (const text of texts) {
			if (fields === null) {
				fields = text.slice(1).split(" ");
				continue;
			}
			const [, mode = "", , id = "", status = ""] = fields;
			const isGone = status === "D";
			changes.push({ path: text, mode: isGone ? null : mode, id: isGone ? null : id });
			fields = null;
		}
	}
	return changes;
}

/** All paths under one folder, or several, in one commit, as changes from nothing, sorted by path. */
export async function listTree(
	repository: string,
	commit: string,
	folder: string | readonly string[],
): Promise<PathChange[]> {
	const args = ["ls-tree", "-r", "-z", commit, "--", ...[folder].flat()];
	const listed: PathChange[] = [];
	for await (const lines of readRecords(repository, args)) {
		for (const line of lines) {
			const tab = line.indexOf("\t");
			const [mode = "", , id = ""] = line.slice(0, tab).split(" ");
			listed.push({ path: line.slice(tab + 1), mode, id });
		}
	}
	return listed;
}

/** Files and folders of one commit, and the bytes of their paths: one small tree that holds another again and again makes billions. */
const maxPaths = 500_000;
const maxPathBytes = 64 << 20;

/**
 * Why a commit has too many files for git to compare: `diff-tree` keeps every path in memory before it prints one, and
 * this walk none.
 * @returns null where it has not
 */
export async function findTooMany(repository: string, commit: string): Promise<string | null> {
	let paths = 0;
	let bytes = 0;
	// Folders too: those without files would be walked without a word.
	for await (const names of readRecords(repository, ["ls-tree", "-r", "-t", "-z", "--name-only", commit])) {
		paths += names.length;
		for (const name of names) bytes += name.length;
		if (paths > maxPaths) return `commit ${commit} has more than ${maxPaths} files and folders`;
		if (bytes > maxPathBytes) return `commit ${commit} has paths of more than ${maxPathBytes} bytes in all`;
	}
	return null;
}

/** What git calls a file with this mode: only plain files hold layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (mode === "100644" || mode === "100755") return "file";
	return mode === "120000" ? "symlink" : "other";
}

/** The mode of a folder in a tree. */
export const folderMode = "40000";

/**
 * The entries of a tree object by their names, in its order: `<mode> <name>\0<id>`, the id in bytes
 * (Pro Git, "Git Objects").
 */
export function parseTree({ id, body }: GitObject): Map<string, TreeEntry> {
	const entries = new Map<string, TreeEntry>();
	for (let start = 0; start < body.length; ) {
		const space = body.indexOf(0x20, start);
		const end = body.indexOf(0, space);
		// A repository has ids of one length.
		const next = end + 1 + id.length / 2;
		const mode = body.toString("latin1", start, space);
		entries.set(body.toString("utf8", space + 1, end), { mode, id: body.toString("hex", end + 1, next) });
		start = next;
	}
	return entries;
}
