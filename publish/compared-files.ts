import { mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bodyOf } from "./entry.ts";
import { isCompanion } from "./output.ts";
import { countFiles, holds, removeTemporary } from "./rendered-file.ts";
import { otherFolders, type Slot, slotPath } from "./slots.ts";
import type { Table } from "./table.ts";

/** Rendered files, and what they have to be in step with. */
export interface Compared {
	/** The folder of rendered files. */
	out: string;
	slots: readonly Slot[];
	table: Table;
}

/** Whether as many files are there as the table has fragments. */
export async function areAsMany({ out, slots, table }: Compared): Promise<boolean> {
	const expected = slots.map(() => 0);
	for (const [, entry] of table.entries()) {
		slots.forEach((_, position) => {
			if (bodyOf(entry, position)) expected[position] = (expected[position] as number) + 1;
		});
	}
	const found = await Promise.all(slots.map((slot) => countFiles(folderOf(out, slot))));
	return found.every((count, position) => count === expected[position]);
}

/**
 * Smallkeys of the layers whose files differ from the table, or are too many. What a killed process left behind goes,
 * and what is of no target.
 */
export async function findDifferent({ out, slots, table }: Compared): Promise<Set<string>> {
	await removeTemporary(out);
	for (const other of otherFolders(slots)) await rm(join(out, other), { recursive: true, force: true });
	const different = new Set<string>();
	for (const [position, slot] of slots.entries()) {
		const folder = folderOf(out, slot);
		await mkdir(folder, { recursive: true });
		const names = new Set((await readdir(folder)).filter((name) => !isCompanion(name)));
		for (const [smallkey, entry] of table.entries()) {
			const body = bodyOf(entry, position);
			const same = body ? await holds(join(folder, smallkey), body) : !names.has(smallkey);
			if (!same) different.add(smallkey);
		}
		for (const name of names) if (!table.has(name)) different.add(name);
	}
	return different;
}

function folderOf(out: string, slot: Slot): string {
	return dirname(join(out, slotPath(slot, "x")));
}
