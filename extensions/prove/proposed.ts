import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";
import { readEntries } from "../../store/git/commands/entries.ts";
import { listTree } from "../../store/git/commands/tree.ts";
import { readOpen } from "../../store/git/repair-branches.ts";

/** Writes the repaired layers of all waiting proposals. @param folder the folder in which `layers` is created */
export async function writeProposedLayers(repository: string, ref: string, folder: string): Promise<void> {
	await mkdir(join(folder, "layers"), { recursive: true });
	for (const { commit, smallkeys } of await readOpen(repository, ref)) {
		const paths = smallkeys.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)]);
		for (const { path, bytes } of await readEntries(repository, await listTree(repository, commit, paths))) {
			await mkdir(dirname(join(folder, path)), { recursive: true });
			await writeFile(join(folder, path), bytes);
		}
	}
}
