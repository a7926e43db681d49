import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runGit } from "../git/run.ts";
import { code } from "../registry/markdown.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";
import { readOpen } from "../repair/branches.ts";
import { pictureName, readProofs } from "./proofs.ts";

/** The folder of pictures of waiting repairs, below that of all pictures. */
export const proposedFolder = "proposed";

/** Writes the layers of the repairs that wait for a branch, as they would be. @param folder with `layers` in it */
export async function writeProposedLayers(repository: string, ref: string, folder: string): Promise<void> {
	await mkdir(join(folder, "layers"), { recursive: true });
	for (const { commit, smallkeys } of await readOpen(repository, ref)) {
		const paths = smallkeys.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)]);
		const listed = await runGit(repository, ["ls-tree", "--name-only", commit, "--", ...paths]);
		for (const path of listed.toString("utf8").split("\n").filter(Boolean)) {
			await mkdir(dirname(join(folder, path)), { recursive: true });
			await writeFile(
				join(folder, path),
				await runGit(repository, ["cat-file", "blob", `${commit}:${path}`]),
			);
		}
	}
}

/**
 * Reads the pictures of layers that wait for a repair.
 * @param folder of all pictures
 * @returns the last picture of a layer, and that of its repair, below the folder; each null if there is none
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

/**
 * The pictures of repairs in the text of a pull request. One that was not drawn is the words in its place.
 * @param folder of all pictures
 * @param address of that folder, with a slash at its end
 */
export async function picturesMarkdown(
	smallkeys: readonly string[],
	folder: string,
	address: string,
): Promise<string> {
	const pairOf = await readPicturePairs(folder);
	const rows = smallkeys.map((smallkey) => {
		const after = `${proposedFolder}/${pictureName(smallkey)}`;
		const cells = [pairOf(smallkey).before, after].map((path) => {
			return path ? `![no picture · pas d’image](${address}${encodeURI(path)})` : "–";
		});
		return `| ${[code(smallkey), ...cells].join(" | ")} |`;
	});
	return ["| | before · avant | after · après |", "|---|---|---|", ...rows].join("\n");
}
