import { buildChanges, type CommitChanges, updateChanges } from "../registry/index/changes.ts";
import { type Entry, numberOf } from "../registry/index/entry.ts";
import { healthReport, healthReportPath } from "../registry/index/health.ts";
import { buildIndex, EntryReader, IndexUpdate } from "../registry/index/index.ts";
import { orderedText } from "../registry/index/ordered.ts";
import { buildSet, type Files, sortThings } from "../registry/index/set.ts";
import { IndexBroken, type ReadFile, SetUpdate } from "../registry/index/set-update.ts";
import { numbersOf } from "../registry/index/terms-update.ts";
import type { Lang } from "../registry/smallkey.ts";
import type { Assets } from "./static/html.ts";
import { listKind, listRow } from "./static/list.ts";

/** A layer as the catalogue has it. */
export interface ListedLayer {
	entry: Entry;
	/** Addresses of its service. */
	addresses: Record<Lang, string>;
}

/** What the catalogue needs beside the layers. */
export interface CatalogueSettings {
	/** What the plain list's pages load; null: no pages are written, only what machines read. */
	assets: Assets | null;
	/** Address of the service with a slash at its end; empty where it is not known. */
	publicUrl: string;
	/** Who can mend a layer, by its smallkey. */
	owners: (smallkey: string) => string[];
}

/**
 * All files of the catalogue: the index, the plain list, the changes.
 * @param history commits that touched layers, oldest first; null where it is not known
 */
export function buildCatalogue(
	listed: readonly ListedLayer[],
	history: readonly CommitChanges[] | null,
	settings: CatalogueSettings,
): Files {
	const entries = listed.map(({ entry }) => entry);
	return new Map([
		...buildIndex(entries),
		[healthReportPath, healthReport(entries, settings.owners)],
		...buildList(listed, settings.assets),
		...buildChanges((history ?? []).map(listedCommit), settings),
	]);
}

function buildList(listed: readonly ListedLayer[], assets: Assets | null): Files {
	if (!assets) return new Map();
	const kind = listKind(assets);
	const rows = listed.map(({ entry, addresses }) => listRow(entry, addresses));
	return buildSet(kind, sortThings(kind, rows));
}

/** What changed since the catalogue's files were written. */
export interface CatalogueChanges {
	/** Smallkey → the layer, or null where it is gone; those whose health changed are among them. */
	layers: ReadonlyMap<string, ListedLayer | null>;
	/** The commits that did it, oldest first; empty where no history is known. */
	history: readonly CommitChanges[];
	/** Whether no sick layer is or was among them, and nobody's layers are others now: the report of health stays. */
	isHealthKept?: boolean;
}

/**
 * The files of the catalogue that differ after some changes, the same ones as in a whole build; null for one that goes.
 * @param read the files as they are
 * @param index theirs, in which the changed layers were looked up
 * @returns null where they are not whole or of another version: everything has to be built
 */
export function updateCatalogue(
	read: ReadFile,
	changes: CatalogueChanges,
	settings: CatalogueSettings,
	index = new IndexUpdate(read),
): Files | null {
	try {
		return changedFiles(read, changes, settings, index);
	} catch (error) {
		if (error instanceof IndexBroken) return null;
		throw error;
	}
}

function changedFiles(
	read: ReadFile,
	changes: CatalogueChanges,
	settings: CatalogueSettings,
	index: IndexUpdate,
): Files {
	const entries = new Map([...changes.layers].map(([smallkey, layer]) => [smallkey, layer?.entry ?? null]));
	const files = index.files(entries);
	const further = updateChanges(read, changes.history.map(listedCommit), settings);
	if (!further) throw new IndexBroken("changes/: not whole or of another version");
	for (const [path, text] of [...further, ...updateList(read, changes.layers, settings.assets)])
		files.set(path, text);
	if (!changes.isHealthKept) {
		const after: ReadFile = (path) => (files.has(path) ? (files.get(path) ?? null) : read(path));
		const report = healthReport(sickLayers(after), settings.owners);
		if (report !== read(healthReportPath)) files.set(healthReportPath, report);
	}
	return files;
}

/** What is published of a commit: whoever made it may have no public name. */
function listedCommit({ commit, date, layers: changed }: CommitChanges): CommitChanges {
	return { commit, date, layers: changed };
}

function updateList(read: ReadFile, changed: CatalogueChanges["layers"], assets: Assets | null): Files {
	if (!assets) return new Map();
	const kind = listKind(assets);
	const update = new SetUpdate(kind, read);
	for (const [smallkey, layer] of changed) {
		if (layer) update.put(listRow(layer.entry, layer.addresses));
		else update.remove(orderedText(smallkey.toLowerCase()));
	}
	return update.files();
}

/** What the index says of some layers, by smallkey. @throws {IndexBroken} */
export function findEntries(
	index: Pick<IndexUpdate, "find">,
	smallkeys: Iterable<string>,
): Map<string, Entry> {
	const found = [...smallkeys].flatMap((smallkey) =>
		index.find(numberOf(smallkey)).filter((entry) => entry.smallkey === smallkey),
	);
	return new Map(found.map((entry) => [entry.smallkey, entry]));
}

/** The sick layers, from the index's own filter: no other piece of it is read. @throws {IndexBroken} */
export function sickLayers(read: ReadFile): Entry[] {
	const known = new EntryReader(read);
	return numbersOf(read, "=health:")
		.flatMap((number) => known.find(number))
		.filter(({ health }) => health);
}
