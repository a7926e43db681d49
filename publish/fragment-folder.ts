import { existsSync, mkdirSync, readFile } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pLimit from "p-limit";
import type { Fragment, TargetName } from "../registry/targets/facts.ts";
import { targetNames, targetOf } from "../registry/targets/table.ts";
import { etagOf } from "../store/hashes.ts";
import { isCompanion, type PlacedFile, placeFile, removeTemporaryFiles } from "./place-file.ts";
import { fragmentFolders, type RenderedLayer } from "./rendered.ts";

/** A build into that folder removes it. */
export function servedManifestPath(out: string): string {
	return `${out}.served`;
}

export function openFolder(out: string, targets: readonly TargetName[]) {
	const folders = fragmentFolders(targets);
	const others = targetNames.filter((name) => !targets.includes(name));

	function makeFolders(): boolean {
		return folders.filter((folder) => mkdirSync(join(out, folder), { recursive: true })).length > 0;
	}

	/** Lists the layers that have files; removes files of other targets and of killed processes. */
	async function list(): Promise<Set<string>> {
		for (const name of others) await rm(join(out, targetOf(name).doc), { recursive: true, force: true });
		makeFolders();
		removeTemporaryFiles(out);
		const listed = new Set<string>();
		for (const folder of folders) {
			for (const name of await readdir(join(out, folder))) {
				// A compressed copy may have lost its file.
				listed.add(isCompanion(name) ? name.replace(/\.[a-z]+$/, "") : name);
			}
		}
		return listed;
	}

	/** Null removes the files. @throws {Error} the first failure, after all files */
	function place(name: string, layer: RenderedLayer | null, isFresh = false): PlacedFile[] {
		const failures: unknown[] = [];
		const placed = folders.flatMap((folder, index) => {
			try {
				return placeFile(out, join(folder, name), layer?.fragments[index] ?? null, { isFresh });
			} catch (error) {
				failures.push(error);
				return [];
			}
		});
		if (failures.length > 0) throw failures[0];
		return placed;
	}

	return {
		out,
		folders,
		isMissing: () => folders.some((folder) => !existsSync(join(out, folder))),
		makeFolders,
		list,
		place,
		read: (folder: string, name: string) => readFragmentFile(join(out, folder, name)),
	};
}

/** Half the time of `node:fs/promises`. */
const read = promisify(readFile);

/** A process may have 1,024 open files. */
const readLimit = pLimit(64);

/**
 * Null if it is missing, empty or unreadable. Asynchronous: a disk that does not answer stops no other
 * request.
 * @throws {Error} if too many files are open: that says nothing about this one
 */
export async function readFragmentFile(path: string): Promise<Fragment | null> {
	const body = await readLimit(() => read(path)).catch((error: NodeJS.ErrnoException) => {
		if (error.code === "EMFILE" || error.code === "ENFILE") throw error;
		return null;
	});
	return body && body.length > 0 ? { body, etag: etagOf(body) } : null;
}
