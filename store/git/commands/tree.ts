import type { LayerFile } from "../../../registry/judge.ts";
import { kindOfMode } from "../../reader.ts";
import { readObjects } from "./cat-file.ts";
import { readRecords, runGit } from "./run.ts";

/**
 * Reads files in the order of their entries. Links and submodules get empty content.
 * @param standIn the number of zero bytes that stand for the content of an entry; null: the content is read
 */
export async function readEntries(
	repository: string,
	entries: readonly PathChange[],
	standIn: (entry: PathChange) => number | null = () => null,
): Promise<LayerFile[]> {
	const zeros = (entry: PathChange) => (isPlain(entry) ? standIn(entry) : 0);
	const ids = entries.filter((entry) => zeros(entry) === null).map(({ id }) => id as string);
	const contents = new Map<string | null, Buffer>();
	for await (const blobs of readObjects(repository, "blob", ids))
		for (const { id, body } of blobs) contents.set(id, body);
	return entries.map((entry) => {
		const size = zeros(entry);
		const bytes = size === null ? (contents.get(entry.id) as Buffer) : new Uint8Array(size);
		return { path: entry.path, kind: kindOfMode(entry.mode ?? ""), bytes };
	});
}

/** The sizes of plain files in bytes, without reading them: id → size. */
export async function sizesOf(repository: string, entries: readonly PathChange[]) {
	const ids = new Set(entries.filter(isPlain).map(({ id }) => id));
	const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
	const output = await runGit(repository, args, { input: [...ids].map((id) => `${id}\n`) });
	// `<id> missing` has no size.
	const sizes = output.toString("latin1").matchAll(/^(\w+) (\d+)$/gm);
	return new Map(Array.from(sizes, ([, id = "", size]) => [id, Number(size)]));
}

function isPlain({ mode, id }: PathChange): boolean {
	return id !== null && kindOfMode(mode ?? "") === "file";
}

export interface PathChange {
	path: string;
	mode: string | null;
	id: string | null;
}

/** Sorted. Paths are parsed while git prints them, so that a hundred thousand do not block the event loop. */
export async function diffTree(
	repository: string,
	from: string,
	to: string,
	folder: string,
): Promise<PathChange[]> {
	const args = ["diff-tree", "-r", "-z", "--no-renames", from, to, "--", folder];
	const changes: PathChange[] = [];
	let head = "";
	// `:<mode> <mode> <id> <id> <status>\0<path>\0`
	for await (const texts of readRecords(repository, args)) {
		for (const text of texts) {
			const [, mode = "", , id = "", status] = head.split(" ");
			if (status === "D") changes.push({ path: text, mode: null, id: null });
			else if (head !== "") changes.push({ path: text, mode, id });
			head = head === "" ? text : "";
		}
	}
	return changes;
}

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

/** Small trees that have the same tree as an entry many times can make billions of paths. */
const maxPaths = 500_000;
const maxPathBytes = 64 << 20;

/** `diff-tree` keeps all paths in memory, and `ls-tree` none. @returns the reason to refuse a commit, or null */
export async function findTooMany(repository: string, commit: string): Promise<string | null> {
	let paths = 0;
	let bytes = 0;
	// `-t` prints folders, too: for folders without files `ls-tree` would run long without any output.
	for await (const names of readRecords(repository, ["ls-tree", "-r", "-t", "-z", "--name-only", commit])) {
		paths += names.length;
		for (const name of names) bytes += Buffer.byteLength(name);
		if (paths > maxPaths) return `commit ${commit} has more than ${maxPaths} files and folders`;
		if (bytes > maxPathBytes) return `commit ${commit} has paths of more than ${maxPathBytes} bytes in all`;
	}
	return null;
}
