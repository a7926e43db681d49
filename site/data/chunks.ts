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
} from "./entries.ts";

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
	readonly #chunks = new Map<number, readonly Entry[]>();
	manifest: Manifest;

	/** @param read reads the index's files; null for an empty index @throws {IndexBroken} */
	constructor(read: ReadFile | null) {
		this.#read = read;
		const manifest = read ? parseManifest(read(manifestPath) ?? "") : emptyManifest;
		if (!manifest) throw new IndexBroken(`${manifestPath}: is not there, or of another version`);
		this.manifest = manifest;
	}

	/** The layers of one chunk, sorted by smallkey. @throws {IndexBroken} */
	chunk(number: number): readonly Entry[] {
		const path = this.manifest.chunks[number] ?? null;
		const entries =
			this.#chunks.get(number) ?? (path === null ? [] : parseChunk(this.#read?.(path) ?? "")?.entries);
		if (!entries) throw new IndexBroken(`${path}: is not there, or not whole`);
		this.#chunks.set(number, entries);
		return entries;
	}

	/** The layers of all chunks. @throws {IndexBroken} */
	chunks(): (readonly Entry[])[] {
		return numbers.map((number) => this.chunk(number));
	}

	/** The entries of those of the smallkeys that are in the index. @throws {IndexBroken} */
	find(smallkeys: Iterable<string>): Entry[] {
		return [...smallkeys].flatMap((smallkey) => {
			return this.chunk(chunkOf(smallkey)).find((one) => one.smallkey === smallkey) ?? [];
		});
	}

	/**
	 * Changes layers. Files of replaced chunks are not removed: an open page that has read the earlier manifest still needs
	 * them.
	 * @param changes smallkey → entry; null if the layer was removed
	 * @returns the files and the numbers of the chunks that differ; all chunks if the index was empty
	 * @throws {IndexBroken}
	 */
	change(changes: ReadonlyMap<string, Entry | null>, commit: string | null) {
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
		this.manifest = { version: indexVersion, layers, ...(commit && { commit }), chunks: paths };
		files.set(manifestPath, `${JSON.stringify(this.manifest)}\n`);
		return { files, chunks: [...added.keys()] };
	}
}
