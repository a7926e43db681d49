import type { CatFile, GitObject } from "./cat-file.ts";
import { GitDamage, GitFailure, killGroup, outputOf, startGit } from "./run.ts";

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
 * The paths under `folder` that differ between two commits, sorted by path. They are taken as git prints them: a
 * hundred thousand hold nobody up.
 * @param most paths up to which there is an answer
 * @returns null where there are more
 */
export async function diffTree(
	repository: string,
	from: string,
	to: string,
	folder: string,
	most: number,
): Promise<PathChange[] | null>;
export async function diffTree(
	repository: string,
	from: string,
	to: string,
	folder: string,
): Promise<PathChange[]>;
export async function diffTree(
	repository: string,
	from: string,
	to: string,
	folder: string,
	most = Number.POSITIVE_INFINITY,
): Promise<PathChange[] | null> {
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
		if (changes.length > most) return null;
	}
	return changes;
}

/**
 * All paths under one folder, or several, in one commit, as changes from nothing, sorted by path.
 * @param most paths up to which there is an answer
 * @returns null where there are more
 */
export async function listTree(
	repository: string,
	commit: string,
	folder: string | readonly string[],
	most: number,
): Promise<PathChange[] | null>;
export async function listTree(
	repository: string,
	commit: string,
	folder: string | readonly string[],
): Promise<PathChange[]>;
export async function listTree(
	repository: string,
	commit: string,
	folder: string | readonly string[],
	most = Number.POSITIVE_INFINITY,
): Promise<PathChange[] | null> {
	const listed: PathChange[] = [];
	for await (const lines of readRecords(repository, [
		"ls-tree",
		"-r",
		"-z",
		commit,
		"--",
		...[folder].flat(),
	])) {
		for (const line of lines) {
			const tab = line.indexOf("\t");
			const [mode = "", , id = ""] = line.slice(0, tab).split(" ");
			listed.push({ path: line.slice(tab + 1), mode, id });
		}
		if (listed.length > most) return null;
	}
	return listed;
}

/**
 * What git prints between NUL characters, in portions as it comes. Who stops to listen ends the process.
 * @throws {GitFailure} with git's own words where it exits with another code than 0
 */
async function* readRecords(repository: string, args: string[]): AsyncGenerator<string[]> {
	const child = startGit(repository, args);
	let complaint = "";
	child.stderr.on("data", (data: Buffer) => {
		complaint += data;
	});
	child.stdin.on("error", () => undefined);
	child.stdin.end();
	const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
	let rest: Buffer = Buffer.alloc(0);
	try {
		for await (const chunk of outputOf(child, args[0] ?? "")) {
			const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
			const end = data.lastIndexOf(0) + 1;
			rest = data.subarray(end);
			if (end > 0) yield data.toString("utf8", 0, end - 1).split("\0");
		}
		const code = await closed;
		if (code !== 0) throw new GitFailure(`git ${args[0]}: ${complaint.trim() || `ended with ${code}`}`);
	} finally {
		killGroup(child);
	}
}

/** What git calls a file with this mode: only plain files hold layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (mode === "100644" || mode === "100755") return "file";
	return mode === "120000" ? "symlink" : "other";
}

/** The content of a blob. @throws {GitDamage} where the repository does not have it */
export async function readBlob(catFile: CatFile, id: string): Promise<Buffer> {
	const object = await catFile.read(id);
	if (!object) throw new GitDamage(`object ${id} is missing`);
	return object.body;
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
