import { manifestPath, parseManifest } from "../registry/entries.ts";
import { catalogueFiles, hasLayerPages } from "./catalogue.ts";
import { Index, IndexBroken } from "./chunks.ts";
import type { CatalogueOptions } from "./options.ts";
import { type OutputFiles, readerOf, removeTemporary, staleFiles, writeFiles } from "./output.ts";
import { type CatalogueLayers, readChanges } from "./read-layers.ts";
import type { SiteFiles } from "./site.ts";
import { type CatalogueState, catalogueStamp, readState, removeState, writeState } from "./state.ts";
import { pageSettingsPath } from "./static/html.ts";
import { searchEngineFiles } from "./static/search-engines.ts";
import { placeThumbnails } from "./thumbnails.ts";

/** The result of an update: nothing to do, only the changes were written, or everything. */
export interface CatalogueOutcome {
	how: "nothing" | "changes" | "all";
	layers: number;
	written: number;
	removed: number;
}

/**
 * Updates the catalogue in an output. If the existing catalogue is complete and was made by the same code and options,
 * only the range since its commit is written; otherwise everything is. Both give the same files.
 * @param fresh whether to write everything in any case
 * @throws {Error} if a file cannot be written or the layers cannot be read
 */
export async function updateCatalogue(
	layers: CatalogueLayers,
	out: string,
	options: CatalogueOptions,
	fresh = false,
): Promise<CatalogueOutcome> {
	const stamp = catalogueStamp(options);
	const state = fresh || "folder" in layers ? null : readState(out);
	if (state?.commit && state.stamp === stamp && "commit" in layers) {
		if (state.commit === layers.commit)
			return { how: "nothing", layers: countLayers(out), written: 0, removed: 0 };
		try {
			return await writeRange(layers, state, stamp, out, options);
		} catch (error) {
			if (!(error instanceof IndexBroken)) throw error;
		}
	}
	return writeRange(layers, null, stamp, out, options);
}

/** Number of layers in an index; 0 if its manifest is missing or invalid. */
function countLayers(out: string): number {
	return parseManifest(readerOf(out)(manifestPath) ?? "")?.layers ?? 0;
}

/**
 * Writes what a range of commits changes.
 * @param state of the existing catalogue; null: the range is from nothing
 * @throws {IndexBroken} if the range has to be from nothing
 */
async function writeRange(
	layers: CatalogueLayers,
	state: CatalogueState | null,
	stamp: string,
	out: string,
	options: CatalogueOptions,
): Promise<CatalogueOutcome> {
	const read = state && readerOf(out);
	const index = new Index(read);
	const earlier = read && state.commit ? { commit: state.commit, read, index } : null;
	const changes = await readChanges(layers, earlier, options);
	// Imported on demand: the bundler takes memory, and a running service needs it only at its first start.
	const site = state ? null : await (await import("./site.ts")).buildPages(options);
	const assets = state?.assets ?? (site as SiteFiles).assets;
	const commit = "commit" in layers ? layers.commit : null;
	const { publicUrl, isCompressed, fragments, site: siteSettings } = options;
	// Only a service takes signed requests, and a service renders pages on request.
	const isServed = siteSettings.canSend;
	const count = state ? index.manifest.layers : changes.layers.size;
	const pages = {
		...{ assets, publicUrl, targets: fragments.targets, repository: siteSettings.repository },
		hasLayerPages: hasLayerPages(count, isServed),
	};
	const settings = { pages, isServed, commit, owners: changes.owners };
	const files: OutputFiles = new Map<string, string | Uint8Array | null>([
		...(site ? [...site.files, ...searchEngineFiles(pages)] : []),
		...(site ? [[pageSettingsPath, `${JSON.stringify(pages)}\n`] as const] : []),
		...catalogueFiles(read, changes, settings, index),
	]);
	const before = parseManifest(readerOf(out)(manifestPath) ?? "");
	removeState(out);
	removeTemporary(out);
	// Changed pictures change the stamp, and with another stamp the range is from nothing.
	if (!state) placeThumbnails(out, options.pictures, changes.layers.values());
	const { written, removed } = writeFiles(out, files, isCompressed);
	const stale = staleFiles(out, site && files, before);
	writeFiles(out, stale, isCompressed);
	writeState(out, { stamp, commit, assets });
	return { how: state ? "changes" : "all", layers: countLayers(out), written, removed: removed + stale.size };
}
