import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { descriptionPath, langs, layerPath } from "../../registry/smallkey.ts";
import { type TextCode, textIn, textOf } from "../../registry/texts.ts";
import { code } from "../../registry/untrusted-text.ts";
import { proposedFolder } from "../../site/data/thumbnails.ts";
import { readEntries } from "../../store/git/commands/entries.ts";
import { listTree } from "../../store/git/commands/tree.ts";
import { readOpen } from "../../store/git/repair-branches.ts";
import { pictureName, readProofs } from "./proofs.ts";

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

/**
 * Reads the names of the pictures of layers and of their waiting repairs.
 * @param folder the folder of all pictures
 * @returns for a smallkey, the layer's last picture and its repair's picture, as paths in the folder; null if there is none
 */
export async function readPicturePairs(folder: string) {
	const [before, after] = [await readProofs(folder), await readProofs(join(folder, proposedFolder))];
	return (smallkey: string) => {
		const repaired = after.get(smallkey);
		const isDrawn = repaired?.picture !== undefined && repaired.since === undefined;
		return {
			before: before.get(smallkey)?.picture ?? null,
			after: isDrawn ? `${proposedFolder}/${repaired.picture}` : null,
		};
	};
}

const inBoth = (code: TextCode) => langs.map((lang) => textIn(lang, textOf(code))).join(" · ");

/**
 * A table of the pictures of repairs for the text of a pull request. For a missing picture the reader sees its alternative
 * text.
 * @param folder the folder of all pictures
 * @param address address of that folder, with a slash at its end
 */
export async function picturesMarkdown(smallkeys: readonly string[], folder: string, address: string) {
	const drawn = await readProofs(folder);
	const linked = (path: string) => `![${inBoth("proof-no-picture")}](${address}${encodeURI(path)})`;
	const rows = smallkeys.map((smallkey) => {
		const before = drawn.get(smallkey)?.picture;
		const after = linked(`${proposedFolder}/${pictureName(smallkey)}`);
		return `| ${code(smallkey)} | ${before ? linked(before) : "–"} | ${after} |`;
	});
	return [`| | ${inBoth("proof-before")} | ${inBoth("proof-after")} |`, "|---|---|---|", ...rows].join("\n");
}
