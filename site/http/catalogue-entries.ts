import type { Lang } from "../../registry/smallkey.ts";
import { chunkCount, chunkOf, type Entry, manifestPath, parseChunk, parseManifest } from "../data/entries.ts";
import { byTitle, pagesOf } from "../static/list.ts";

/** Most attempts to read a chunk: its file may be replaced after the manifest is read. */
const maxAttempts = 3;

/** The entries of a catalogue. Parsed chunks are kept as long as the manifest names them. */
export class CatalogueEntries {
	readonly #chunks = new Map<number, { path: string; entries: readonly Entry[] }>();
	/** All layers by smallkey, and the pages of the plain list, as long as the manifest is the same. */
	readonly #sorted = new Map<Lang | "smallkey", { manifest: string; pages: Promise<Entry[][]> }>();

	/** @param text reads a file of the catalogue; null if there is no such file */
	constructor(readonly text: (file: string) => Promise<string | null>) {}

	/**
	 * All layers in an order, those by title in pages; made once for each manifest, also for requests that arrive meanwhile.
	 */
	async pagesBy(order: Lang | "smallkey"): Promise<Entry[][]> {
		const manifest = (await this.text(manifestPath)) ?? "";
		const known = this.#sorted.get(order);
		if (known?.manifest === manifest) return known.pages;
		const pages = this.#all().then((all) =>
			order === "smallkey"
				? [all.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1))]
				: pagesOf(byTitle(all, order)),
		);
		this.#sorted.set(order, { manifest, pages });
		pages.catch(() => this.#sorted.delete(order));
		return pages;
	}

	/** All entries, sorted by smallkey. The list is the same one as long as the manifest is. */
	async bySmallkey(): Promise<Entry[]> {
		const [all = []] = await this.pagesBy("smallkey");
		return all;
	}

	async #manifest() {
		return parseManifest((await this.text(manifestPath)) ?? "");
	}

	/** The entry of a layer; null if there is no such layer. */
	async find(smallkey: string): Promise<Entry | null> {
		const entries = await this.#chunk(chunkOf(smallkey), await this.#manifest());
		return entries.find((entry) => entry.smallkey === smallkey) ?? null;
	}

	async #all(): Promise<Entry[]> {
		const manifest = await this.#manifest();
		const all: Entry[] = [];
		for (let number = 0; number < chunkCount; number += 1) {
			for (const entry of await this.#chunk(number, manifest)) all.push(entry);
		}
		return all;
	}

	/** The layers of a chunk. @throws {Error} with its path if the file is missing or invalid */
	async #chunk(number: number, manifest: ReturnType<typeof parseManifest>): Promise<readonly Entry[]> {
		let path = manifest?.chunks[number] ?? null;
		for (let attempt = 1; path !== null; attempt += 1) {
			const known = this.#chunks.get(number);
			if (known?.path === path) return known.entries;
			const chunk = parseChunk((await this.text(path)) ?? "");
			if (chunk) {
				this.#chunks.set(number, { path, entries: chunk.entries });
				return chunk.entries;
			}
			if (attempt === maxAttempts) throw new Error(`${path}: is not there, or not whole`);
			path = (await this.#manifest())?.chunks[number] ?? null;
		}
		this.#chunks.delete(number);
		return [];
	}
}
