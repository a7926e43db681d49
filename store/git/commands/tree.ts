import type { EditedFile, LayerFile } from "../../../registry/judge.ts";
import { maxBytesOf } from "../../../registry/registration.ts";
import { kindOfMode } from "../../reader.ts";
import { readObjects } from "./cat-file.ts";
import { readRecords } from "./run.ts";

/** In the order of the entries. Links and submodules get empty content. */
export async function readEntries(repository: string, entries: readonly PathChange[]): Promise<LayerFile[]> {
	const files: LayerFile[] = [];
	for await (const file of readFiles(repository, entries, new Map())) if ("bytes" in file) files.push(file);
	return files;
}

/**
 * In the order of the entries, with removed files. Zeros stand for the content of a file over its limit, or
 * outside `layers/`.
 */
export async function* readLimited(repository: string, entries: readonly PathChange[]) {
	const plain = entries.filter(isPlain);
	const ids = new Set(plain.map(({ id }) => `${id}\n`));
	const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
	const sizes = new Map<string | null, number>();
	for await (const line of readRecords(repository, args, "\n", { input: [...ids] })) {
		// `<id> missing` has no size.
		const [id = "", size] = line.split(" ");
		sizes.set(id, Number(size));
	}
	const zeros = new Map<PathChange, number>();
	for (const entry of plain) {
		const max = maxBytesOf(entry.path);
		if ((sizes.get(entry.id) ?? 0) > max) zeros.set(entry, max + 1);
		else if (!entry.path.startsWith("layers/")) zeros.set(entry, 0);
	}
	yield* readFiles(repository, entries, zeros);
}

/** @param zeros how many stand for the content of an entry */
async function* readFiles(
	repository: string,
	entries: readonly PathChange[],
	zeros: ReadonlyMap<PathChange, number>,
): AsyncGenerator<EditedFile> {
	const isRead = (entry: PathChange) => isPlain(entry) && !zeros.has(entry);
	const ids = entries.filter(isRead).map(({ id }) => id as string);
	const blobs = readObjects(repository, "blob", ids);
	try {
		for (const entry of entries) {
			const { path, mode } = entry;
			if (mode === null) yield { path, kind: "removed" };
			else {
				const bytes = isRead(entry) ? (await blobs.next()).value.body : new Uint8Array(zeros.get(entry) ?? 0);
				yield { path, kind: kindOfMode(mode), bytes };
			}
		}
	} finally {
		await blobs.return(undefined);
	}
}

function isPlain({ mode }: PathChange): boolean {
	return kindOfMode(mode ?? "") === "file";
}

export interface PathChange {
	path: string;
	mode: string | null;
	id: string | null;
}

/** Sorted. Parsed while git prints, so that 100,000 paths do not block the event loop. */
export async function diffTree(repository: string, from: string, to: string, folder: string) {
	const args = ["diff-tree", "-r", "-z", "--no-renames", from, to, "--", folder];
	const changes: PathChange[] = [];
	let head = "";
	// `:<mode> <mode> <id> <id> <status>\0<path>\0`
	for await (const text of readRecords(repository, args)) {
		const [, mode = "", , id = "", status] = head.split(" ");
		if (status === "D") changes.push({ path: text, mode: null, id: null });
		else if (head !== "") changes.push({ path: text, mode, id });
		head = head === "" ? text : "";
	}
	return changes;
}

export async function listTree(repository: string, commit: string, folder: string | readonly string[]) {
	const args = ["ls-tree", "-r", "-z", commit, "--", ...[folder].flat()];
	const listed: PathChange[] = [];
	for await (const line of readRecords(repository, args)) {
		const tab = line.indexOf("\t");
		const [mode = "", , id = ""] = line.slice(0, tab).split(" ");
		listed.push({ path: line.slice(tab + 1), mode, id });
	}
	return listed;
}

/** A small tree that repeats one subtree can have billions of paths. */
const maxPaths = 500_000;
const maxPathBytes = 64 << 20;

/** `diff-tree` keeps all paths in memory, and `ls-tree` none. @returns the reason to refuse a commit, or null */
export async function findTooMany(repository: string, commit: string): Promise<string | null> {
	let paths = 0;
	let bytes = 0;
	// `-t` prints folders, too: without files `ls-tree` would run long without any output.
	for await (const name of readRecords(repository, ["ls-tree", "-r", "-t", "-z", "--name-only", commit])) {
		paths += 1;
		bytes += Buffer.byteLength(name);
		if (paths > maxPaths) return `commit ${commit} has more than ${maxPaths} files and folders`;
		if (bytes > maxPathBytes) return `commit ${commit} has paths of more than ${maxPathBytes} bytes in all`;
	}
	return null;
}
