import { readObjects, readSizes } from "./cat-file.ts";
import { kindOfMode, type PathChange } from "./tree.ts";

export interface CommittedFile {
	path: string;
	kind: "file" | "symlink" | "other";
	bytes: Uint8Array;
}

/**
 * Reads the files of tree entries, in the same order. Links and submodules get empty content.
 * @param standIn the number of zero bytes that stand for the content of an entry; null: the content is read
 */
export async function readEntries(
	repository: string,
	entries: readonly PathChange[],
	standIn: (entry: PathChange) => number | null = () => null,
): Promise<CommittedFile[]> {
	const read = entries.filter((entry) => isPlain(entry) && standIn(entry) === null);
	const contents = new Map<string | null, Buffer>();
	const ids = read.map(({ id }) => id as string);
	for await (const blobs of readObjects(repository, "blob", ids)) {
		for (const { id, body } of blobs) contents.set(id, body);
	}
	return entries.map((entry) => {
		const kind = kindOfMode(entry.mode ?? "");
		const bytes = isPlain(entry) && standIn(entry) === null ? contents.get(entry.id) : undefined;
		return { path: entry.path, kind, bytes: bytes ?? new Uint8Array(standIn(entry) ?? 0) };
	});
}

/** The sizes of the plain files among tree entries, in bytes, without reading them: id → size. */
export function sizesOf(repository: string, entries: readonly PathChange[]) {
	const ids = entries.filter(isPlain).map(({ id }) => id as string);
	return readSizes(repository, ids);
}

function isPlain({ mode, id }: PathChange): boolean {
	return id !== null && kindOfMode(mode ?? "") === "file";
}
