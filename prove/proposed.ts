import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readTextIfThere } from "../files/if-there.ts";
import { runGit } from "../git/run.ts";
import { code } from "../registry/markdown.ts";
import { descriptionPath, layerPath } from "../registry/smallkey.ts";
import type { OpenProposal } from "../repair/branches.ts";
import { readProofs } from "./proofs.ts";

/** The folder of pictures of waiting repairs, below that of all pictures. */
export const proposedFolder = "proposed";

/** Writes the layers of repairs as they would be once these are merged. @param folder with `layers` in it */
export async function writeProposedLayers(
	repository: string,
	open: readonly OpenProposal[],
	folder: string,
): Promise<void> {
	await mkdir(join(folder, "layers"), { recursive: true });
	for (const { commit, smallkeys } of open) {
		for (const path of smallkeys.flatMap((smallkey) => [layerPath(smallkey), descriptionPath(smallkey)])) {
			const listed = await runGit(repository, ["ls-tree", commit, "--", path]);
			if (listed.length === 0) continue;
			await mkdir(dirname(join(folder, path)), { recursive: true });
			await writeFile(
				join(folder, path),
				await runGit(repository, ["cat-file", "blob", `${commit}:${path}`]),
			);
		}
	}
}

/** The last picture of a layer, and that of its repair; each null where there is none. Paths below the folder of pictures. */
export interface PicturePair {
	before: string | null;
	after: string | null;
}

/** Reads the pictures of layers that wait for a repair. @param folder of all pictures */
export async function readPicturePairs(folder: string): Promise<(smallkey: string) => PicturePair> {
	const [before, after] = [await readProofs(folder), await readProofs(join(folder, proposedFolder))];
	return (smallkey) => {
		const repaired = after.get(smallkey);
		const isDrawn = repaired?.picture !== undefined && repaired.since === undefined;
		return {
			before: before.get(smallkey)?.picture ?? null,
			after: isDrawn ? `${proposedFolder}/${repaired.picture}` : null,
		};
	};
}

/**
 * Adds the pictures of repairs to the texts of their pull requests.
 * @param texts the folder that `npx fragments repair --out` wrote
 * @param address of the folder of pictures, with a slash at its end
 */
export async function addPictures(
	texts: string,
	open: readonly OpenProposal[],
	folder: string,
	address: string,
): Promise<void> {
	const pairOf = await readPicturePairs(folder);
	for (const { branch, smallkeys } of open) {
		const file = join(texts, branch, "text.md");
		if ((await readTextIfThere(file)) === null) continue;
		const rows = smallkeys.map((smallkey) => {
			const { before, after } = pairOf(smallkey);
			const cells = [before, after].map((path) => (path ? `![](${address}${encodeURI(path)})` : "–"));
			return `| ${[code(smallkey), ...cells].join(" | ")} |`;
		});
		const head = ["", "| | before · avant | after · après |", "|---|---|---|"];
		await appendFile(file, `${[...head, ...rows].join("\n")}\n`);
	}
}
