import type { CatFile } from "./cat-file.ts";
import { runGit } from "./run.ts";

/**
 * The names in a tree object, in git's order: `<mode> <name>\0<20 or 32 bytes of id>`. Only the ids that are asked for
 * are turned into hex: a tree of a thousand names is read for one of them.
 */
export function parseTree(body: Buffer, idBytes = 20): Map<string, () => string> {
	const ids = new Map<string, () => string>();
	let offset = 0;
	while (offset < body.length) {
		const space = body.indexOf(0x20, offset);
		const end = body.indexOf(0, space);
		ids.set(body.toString("utf8", space + 1, end), () => body.toString("hex", end + 1, end + 1 + idBytes));
		offset = end + 1 + idBytes;
	}
	return ids;
}

/** What became of one path between two commits. */
export interface PathChange {
	path: string;
	/** Mode of the file now, such as `100644`; null where it is gone. */
	mode: string | null;
	/** Id of its content now; null where it is gone. */
	id: string | null;
}

/** The paths under `folder` that differ between two commits. */
export async function diffTree(
	repository: string,
	from: string,
	to: string,
	folder: string,
): Promise<PathChange[]> {
	const args = ["diff-tree", "-r", "-z", "--no-renames", from, to, "--", folder];
	return parseRawDiff((await runGit(repository, args)).toString("utf8"));
}

/** Reads git's raw diff format with `-z`: `:<mode> <mode> <id> <id> <status>\0<path>\0`. */
function parseRawDiff(text: string): PathChange[] {
	const fields = text.split("\0");
	const changes: PathChange[] = [];
	for (let index = 0; index + 1 < fields.length; index += 2) {
		const [, mode = "", , id = "", status = ""] = (fields[index] as string).slice(1).split(" ");
		const path = fields[index + 1] as string;
		const gone = status === "D";
		changes.push({ path, mode: gone ? null : mode, id: gone ? null : id });
	}
	return changes;
}

/** All paths under `folder` in one commit, as changes from nothing, sorted by path. */
export async function listTree(repository: string, commit: string, folder: string): Promise<PathChange[]> {
	const output = await runGit(repository, ["ls-tree", "-r", "-z", commit, "--", folder]);
	const lines = output.toString("utf8").split("\0").filter(Boolean);
	return lines.map((line) => {
		const tab = line.indexOf("\t");
		const [mode = "", , id = ""] = line.slice(0, tab).split(" ");
		return { path: line.slice(tab + 1), mode, id };
	});
}

/** What git calls a file with this mode: only plain files hold layers. */
export function kindOfMode(mode: string): "file" | "symlink" | "other" {
	if (mode === "100644" || mode === "100755") return "file";
	return mode === "120000" ? "symlink" : "other";
}

/** The content of a blob. @throws {Error} where the repository does not have it */
export async function readBlob(catFile: CatFile, id: string): Promise<Buffer> {
	const object = await catFile.read(id);
	if (!object) throw new Error(`object ${id} is missing`);
	return object.body;
}
