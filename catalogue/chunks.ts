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

/** The files of an index are missing, incomplete, or of another version: everything has to be built. */
export class IndexBroken extends Error {}

/** Path below an output → the file's text, or null if the file is to be removed. */
export type Files = Map<string, string | null>;

/** Reads a file of an output; null if it does not exist. */
export type ReadFile = (path: string) => string | null;

const numbers = Array.from({ length: chunkCount }, (_, number) => number);

const emptyManifest: Manifest = { version: indexVersion, layers: 0, chunks: numbers.map(() => null) };

/** An index: layers are looked up in it, and it is changed at most once. It reads a chunk when it is first needed. */
export class Index {
	readonly #read: ReadFile | null;
	readonly #chunks = new Map<number, Entry[]>();
	readonly manifest: Manifest;

	/** @param read reads the index's files; null for an empty index @throws {IndexBroken} */
	constructor(read: ReadFile | null) {
		this.#read = read;
		const manifest = read ? parseManifest(read(manifestPath) ?? "") : emptyManifest;
		if (!manifest) throw new IndexBroken(`${manifestPath}: is not there, or of another version`);
		this.manifest = manifest;
	}

	/** The layers of one chunk, sorted by smallkey. @throws {IndexBroken} */
	chunk(number: number): readonly Entry[] {
		const known = this.#chunks.get(number);
		if (known) return known;
		const path = this.manifest.chunks[number] ?? null;
		const chunk = path === null ? { entries: [] } : parseChunk(this.#read?.(path) ?? "");
		if (!chunk) throw new IndexBroken(`${path}: is not there, or not whole`);
		this.#chunks.set(number, chunk.entries);
		return chunk.entries;
	}

	/** The layers of all chunks. @throws {IndexBroken} */
	chunks(): (readonly Entry[])[] {
		return numbers.map((number) => this.chunk(number));
	}

	/** Smallkey → entry, for those of the smallkeys that are in the index. @throws {IndexBroken} */
	find(smallkeys: Iterable<string>): Map<string, Entry> {
		const found = new Map<string, Entry>();
		for (const smallkey of smallkeys) {
			const entry = this.chunk(chunkOf(smallkey)).find((one) => one.smallkey === smallkey);
			if (entry) found.set(smallkey, entry);
		}
		return found;
	}

	/**
	 * Changes layers.
	 * @param changes smallkey → entry; null if the layer was removed
	 * @returns the files and the numbers of the chunks that differ (all chunks if the index was empty), and the number of
	 * layers. Files of replaced chunks are not removed: an open page that has read the earlier manifest still needs them.
	 * @throws {IndexBroken}
	 */
	change(
		changes: ReadonlyMap<string, Entry | null>,
		commit: string | null,
	): { files: Files; chunks: readonly number[]; layers: number } {
		const added = new Map<number, Entry[]>(this.#read ? [] : numbers.map((number) => [number, []]));
		for (const [smallkey, entry] of changes) {
			const number = chunkOf(smallkey);
			const entries = added.get(number) ?? [];
			added.set(number, entries);
			if (entry) entries.push(entry);
		}
		const files: Files = new Map();
		const paths = [...this.manifest.chunks];
		let { layers } = this.manifest;
		for (const [number, some] of added) {
			const before = this.chunk(number);
			const kept = before.filter(({ smallkey }) => !changes.has(smallkey));
			const entries = [...kept, ...some].sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1));
			layers += entries.length - before.length;
			this.#chunks.set(number, entries);
			const text = `${JSON.stringify({ version: indexVersion, entries } satisfies Chunk)}\n`;
			const path = chunkPath(number, createHash("sha256").update(text).digest("hex").slice(0, 16));
			paths[number] = entries.length === 0 ? null : path;
			if (entries.length > 0) files.set(path, text);
		}
		const manifest: Manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks: paths };
		files.set(manifestPath, `${JSON.stringify(manifest)}\n`);
		return { files, chunks: [...added.keys()], layers };
	}
}
