import { readServed } from "../../publish/changes.ts";
import type { LayersAt } from "../../publish/collect.ts";
import { type Health, healthPath, parseHealth } from "../../registry/health.ts";
import { judgeChange, problemLine } from "../../registry/judge.ts";
import { type LayerFile, namesOf } from "../../registry/layer-file.ts";
import { nameOf, ownersOf, ownersPath, parseOwners } from "../../registry/owners.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { readEntries } from "../../store/git/commands/entries.ts";
import { listTree } from "../../store/git/commands/tree.ts";
import { withDetails } from "./details.ts";
import type { Entry } from "./entries.ts";
import { entryOf } from "./entry.ts";
import type { CatalogueContent, OwnersOf } from "./files.ts";
import { lastChanges, readHistory } from "./history.ts";
import type { CatalogueOptions } from "./options.ts";
import type { Thumbnails } from "./thumbnails.ts";

/**
 * Reads all layers, their history and the owners.
 * @throws {Error} if a file of a folder is wrong
 */
export async function readContent(
	layers: LayersAt,
	{ fragments, senderNames }: CatalogueOptions,
	thumbnails: Thumbnails,
): Promise<CatalogueContent & { owners: OwnersOf }> {
	if ("files" in layers) {
		const { files } = layers;
		const { health, owners } = parseReviewers(files);
		const judged = judgeChange(namesOf(files), files, "stored");
		const [problem] = judged.problems;
		if (problem) throw new Error(problemLine(problem));
		const entries = [...judged.layers.values()].map((layer) => {
			const thumbnail = thumbnails.get(layer.smallkey)?.path;
			return entryOf(layer, { thumbnail }, health, fragments);
		});
		return { entries, history: [], owners };
	}
	const { repository, commit } = layers;
	const history = (await readHistory(repository, commit)) ?? [];
	const files = await listTree(repository, commit, [healthPath, ownersPath]);
	const { health, owners } = parseReviewers(await readEntries(repository, files));
	const last = lastChanges(history, senderNames);
	const range = await readServed(repository, commit, null, (layer): Entry => {
		const known = { ...last.get(layer.smallkey), thumbnail: thumbnails.get(layer.smallkey)?.path };
		return entryOf(layer, known, health, fragments);
	});
	const entries = [...range.layers.values()].filter((entry) => entry !== null);
	return { entries, history: await withDetails(repository, history, senderNames), owners };
}

/**
 * Parses the health and the owners, which reviewers keep in files under `layers/`.
 * @param files some of the layers' files; only plain files have bytes
 */
function parseReviewers(files: readonly LayerFile[]): { health: Health; owners: OwnersOf } {
	const bytesOf = (path: string) => files.find((file) => file.path === path)?.bytes;
	const { owners } = parseOwners(bytesOf(ownersPath));
	return {
		health: parseHealth(new TextDecoder().decode(bytesOf(healthPath))),
		owners: (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []).map(nameOf),
	};
}
