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
	parseChunk,
	parseManifest,
} from "../registry/entries.ts";
import type { Files, ReadFile } from "./files.ts";

/** The files of an index are missing, cut off, or of another version: everything has to be built. */
export class IndexBroken extends Error {}

/** Entries by the number of their chunk, each chunk in the order of the smallkeys. */
export function inChunks(entries: Iterable<Entry>): Entry[][] {
	const chunks = Array.from({ length: chunkCount }, (): Entry[] => []);
	for (const entry of entries) chunks[chunkOf(entry.smallkey)]?.push(entry);
	for (const chunk of chunks) chunk.sort(bySmallkey);
	return chunks;
}

function bySmallkey(one: Entry, other: Entry): number {
	return one.smallkey < other.smallkey ? -1 : 1;
}

/** All files of the index. @param commit that the layers are of; null where it is not known */
export function buildIndex(chunks: readonly Entry[][], commit: string | null): Files {
	const files: Files = new Map();
	const paths = chunks.map((entries, chunk) => addChunk(files, chunk, entries));
	const layers = chunks.reduce((sum, { length }) => sum + length, 0);
	return files.set(manifestPath, manifestText(layers, commit, paths));
}

/** Adds the file of a chunk; its path, or null where it has no layers. */
function addChunk(files: Files, chunk: number, entries: Entry[]): string | null {
	if (entries.length === 0) return null;
	const text = `${JSON.stringify({ version: indexVersion, entries } satisfies Chunk)}\n`;
	const path = chunkPath(chunk, createHash("sha256").update(text).digest("hex").slice(0, 16));
	files.set(path, text);
	return path;
}

function manifestText(layers: number, commit: string | null, chunks: readonly (string | null)[]): string {
	const manifest: Manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks };
	return `${JSON.stringify(manifest)}\n`;
}

/** An index that is there: layers are looked up in it, and changed once. Only the chunks that are needed are read. */
export class Index {
	readonly #read: ReadFile;
	readonly #chunks = new Map<number, Entry[]>();
	readonly manifest: Manifest;

	/** @throws {IndexBroken} */
	constructor(read: ReadFile) {
		this.#read = read;
		const manifest = parseManifest(read(manifestPath) ?? "");
		if (!manifest) throw new IndexBroken(`${manifestPath}: is not there, or of another version`);
		this.manifest = manifest;
	}

	/** The layers of one chunk. @throws {IndexBroken} */
	chunk(number: number): readonly Entry[] {
		const known = this.#chunks.get(number);
		if (known) return known;
		const path = this.manifest.chunks[number] ?? null;
		const chunk = path === null ? { entries: [] } : parseChunk(this.#read(path) ?? "");
		if (!chunk) throw new IndexBroken(`${path}: is not there, or not whole`);
		this.#chunks.set(number, chunk.entries);
		return chunk.entries;
	}

	/** Those of some layers that are there, by smallkey. @throws {IndexBroken} */
	find(smallkeys: Iterable<string>): Map<string, Entry> {
		const found = new Map<string, Entry>();
		for (const smallkey of smallkeys) {
			const entry = this.chunk(chunkOf(smallkey)).find((one) => one.smallkey === smallkey);
			if (entry) found.set(smallkey, entry);
		}
		return found;
	}

	/** Every layer. @throws {IndexBroken} */
	all(): Entry[] {
		return Array.from({ length: chunkCount }, (_, number) => this.chunk(number)).flat();
	}

	/**
	 * Changes layers.
	 * @param changes by smallkey; null for one that is gone
	 * @returns the files that differ, and the numbers of the chunks that do. The files of the chunks before stay: pages
	 * that have read the manifest before ask for them.
	 * @throws {IndexBroken}
	 */
	change(
		changes: ReadonlyMap<string, Entry | null>,
		commit: string | null,
	): { files: Files; chunks: ReadonlySet<number>; layers: number } {
		const changed = new Set([...changes.keys()].map(chunkOf));
		const files: Files = new Map();
		const paths = [...this.manifest.chunks];
		let layers = this.manifest.layers;
		for (const number of changed) {
			const before = this.chunk(number);
			const kept = before.filter(({ smallkey }) => !changes.has(smallkey));
			const added = [...changes.values()].filter((entry) => entry && chunkOf(entry.smallkey) === number);
			const entries = [...kept, ...(added as Entry[])].sort(bySmallkey);
			layers += entries.length - before.length;
			this.#chunks.set(number, entries);
			paths[number] = addChunk(files, number, entries);
		}
		files.set(manifestPath, manifestText(layers, commit, paths));
		return { files, chunks: changed, layers };
	}
}
