import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runGit } from "../git/run.ts";
import { code } from "../registry/markdown.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";
import { readOpen } from "../repair/branches.ts";
import { pictureName, readProofs } from "./proofs.ts";

/** The folder of pictures of waiting repairs, in the folder of all pictures. */
export const proposedFolder = "proposed";

/** Writes the repaired layers of all waiting proposals. @param folder the folder in which `layers` is created */
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

/**
 * A table of the pictures of repairs for the text of a pull request. For a missing picture the reader sees its alternative
 * text.
 * @param folder the folder of all pictures
 * @param address address of that folder, with a slash at its end
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
