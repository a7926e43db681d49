import { pageHeaders } from "../api/pages.ts";
import { catalogueFiles, catalogueFolders, namesIn } from "../catalogue/state.ts";

/** The files of a build's catalogue, sorted; none where it has no catalogue. */
export function listCatalogue(dist: string): string[] {
	const inFolders = catalogueFolders.flatMap((folder) =>
		namesIn(dist, folder).map((name) => `${folder}/${name}`),
	);
	const beside = namesIn(dist, ".").filter((name) => catalogueFiles.some((file) => file === name));
	return [...inFolders, ...beside].sort();
}

/** Pages, and what says which pieces there are: what is stale is stale there first. */
const leading =
	/^(?:[^/]+|(?:en|fr|guide|list|records|schemas)\/(?:fr\/)?index\.html|(?:index|changes)\/[a-z]+\.\w+)$/;

/**
 * The files of a catalogue that are asked for: those that say which others there are, and at most so many of the rest,
 * evenly spread.
 */
export function chooseCatalogue(
	files: readonly string[],
	most: number,
	sample: (items: readonly string[], most: number) => string[],
): string[] {
	const rest = files.filter((path) => !leading.test(path));
	return [...files.filter((path) => leading.test(path)), ...sample(rest, most)];
}

/** Where a file of a build is read: a page of a folder at the folder. */
export function servedPath(path: string): string {
	return path.replace(/(^|\/)index\.html$/, "$1");
}

/** The media type that a file of the catalogue is served with. */
export function typeOfPage(path: string): string {
	return pageHeaders(path, false)["Content-Type"]?.split(";")[0] ?? "";
}
