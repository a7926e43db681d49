import { pageHeaders } from "../api/pages.ts";
import { catalogueFiles, catalogueFolders, namesIn } from "../catalogue/state.ts";

/** The files of a build's catalogue, sorted; empty without one. */
export function listCatalogue(dist: string): string[] {
	const inFolders = catalogueFolders.flatMap((folder) =>
		namesIn(dist, folder).map((name) => `${folder}/${name}`),
	);
	const beside = namesIn(dist, ".").filter((name) => catalogueFiles.some((file) => file === name));
	return [...inFolders, ...beside].sort();
}

/** Pages and lists of pieces, which show first that a hosting is outdated. */
const leading =
	/^(?:[^/]+|(?:en|fr|guide|list|records|schemas)\/(?:fr\/)?index\.html|(?:index|changes)\/[a-z]+\.\w+)$/;

/**
 * The files of a catalogue to be verified: the lists of the others, and an evenly spread sample of the rest.
 */
export function chooseCatalogue(
	files: readonly string[],
	most: number,
	sample: (items: readonly string[], most: number) => string[],
): string[] {
	const rest = files.filter((path) => !leading.test(path));
	return [...files.filter((path) => leading.test(path)), ...sample(rest, most)];
}

/** The path at which a file of a build is read: that of the folder for its page. */
export function servedPath(path: string): string {
	return path.replace(/(^|\/)index\.html$/, "$1");
}

/** The media type of a file of the catalogue. */
export function typeOfPage(path: string): string {
	return pageHeaders(path, false)["Content-Type"]?.split(";")[0] ?? "";
}
