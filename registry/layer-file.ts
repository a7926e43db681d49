import { maxRegistrationBytes } from "./registration.ts";
import { fileName, isOtherFile } from "./smallkey.ts";

/** A file under `layers/`, as found in a folder or a commit. */
export interface LayerFile {
	/** Path from the repository's root, with `/`: `layers/23/23ax5t.json`. */
	path: string;
	/** Only a plain file may contain a layer: a link could point anywhere. */
	kind: "file" | "symlink" | "other";
	/** The content. If the file is larger than its limit, the first bytes are enough, one more than the limit. */
	bytes: Uint8Array;
}

const maxDescriptionBytes = 4 * 1024 * 1024;

/** Largest size of a file that belongs to no layer, in bytes. Every version of it stays in every clone for ever. */
const maxOtherBytes = 1024 * 1024;

/** Largest size of a file of the repository, in bytes. */
export function maxBytesOf(path: string): number {
	if (isOtherFile(path) || !path.startsWith("layers/")) return maxOtherBytes;
	return path.endsWith(".service.json") ? maxDescriptionBytes : maxRegistrationBytes;
}

/** The names of the files in a folder under `layers/` before a change, in any order. */
export type NamesBefore = (folder: string) => Iterable<string>;

/** The names of some files, by their folder under `layers/`. */
export function namesOf(files: Iterable<{ path: string }>): NamesBefore {
	const folders = new Map<string, string[]>();
	for (const { path } of files) {
		const folder = path.split("/")[1] ?? "";
		const names = folders.get(folder);
		if (names) names.push(fileName(path));
		else folders.set(folder, [fileName(path)]);
	}
	return (folder) => folders.get(folder) ?? [];
}
