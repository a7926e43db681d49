import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { readTextIfThere } from "../../files/if-there.ts";
import { runGit } from "../../git/run.ts";
import { layerPath, parseLayerPath } from "../../registry/smallkey.ts";
import { blobId } from "../../store/blob-id.ts";
import type { Edit, Reader } from "../../store/store.ts";

/** Layers that are compared with the store at once. */
const layersAtOnce = 32;

/** A service description that a checkout has and its last commit has not, with the registration it was made for. */
export interface NewDescription {
	smallkey: string;
	path: string;
	text: string;
	registration: string;
}

/** The service descriptions that were written into a checkout's `layers/` since its last commit, sorted by path. */
export async function newDescriptions(checkout: string): Promise<NewDescription[]> {
	const args = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", "layers"];
	const lines = (await runGit(checkout, args)).toString("utf8").split("\0").filter(Boolean);
	// Two letters of status and a space, then the path; `D` is a file that is gone.
	const paths = lines.filter((line) => !line.slice(0, 2).includes("D")).map((line) => line.slice(3));
	const found: NewDescription[] = [];
	for (const path of paths.sort()) {
		const name = parseLayerPath(path);
		if (name?.kind !== "description") continue;
		const text = await readFile(join(checkout, path), "utf8");
		const registration = await readTextIfThere(join(checkout, layerPath(name.smallkey)));
		if (registration !== null) found.push({ smallkey: name.smallkey, path, text, registration });
	}
	return found;
}

/**
 * The edits that store descriptions, but for those whose layer has changed since, or that are stored already. By ids:
 * no file has to be read.
 */
export async function descriptionEdits(now: Reader, found: readonly NewDescription[]): Promise<Edit[]> {
	const edits = await pMap(
		found,
		async ({ smallkey, path, text, registration }): Promise<Edit[]> => {
			const ids = await now.ids(smallkey);
			const isSame = ids?.registration === (await blobId(registration));
			return isSame && ids.description !== (await blobId(text)) ? [{ path, text }] : [];
		},
		{ concurrency: layersAtOnce },
	);
	return edits.flat();
}
