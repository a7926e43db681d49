import { text } from "node:stream/consumers";
import type { Extension } from "../../api/service/extensions.ts";
import type { ReadLayers } from "../../publish/build.ts";
import { type LocatedLayers, versionOf } from "../../publish/collect.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";
import { readContent, readEarlier } from "./content.ts";
import { manifestPath, parseManifest } from "./entries.ts";
import { areSame, catalogueFiles, derivedFiles } from "./files.ts";
import {
	catalogueStamp,
	type OutputFiles,
	presentFiles,
	readText,
	readUsable,
	removeState,
	type UsableState,
	writeFiles,
} from "./output.ts";
import { placeThumbnails, readThumbnails } from "./proofs.ts";

export interface CatalogueOutcome {
	/** `nothing`: the files already show the commit. `layers`: without the files that depend on no layer. */
	how: "nothing" | "layers" | "all";
	layers: number;
	written: number;
	removed: number;
}

/** More layers have pages only in a service. */
const maxLayerPages = 2_000;

interface UpdateOptions {
	extensions?: readonly Extension[];
	read?: ReadLayers;
}

/**
 * Files that depend on no layer stay if the same code and options made them.
 * @throws {Error} if a file cannot be written or the layers cannot be read
 */
export async function updateCatalogue(
	layers: LocatedLayers,
	out: string,
	options: CatalogueOptions,
	{ extensions = [], read = new Map() }: UpdateOptions = {},
): Promise<CatalogueOutcome> {
	const commit = "commit" in layers ? layers.commit : null;
	const version = versionOf(layers);
	const existing = readUsable(out, options);
	const last = parseManifest(readText(out, manifestPath));
	if (existing && existing.commit === version)
		return { how: "nothing", layers: last?.layers ?? 0, written: 0, removed: 0 };
	const thumbnails = await readThumbnails(options.pictures);
	// Imported on demand: a running service needs the bundler only at its first start. It ends before the layers are read,
	// since both take memory: row `push-memory` of `npm run bench`.
	const stamp = catalogueStamp(options);
	if (!existing) await (await import("./assets.ts")).bundlesOfPage();
	// What has not changed is neither read nor rendered: row `build-commit` of `npm run bench`.
	const before = existing && last ? readEarlier(out, last, existing) : null;
	const content = await readContent(layers, { options, thumbnails, before, read });
	// Only a service takes signed requests, and a service renders pages on request.
	const isServed = options.site.canSend;
	const hasPages = isServed || content.entries.length <= maxLayerPages;
	const isUsable = existing?.pages.site.hasLayerPages === hasPages;
	const built = isUsable ? null : await (await import("./site.ts")).buildSite(options, hasPages);
	const { pages, site } = built ? { ...built, site: [...built.files.keys()] } : (existing as UsableState);
	const settings = { pages, isServed, commit, owners: content.owners, extensions };
	const { files: rendered, derived, manifest } = catalogueFiles(content, settings, before?.chunks);
	const files: OutputFiles = new Map([...(built?.files ?? []), ...rendered]);
	// Chunks of the earlier index are kept for open pages that have read it.
	const kept = new Set([...(last?.chunks ?? []), ...site]);
	const earlier = derivedFiles(built || !before ? [] : before.chunks.map(({ entries }) => entries), settings);
	for (const [path, { from, text: render }] of derived) {
		if (areSame(earlier.get(path)?.from, from) && existing?.isUntouched(path)) kept.add(path);
		else files.set(path, render());
	}
	for (const path of presentFiles(out)) if (!files.has(path) && !kept.has(path)) files.set(path, null);
	removeState(out);
	placeThumbnails(out, thumbnails, content.entries);
	const state = { stamp, commit: version, pages, site, dateMs: content.dateMs };
	const written = writeFiles(out, files, isServed, state);
	return { how: built ? "all" : "layers", layers: manifest.layers, ...written };
}

export interface CatalogueOrder {
	repository: string;
	commit: string;
	out: string;
	options: CatalogueOptions;
}

/** Reads the order from the standard input, and ends this process. Prints why it failed. */
export async function serveOrder(extensions: readonly Extension[]): Promise<void> {
	const { repository, commit, out, options } = JSON.parse(await text(process.stdin)) as CatalogueOrder;
	const failure = await updateCatalogue({ repository, commit }, out, options, { extensions }).then(
		() => "",
		({ message }: Error) => message,
	);
	process.stdout.write(failure, () => process.exit(failure === "" ? 0 : 1));
}
