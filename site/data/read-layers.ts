import { readServed } from "../../publish/changes.ts";
import { collectFolder, type LayersAt } from "../../publish/collect.ts";
import { type Health, healthPath, parseHealth } from "../../registry/health.ts";
import { judgeChange, problemLine } from "../../registry/judge.ts";
import { type LayerFile, namesOf } from "../../registry/layer-file.ts";
import { nameOf, ownersOf, ownersPath, parseOwners } from "../../registry/owners.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { readEntries } from "../../store/git/commands/entries.ts";
import { listTree } from "../../store/git/commands/tree.ts";
import { type Index, IndexBroken } from "./chunks.ts";
import { withDetails } from "./details.ts";
import type { Entry } from "./entries.ts";
import { entryOf } from "./entry.ts";
import type { CatalogueChanges, OwnersOf } from "./files.ts";
import { lastChanges, readHistory } from "./history.ts";
import type { CatalogueOptions } from "./options.ts";
import type { Thumbnails } from "./thumbnails.ts";

/** Most changed layers for an update: the larger of this number and this share of all layers. */
const maxChangedLayers = 1_000;
const maxChangedShare = 0.1;

/**
 * Reads what has changed since an earlier catalogue, or all layers, and the owners.
 * @param earlier the commit of the earlier catalogue (its full id), and its index; null to read all layers
 * @throws {IndexBroken} if all layers have to be read
 * @throws {Error} if a file of a folder is wrong
 */
export async function readChanges(
	layers: LayersAt,
	earlier: { commit: string; index: Index } | null,
	{ fragments, senderNames }: CatalogueOptions,
	thumbnails: Thumbnails,
): Promise<CatalogueChanges & { owners: OwnersOf }> {
	if ("folder" in layers) {
		const entries = new Map<string, Entry | null>();
		const files = collectFolder(layers.folder);
		const { health, owners } = parseReviewers(files);
		const judged = judgeChange(namesOf(files), files, "stored");
		const [problem] = judged.problems;
		if (problem) throw new Error(problemLine(problem));
		for (const [smallkey, layer] of judged.layers) {
			const thumbnail = thumbnails.get(smallkey)?.path;
			entries.set(smallkey, entryOf(layer, { thumbnail }, health, fragments));
		}
		return { layers: entries, history: [], owners };
	}
	const { repository, commit } = layers;
	const history = await readHistory(repository, earlier?.commit ?? null, commit);
	const files = await listTree(repository, commit, [healthPath, ownersPath]);
	const { health, owners } = parseReviewers(await readEntries(repository, files));
	const touched = new Set(history?.flatMap((one) => one.layers.map(({ smallkey }) => smallkey)));
	if (earlier) {
		if (!history) throw new IndexBroken("the branch does not have the earlier commit in its history");
		const earlierFiles = await listTree(repository, earlier.commit, [healthPath]);
		const isSame = files.find(({ path }) => path === healthPath)?.id === earlierFiles[0]?.id;
		const before = isSame ? health : parseReviewers(await readEntries(repository, earlierFiles)).health;
		for (const smallkey of [...before.keys(), ...health.keys()]) {
			const [was, is] = [before.get(smallkey), health.get(smallkey)];
			if (was !== is && JSON.stringify(was) !== JSON.stringify(is)) touched.add(smallkey);
		}
		if (touched.size > Math.max(maxChangedLayers, earlier.index.manifest.layers * maxChangedShare))
			throw new IndexBroken("too much has changed");
	}
	const last = lastChanges(history ?? [], senderNames, earlier?.index.find(touched));
	const changed =
		earlier && [...touched].map((smallkey) => ({ path: layerPath(smallkey), mode: "100644", id: null }));
	const range = await readServed(repository, commit, changed, (layer): Entry => {
		const { smallkey } = layer;
		// An untouched layer is served now, because one that differed only in case was removed: its history is not read.
		if (earlier && !touched.has(smallkey)) throw new IndexBroken("an untouched layer is served now");
		const known = { ...last.get(smallkey), thumbnail: thumbnails.get(smallkey)?.path };
		return entryOf(layer, known, health, fragments);
	});
	return { layers: range.layers, history: await withDetails(repository, history ?? [], senderNames), owners };
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
