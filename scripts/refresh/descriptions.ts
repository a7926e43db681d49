import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "../../api/git/run.ts";
import type { Edit, Reader } from "../../api/store.ts";
import { parseLayerPath } from "../../registry/catalogue.ts";
import { layerPath } from "../../registry/smallkey.ts";

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
		if (typeof name === "string" || name.kind !== "description") continue;
		const text = await readFile(join(checkout, path), "utf8");
		const registration = await readFile(join(checkout, layerPath(name.smallkey)), "utf8").catch(() => null);
		if (registration !== null) found.push({ smallkey: name.smallkey, path, text, registration });
	}
	return found;
}

/** The edits that store descriptions, but for those whose layer has changed since, or that are stored already. */
export async function descriptionEdits(now: Reader, found: readonly NewDescription[]): Promise<Edit[]> {
	const edits: Edit[] = [];
	for (const { smallkey, path, text, registration } of found) {
		const layer = await now.read(smallkey);
		if (layer?.registration === registration && layer.description !== text) edits.push({ path, text });
	}
	return edits;
}
