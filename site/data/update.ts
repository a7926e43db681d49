import type { Extension } from "../../api/service/extensions.ts";
import type { LayersAt } from "../../publish/collect.ts";
import { Index, IndexBroken } from "./chunks.ts";
import { chunksFolder, manifestPath, parseManifest } from "./entries.ts";
import { catalogueFiles, hasLayerPages } from "./files.ts";
import type { CatalogueOptions } from "./options.ts";
import {
	type CatalogueState,
	catalogueStamp,
	filesIn,
	type OutputFiles,
	presentFiles,
	readerOf,
	readState,
	removeState,
	writeFiles,
} from "./output.ts";
import { readChanges } from "./read-layers.ts";
import { placeThumbnails, readThumbnails } from "./thumbnails.ts";

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
 * @param how `fresh`: whether to write everything in any case; `extensions`: those whose files are written, too
 * @throws {Error} if a file cannot be written or the layers cannot be read
 */
export async function updateCatalogue(
	layers: LayersAt,
	out: string,
	options: CatalogueOptions,
	{ fresh = false, extensions = [] }: { fresh?: boolean | undefined; extensions?: readonly Extension[] } = {},
): Promise<CatalogueOutcome> {
	const stamp = catalogueStamp(options);
	const commit = "commit" in layers ? layers.commit : null;
	const found = fresh || commit === null ? null : readState(out);
	const existing = found?.stamp === stamp ? found : null;
	const read = readerOf(out);
	const before = parseManifest(read(manifestPath) ?? "");
	if (existing && existing.commit === commit)
		return { how: "nothing", layers: before?.layers ?? 0, written: 0, removed: 0 };
	return writeRange(existing).catch((error: unknown) => {
		if (error instanceof IndexBroken) return writeRange(null);
		throw error;
	});

	/**
	 * Writes what a range of commits changes.
	 * @param state of the existing catalogue; null: the range is from nothing
	 * @throws {IndexBroken} if the range has to be from nothing
	 */
	async function writeRange(state: CatalogueState | null): Promise<CatalogueOutcome> {
		const index = new Index(state && read);
		const thumbnails = readThumbnails(options.pictures);
		// Imported on demand: a running service needs the bundler only at its first start. It ends before the layers are read,
		// since both take memory: row `push-memory` of `npm run bench`.
		if (!state) await (await import("./site.ts")).bundlesOfPage();
		const earlier = state && { commit: state.commit, index };
		const changes = await readChanges(layers, earlier, options, thumbnails);
		// Only a service takes signed requests, and a service renders pages on request.
		const isServed = options.site.canSend;
		const files: OutputFiles = new Map();
		let pages = state?.pages;
		if (!pages) {
			const { buildPages } = await import("./site.ts");
			const site = await buildPages(options, hasLayerPages(changes.layers.size, isServed));
			pages = site.pages;
			for (const [path, content] of site.files) files.set(path, content);
		}
		const settings = { pages, isServed, commit, owners: changes.owners, extensions };
		for (const [path, text] of catalogueFiles(state && read, changes, settings, index)) files.set(path, text);
		// Chunks of the earlier manifest are kept for open pages that have read it.
		const kept = new Set([...(before?.chunks ?? []), ...index.manifest.chunks]);
		for (const path of state ? filesIn(out, chunksFolder) : presentFiles(out)) {
			if (!files.has(path) && !kept.has(path)) files.set(path, null);
		}
		removeState(out);
		// Changed pictures change the stamp, and with another stamp the range is from nothing.
		if (!state) placeThumbnails(out, thumbnails, changes.layers);
		const made = commit === null ? null : { stamp, commit, pages };
		const written = writeFiles(out, files, options.isCompressed, made);
		return { how: state ? "changes" : "all", layers: index.manifest.layers, ...written };
	}
}
