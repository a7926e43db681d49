import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { otherFolders, type Slot, slotFolder, slotPath } from "./slots.ts";

// Synchronous throughout: for hundreds of thousands of small files that takes a third of the time.

/**
 * One rendered fragment: its path below the output folder, such as `v0.9/doc/en/23ax5t`, and its text; null where
 * nothing is to stand there.
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

/** Makes the folders of an output; whether fragments are there already. */
export function prepareOutput(out: string, slots: readonly Slot[]): boolean {
	const folders = slots.map((slot) => join(out, slotFolder(slot)));
	for (const folder of folders) mkdirSync(folder, { recursive: true });
	return folders.some((folder) => readdirSync(folder).length > 0);
}

/**
 * Writes fragments; files that are the same are not written again. Where readers may be at work they meet the old
 * file or the new one, never a part.
 * @param inUse whether the output had fragments before
 */
export function writeRendered(
	out: string,
	rendered: Iterable<Rendered>,
	inUse: boolean,
	tick: () => void,
): Written {
	const result: Written = { written: 0, added: 0, removed: 0, unchanged: 0 };
	for (const [path, bytes] of rendered) {
		const isThere = inUse && existsSync(join(out, path));
		if (bytes) writeFragment(out, path, bytes, isThere, inUse, result);
		else if (isThere) {
			removeFile(out, path);
			result.removed += 1;
		}
		tick();
	}
	return result;
}

function writeFragment(
	out: string,
	path: string,
	bytes: Uint8Array,
	isThere: boolean,
	inUse: boolean,
	result: Written,
): void {
	if (isThere && isSame(join(out, path), bytes)) {
		result.unchanged += 1;
		return;
	}
	writeWhole(out, path, bytes, inUse);
	result.written += 1;
	if (!isThere) result.added += 1;
}

/** Removes the folders of targets that are not built. */
export function removeOthers(out: string, slots: readonly Slot[]): void {
	for (const folder of otherFolders(slots)) rmSync(join(out, folder), { recursive: true, force: true });
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
			removeFile(out, slotPath(slot, name));
			removed += 1;
		}
	}
	return removed;
}

/** Whether a file has just these bytes. */
export function isSame(path: string, bytes: Uint8Array): boolean {
	const found = statSync(path, { throwIfNoEntry: false });
	return found !== undefined && found.size === bytes.length && readFileSync(path).equals(bytes);
}

/** Names that a web server looks for beside a file: the same content, compressed (`npx fragments build --compress`). */
export const companionEndings = [".gz", ".br"] as const;

/** Stands in an output folder that has compressed copies. */
export const compressedMark = ".compressed";

/** Whether a name in the output folder is that of a compressed copy: no smallkey has a dot. */
export function isCompanion(name: string): boolean {
	return companionEndings.some((ending) => name.endsWith(ending));
}

/** Drops the compressed copies of a file that changes: a web server would go on serving them. */
function removeCompanions(target: string): void {
	for (const ending of companionEndings) {
		if (existsSync(target + ending)) rmSync(target + ending);
	}
}

let serial = 0;

/** Name of the files that are not in their place yet: beside the output, on the same disk, never served. */
function temporaryName(out: string): string {
	return join(dirname(out), `.${basename(out)}.${process.pid}.${serial++}.tmp`);
}

/** Writes one file; where readers may be at work, under another name first. */
export function writeWhole(out: string, path: string, bytes: Uint8Array, inUse: boolean): void {
	const target = join(out, path);
	if (!inUse) return writeFileSync(target, bytes);
	removeCompanions(target);
	const temporary = temporaryName(out);
	writeFileSync(temporary, bytes);
	renameSync(temporary, target);
}

/** Removes one file with its compressed copies, where it is there. */
export function removeFile(out: string, path: string): void {
	removeCompanions(join(out, path));
	rmSync(join(out, path), { force: true });
}

/** Removes what a killed process had not yet put in its place. */
export function removeTemporary(out: string): void {
	for (const name of readdirSync(dirname(out))) {
		const isOurs = name.startsWith(`.${basename(out)}.`) && name.endsWith(".tmp");
		if (isOurs) rmSync(join(dirname(out), name), { force: true });
	}
}
