import type { Extension } from "../../api/service/extensions.ts";
import { type LayersAt, versionOf } from "../../publish/collect.ts";
import { readContent } from "./details.ts";
import { manifestPath, parseManifest } from "./entries.ts";
import { catalogueFiles, hasLayerPages } from "./files.ts";
import type { CatalogueOptions } from "./options.ts";
import {
	catalogueStamp,
	type OutputFiles,
	presentFiles,
	readerOf,
	readUsable,
	removeState,
	writeFiles,
} from "./output.ts";
import { placeThumbnails, readThumbnails } from "./proofs.ts";

/** The result of an update. */
export interface CatalogueOutcome {
	/** `nothing`: the files already show the commit. `layers`: without the files that depend on no layer. */
	how: "nothing" | "layers" | "all";
	layers: number;
	written: number;
	removed: number;
}

/**
 * Writes the catalogue of all layers into an output; unchanged files are not written again. If the same code and options
 * made the existing catalogue, its files that depend on no layer stay.
 * @param how `fresh`: whether to write everything in any case; `extensions`: those whose files are written, too
 * @throws {Error} if a file cannot be written or the layers cannot be read
 */
export async function updateCatalogue(
	layers: LayersAt,
	out: string,
	options: CatalogueOptions,
	{ fresh = false, extensions = [] }: { fresh?: boolean | undefined; extensions?: readonly Extension[] } = {},
): Promise<CatalogueOutcome> {
	const commit = "commit" in layers ? layers.commit : null;
	const version = versionOf(layers);
	const existing = fresh ? null : readUsable(out, options);
	const before = parseManifest(readerOf(out)(manifestPath) ?? "");
	if (existing && existing.commit === version)
		return { how: "nothing", layers: before?.layers ?? 0, written: 0, removed: 0 };
	const thumbnails = readThumbnails(options.pictures);
	// Imported on demand: a running service needs the bundler only at its first start. It ends before the layers are read,
	// since both take memory: row `push-memory` of `npm run bench`.
	if (!existing) await (await import("./site.ts")).bundlesOfPage();
	const content = await readContent(layers, options, thumbnails);
	// Only a service takes signed requests, and a service renders pages on request.
	const isServed = options.site.canSend;
	const hasPages = hasLayerPages(content.entries.length, isServed);
	const isUsable = existing?.pages.site.hasLayerPages === hasPages;
	const built = isUsable ? null : await (await import("./site.ts")).buildPages(options, hasPages);
	const { pages, site } = built
		? { pages: built.pages, site: [...built.files.keys()] }
		: (existing as NonNullable<typeof existing>);
	const settings = { pages, isServed, commit, owners: content.owners, extensions };
	const { files: rendered, manifest } = catalogueFiles(content, settings);
	const files: OutputFiles = new Map([...(built?.files ?? []), ...rendered]);
	// Chunks of the earlier manifest are kept for open pages that have read it.
	const kept = new Set([...(before?.chunks ?? []), ...site]);
	for (const path of presentFiles(out)) if (!files.has(path) && !kept.has(path)) files.set(path, null);
	removeState(out);
	// Changed pictures change the stamp, and with another stamp everything is written.
	if (!existing) placeThumbnails(out, thumbnails, content.entries);
	const made = { stamp: catalogueStamp(options), commit: version, pages, site };
	const written = writeFiles(out, files, options.isCompressed, made);
	return { how: built ? "all" : "layers", layers: manifest.layers, ...written };
}
