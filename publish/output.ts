import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isCompanion, placeFile } from "./place-file.mjs";
import { otherFolders, type Slot, slotFolder, slotPath } from "./slots.ts";

/**
 * One rendered fragment: its path below the output folder, such as `v0.9/doc/en/23ax5t`, and its bytes; null where the
 * layer has none.
 */
export type Rendered = readonly [path: string, bytes: Uint8Array | null];

/** What a build changed in its output folder. */
export interface Written {
	/** Files that are other now, and how many of them were not there before. */
	written: number;
	added: number;
	removed: number;
	unchanged: number;
}

/** A build that has changed nothing yet. */
export function nothingWritten(): Written {
	return { written: 0, added: 0, removed: 0, unchanged: 0 };
}

/** Makes the folders of an output, and removes those of targets that are not built; whether no fragment is there. */
export function prepareOutput(out: string, slots: readonly Slot[]): boolean {
	for (const folder of otherFolders(slots)) rmSync(join(out, folder), { recursive: true, force: true });
	const folders = slots.map((slot) => join(out, slotFolder(slot)));
	for (const folder of folders) mkdirSync(folder, { recursive: true });
	return folders.every((folder) => readdirSync(folder).length === 0);
}

/** Writes fragments where they differ. @param isFresh whether the output had none before */
export function writeRendered(
	out: string,
	rendered: Iterable<Rendered>,
	isFresh: boolean,
	tick: () => void,
): Written {
	const result = nothingWritten();
	for (const [path, bytes] of rendered) {
		const change = placeFile(out, path, bytes, { isFresh });
		if (change === "same") result.unchanged += 1;
		if (change === "removed") result.removed += 1;
		if (change === "added") result.added += 1;
		if (change === "added" || change === "changed") result.written += 1;
		tick();
	}
	return result;
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
