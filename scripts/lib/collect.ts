import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import glob from "fast-glob";
import type { LayerFile } from "../../api/catalogue.ts";
import { largestRegistration } from "../../api/registration.ts";
import { CatFile } from "../../api/stores/git/cat-file.ts";
import { runGit } from "../../api/stores/git/run.ts";
import { kindOfMode, listTree, type PathChange, readBlob } from "../../api/stores/git/tree.ts";

/** Most files that are open at once. */
const atOnce = 64;

/** Largest service description that is read, in bytes. */
const largestDescription = 4 * 1024 * 1024;

/** Bytes of a file that are worth reading: one more than allowed tells that it is too large. */
export function limitOf(path: string): number {
	return (path.endsWith(".service.json") ? largestDescription : largestRegistration) + 1;
}

/** Sorts by path as git does: by the bytes of the UTF-8 text. */
function byPath(a: { path: string }, b: { path: string }): number {
	return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** Applies an asynchronous function to all items, a bounded number at a time; results in the items' order. */
export async function mapSome<T, R>(
	items: readonly T[],
	width: number,
	apply: (item: T) => Promise<R>,
): Promise<R[]> {
	const results = new Array<R>(items.length);
	let next = 0;
	const worker = async () => {
		for (let index = next++; index < items.length; index = next++) {
			results[index] = await apply(items[index] as T);
		}
	};
	await Promise.all(Array.from({ length: width }, worker));
	return results;
}

/**
 * Reads every file of a folder of layers, links and stray files too, sorted by path. The paths start with
 * `layers/`, whatever the folder is called.
 * @throws {Error} where there is no such folder
 */
export async function collectFolder(folder: string): Promise<LayerFile[]> {
	const found = await lstat(folder).catch(() => null);
	if (!found?.isDirectory()) throw new Error(`${folder}: is not a folder`);
	const options = {
		cwd: folder,
		dot: true,
		followSymbolicLinks: false,
		onlyFiles: false,
		objectMode: true,
	} as const;
	const entries = (await glob("**", options)).filter((entry) => !entry.dirent.isDirectory());
	const files = await mapSome(entries, atOnce, async (entry): Promise<LayerFile> => {
		const path = `layers/${entry.path}`;
		if (entry.dirent.isSymbolicLink()) return { path, kind: "symlink", bytes: new Uint8Array(0) };
		if (!entry.dirent.isFile()) return { path, kind: "other", bytes: new Uint8Array(0) };
		return { path, kind: "file", bytes: await readStart(join(folder, entry.path), limitOf(path)) };
	});
	return files.sort(byPath);
}

/** The first bytes of a file. */
async function readStart(path: string, most: number): Promise<Uint8Array> {
	const handle = await open(path);
	try {
		const { size } = await handle.stat();
		const buffer = Buffer.alloc(Math.min(size, most));
		const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
		return buffer.subarray(0, bytesRead);
	} finally {
		await handle.close();
	}
}

/** The id of the commit that a name stands for. @throws {Error} where there is none */
export async function resolveCommit(repository: string, ref: string): Promise<string> {
	const output = await runGit(repository, [
		"rev-parse",
		"--verify",
		"--quiet",
		"--end-of-options",
		`${ref}^{commit}`,
	]).catch(() => {
		throw new Error(`${repository}: has no commit ${ref}`);
	});
	return output.toString("latin1").trim();
}

/** Reads every file under `layers/` of one commit, sorted by path. */
export async function collectCommit(repository: string, commit: string): Promise<LayerFile[]> {
	return readEntries(repository, await listTree(repository, commit, "layers/"));
}

/** Reads the files of tree entries. */
export async function readEntries(repository: string, entries: PathChange[]): Promise<LayerFile[]> {
	const catFile = new CatFile(repository);
	try {
		return await mapSome(entries, atOnce * 4, async ({ path, mode, id }): Promise<LayerFile> => {
			const kind = kindOfMode(mode ?? "");
			if (kind !== "file" || id === null) return { path, kind, bytes: new Uint8Array(0) };
			return { path, kind, bytes: await readBlob(catFile, id) };
		});
	} finally {
		catFile.close();
	}
}
