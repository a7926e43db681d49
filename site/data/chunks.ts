import { createHash } from "node:crypto";
import {
	type Chunk,
	chunkCount,
	chunkOf,
	chunkPath,
	type Entry,
	indexVersion,
	type Manifest,
	manifestPath,
} from "./entries.ts";

/** Path below an output → the file's text. */
export type Files = Map<string, string>;

/**
 * Renders the index of all layers.
 * @param entries each smallkey once
 * @param commit of the layers; null if unknown
 * @returns its files, the layers of each chunk in the order of their smallkeys, and the manifest
 */
export function indexFiles(entries: Iterable<Entry>, commit: string | null) {
	const chunks: Entry[][] = Array.from({ length: chunkCount }, () => []);
	for (const entry of entries) chunks[chunkOf(entry.smallkey)]?.push(entry);
	const files: Files = new Map();
	const paths = chunks.map((some, number) => {
		if (some.length === 0) return null;
		some.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
		const text = `${JSON.stringify({ version: indexVersion, entries: some } satisfies Chunk)}\n`;
		const path = chunkPath(number, createHash("sha256").update(text).digest("hex").slice(0, 16));
		files.set(path, text);
		return path;
	});
	const layers = chunks.reduce((sum, { length }) => sum + length, 0);
	const manifest: Manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks: paths };
	files.set(manifestPath, `${JSON.stringify(manifest)}\n`);
	return { files, chunks, manifest };
}
