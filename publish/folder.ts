import { existsSync, mkdirSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { targetNames, targetOf } from "../registry/targets/table.ts";
import { isCompanion, type PlacedFile, placeFile, removeTemporaryFiles } from "./place-file.ts";
import { type RenderedLayer, type Slot, slotFolder } from "./rendered.ts";

/** Where the manifest of a service is, beside its output folder. A build into that folder removes it. */
export function servedManifestPath(out: string): string {
	return `${out}.served`;
}

/** Opens a folder of rendered files: one for each layer and slot. */
export function openFolder(out: string, slots: readonly Slot[]) {
	const folders = slots.map(slotFolder);
	const others = targetNames.filter((name) => slots.every(({ target }) => target !== name));

	/** Makes the folders of all slots. @returns whether one of them was missing @throws {Error} if one cannot be made */
	function makeFolders(): boolean {
		return folders.filter((folder) => mkdirSync(join(out, folder), { recursive: true })).length > 0;
	}

	/**
	 * Lists the names of the layers that have files, and removes the files of other targets and of killed processes.
	 * @throws {Error} if the folder cannot be read or made
	 */
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

	/**
	 * Writes the files of a layer, or removes them if it is null. A file that fails stops no other one.
	 * @param isFresh whether the folders are empty and have no readers
	 * @throws {Error} the first failure
	 */
	function place(name: string, layer: RenderedLayer | null, isFresh = false): PlacedFile[] {
		const failures: unknown[] = [];
		const placed = folders.flatMap((folder, slot) => {
			try {
				return placeFile(out, join(folder, name), layer?.fragments[slot] ?? null, { isFresh });
			} catch (error) {
				failures.push(error);
				return [];
			}
		});
		if (failures.length > 0) throw failures[0];
		return placed;
	}

	return {
		folders,
		/** Whether a folder of a slot is missing. */
		isMissing: () => folders.some((folder) => !existsSync(join(out, folder))),
		makeFolders,
		list,
		place,
	};
}
