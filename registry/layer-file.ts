import { maxRegistrationBytes } from "./registration.ts";
import { fileName, isOtherFile } from "./smallkey.ts";

export interface LayerFile {
	/** From the repository's root, with `/`: `layers/23/23ax5t.json`. */
	path: string;
	/** Only a plain file may contain a layer: a link could point anywhere. */
	kind: "file" | "symlink" | "other";
	/** Of a file larger than its limit, one byte more than the limit is enough. */
	bytes: Uint8Array;
}

const maxDescriptionBytes = 4 * 1024 * 1024;

/** Every version of such a file stays in every clone forever. */
const maxOtherBytes = 1024 * 1024;

export function maxBytesOf(path: string): number {
	if (isOtherFile(path) || !path.startsWith("layers/")) return maxOtherBytes;
	return path.endsWith(".service.json") ? maxDescriptionBytes : maxRegistrationBytes;
}

export type NamesBefore = (folder: string) => Iterable<string>;

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
