import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import pMap from "p-map";
import { etagOf } from "../../api/read.ts";
import { checkCatalogue, type LayerFile, problemLine } from "../../registry/catalogue.ts";
import { healthPath, parseHealth } from "../../registry/health.ts";
import { indexPath } from "../../registry/index/index.ts";
import { entryOf } from "../../registry/index/layer-entry.ts";
import { ownersOf, ownersPath, parseOwners } from "../../registry/owners.ts";
import { type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { type TargetName, targetNames } from "../../registry/targets/names.ts";
import { renderLayer } from "../../registry/targets/render.ts";
import { targetPath } from "../../registry/targets/table.ts";
import { plainSettings, type SiteSettings } from "../../site/page/settings.ts";
import type { Source } from "./build.ts";
import { buildCatalogue, type ListedLayer } from "./catalogue.ts";
import { resolveCommit } from "./collect.ts";
import { lastChanges, readHistory } from "./history.ts";
import { buildSite } from "./site.ts";
import { collectSource } from "./source.ts";

/** Most files that are written at once. */
const mostAtOnce = 32;

/** What a catalogue says of where it stands. */
export interface CataloguePlace {
	fragments: FragmentSettings;
	/** Address of the service with a slash at its end, or empty. */
	publicUrl: string;
	site: Partial<SiteSettings>;
}

/** A catalogue's end: what was written, or the problems that kept it from writing anything. */
export interface WrittenCatalogue {
	problems: string[];
	layers: number;
	written: number;
	removed: number;
}

/**
 * Writes the whole catalogue as a static site: the page, its index, the plain list, the changes, and the fragments of
 * every target. Files that are the same are not written again; others than these go.
 * @throws {Error} where `out` holds files and no catalogue
 */
export async function writeCatalogue(
	source: Source,
	out: string,
	place: CataloguePlace,
): Promise<WrittenCatalogue> {
	const present = await listFiles(out);
	if (present.length > 0 && !present.includes(indexPath)) {
		throw new Error(`${out}: holds other files than a catalogue`);
	}
	const collected = await collectSource(source);
	const history = "repository" in source ? await readWholeHistory(source) : null;
	const files = new Map<string, string | Uint8Array>();
	const { listed, problems } = readLayers(collected, lastChanges(history ?? []), place.fragments, files);
	if (problems.length > 0) return { problems, layers: 0, written: 0, removed: 0 };
	const { files: pages, assets } = await buildSite({ ...plainSettings, ...place.site });
	for (const [path, content] of pages) files.set(path, content);
	const settings = { assets, publicUrl: place.publicUrl, owners: readOwners(collected) };
	for (const [path, text] of buildCatalogue(listed, history, settings))
		if (text !== null) files.set(path, text);
	const written = await pMap(files, ([path, content]) => writeIfOther(join(out, path), content), {
		concurrency: mostAtOnce,
	});
	const stale = present.filter((path) => !files.has(path));
	await pMap(stale, (path) => rm(join(out, path), { force: true }), { concurrency: mostAtOnce });
	return { problems, layers: listed.length, written: written.filter(Boolean).length, removed: stale.length };
}

async function readWholeHistory(source: { repository: string; ref: string }) {
	return readHistory(source.repository, null, await resolveCommit(source.repository, source.ref));
}

/** Checks and renders every layer; its fragments go into `files`. */
function readLayers(
	collected: LayerFile[],
	changes: ReadonlyMap<string, { commit: string; date: string }>,
	settings: FragmentSettings,
	files: Map<string, string | Uint8Array>,
): { listed: ListedLayer[]; problems: string[] } {
	const health = parseHealth(contentOf(collected, healthPath));
	const listed: ListedLayer[] = [];
	const problems = checkCatalogue(collected, ({ smallkey, registration, description }) => {
		const fragments: Partial<Record<TargetName, Record<Lang, string | null>>> = {};
		const { targets = targetNames } = settings;
		for (const target of targets) fragments[target] = { en: null, fr: null };
		for (const lang of langs) {
			const texts = renderLayer(targets, lang, smallkey, registration, description, settings);
			targets.forEach((target, at) => {
				const text = texts[at] ?? null;
				(fragments[target] as Record<Lang, string | null>)[lang] = text;
				if (text !== null) files.set(targetPath(target, lang, smallkey), text);
			});
		}
		const changed = changes.get(smallkey);
		const sickness = health.get(smallkey);
		const news = {
			...(settings.mapWkid !== undefined && { mapWkid: settings.mapWkid }),
			...(changed && { changed }),
			...(sickness && { health: sickness }),
		};
		const entry = entryOf({ smallkey, registration, description, fragments }, news, (text) =>
			etagOf(Buffer.from(text)).slice(1, -1),
		);
		listed.push({ entry, addresses: { en: registration.en.service_url, fr: registration.fr.service_url } });
	});
	return { listed, problems: problems.map(problemLine) };
}

function contentOf(collected: readonly LayerFile[], path: string): string | null {
	const file = collected.find((one) => one.path === path && one.kind === "file");
	return file ? Buffer.from(file.bytes).toString("utf8") : null;
}

/** Who can mend a layer; nobody where there is no list of owners that is in order. */
function readOwners(collected: readonly LayerFile[]): (smallkey: string) => string[] {
	const { owners } = parseOwners(Buffer.from(contentOf(collected, ownersPath) ?? ""));
	return (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []);
}

/** Every file below a folder, as paths with `/`; none where there is no folder. */
async function listFiles(folder: string): Promise<string[]> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
	const files = entries.filter((entry) => !entry.isDirectory());
	return files.map((entry) =>
		join(entry.parentPath ?? entry.path, entry.name)
			.slice(folder.length + 1)
			.replaceAll("\\", "/"),
	);
}

/** Whether the file had another content, and was written. */
async function writeIfOther(path: string, content: string | Uint8Array): Promise<boolean> {
	const bytes = Buffer.from(content);
	const present = await readFile(path).catch(() => null);
	if (present?.equals(bytes)) return false;
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, bytes);
	return true;
}
