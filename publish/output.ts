import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bodyOf, type Entry } from "./entry.ts";
import type { Changes } from "./folder-thread.mjs";
import { FolderThread, type LayerBodies } from "./folder-thread.ts";
import { isCompanion, placeFile } from "./place-file.mjs";
import { otherFolders, type Slot, slotFolder, slotPath } from "./slots.ts";

/** What a build changed in its output folder. */
export interface Written {
	/** Files that are other now, and how many of them were not there before. */
	written: number;
	added: number;
	removed: number;
	unchanged: number;
}

/** Makes the folders of an output, and removes those of targets that are not built; whether no fragment is there. */
export function prepareOutput(out: string, slots: readonly Slot[]): boolean {
	for (const folder of otherFolders(slots)) rmSync(join(out, folder), { recursive: true, force: true });
	const folders = slots.map((slot) => join(out, slotFolder(slot)));
	for (const folder of folders) mkdirSync(folder, { recursive: true });
	return folders.every((folder) => readdirSync(folder).length === 0);
}

/** How a build writes. */
export interface WriteOptions {
	/** Whether the output had no fragment before. */
	isFresh: boolean;
	/** Called with the number of fragments that were looked at since the last call. */
	tick?: (fragments: number) => void;
}

/** Layers from which a second thread pays for its start, and those that are written at once. */
const minForThread = 1_000;
const layersAtOnce = 500;

/**
 * Brings the files of layers in step; those of many by two threads, each for a half of the slots.
 * @param layers null for one whose files go
 * @throws {Error} where a file cannot be written
 */
export async function writeLayers(
	out: string,
	slots: readonly Slot[],
	layers: ReadonlyMap<string, Entry | null>,
	{ isFresh, tick }: WriteOptions,
): Promise<Written> {
	const half = layers.size < minForThread ? slots.length : Math.ceil(slots.length / 2);
	const theirs = slots.slice(half);
	const thread = new FolderThread(out, theirs);
	const result: Written = { written: 0, added: 0, removed: 0, unchanged: 0 };
	const all = [...layers];
	try {
		for (let start = 0; start < all.length; start += layersAtOnce) {
			const some = all.slice(start, start + layersAtOnce);
			const bodies = some.map(([smallkey, entry]): LayerBodies => {
				return [smallkey, theirs.map((_, slot) => (entry ? bodyOf(entry, half + slot) : null))];
			});
			const report = theirs.length > 0 ? thread.write(bodies, isFresh) : null;
			await Promise.all([report, writeHere(some)]);
			const { reason = null, changes = {} } = (await report) ?? {};
			if (reason !== null) throw new Error(reason);
			add(result, changes);
			tick?.(some.length * slots.length);
		}
		return result;
	} finally {
		await thread.close();
	}

	async function writeHere(some: typeof all): Promise<void> {
		for (const [position, slot] of slots.slice(0, half).entries()) {
			for (const [smallkey, entry] of some) {
				const body = entry && bodyOf(entry, position);
				add(result, { [placeFile(out, slotPath(slot, smallkey), body, { isFresh })]: 1 });
			}
		}
	}
}

function add(result: Written, { same = 0, added = 0, changed = 0, removed = 0 }: Changes): void {
	result.written += added + changed;
	result.added += added;
	result.removed += removed;
	result.unchanged += same;
}

/** Removes the fragments of smallkeys that `isWanted` does not know; how many files went. */
export function removeStale(
	out: string,
	slots: readonly Slot[],
	isWanted: (smallkey: string) => boolean,
): number {
	let removed = 0;
	for (const slot of slots) {
		for (const name of readdirSync(join(out, slotFolder(slot)))) {
			if (isCompanion(name) || isWanted(name)) continue;
			placeFile(out, slotPath(slot, name), null);
			removed += 1;
		}
	}
	return removed;
}
