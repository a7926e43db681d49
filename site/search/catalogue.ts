import {
	type Chunk,
	chunkOf,
	type Entry,
	type Manifest,
	manifestPath,
	parseChunk,
	parseManifest,
} from "../../registry/entries.ts";
import { type Freshness, lang, readFile, texts, workerAddress } from "../page/page.ts";
import type { Matched } from "./matcher.ts";
import { Selection } from "./select.ts";
import { TextSearch } from "./text-search.ts";

/** A part of the catalogue that cannot be used. The message says why to people. */
class CatalogueUnusable extends Error {}

/** Why something of the catalogue could not be read, in words. */
export function problemOf(error: unknown): string {
	return error instanceof CatalogueUnusable ? error.message : texts.problemNetwork;
}

/** The layers of the site: one of them by its smallkey, or all in memory. */
class Catalogue {
	readonly #under = new AbortController();
	readonly #chunks = new Map<number, Promise<readonly Entry[]>>();
	readonly #text = new TextSearch(workerAddress);
	readonly #isAgain: boolean;
	#manifest: Promise<Manifest> | null = null;
	#loading: Promise<void> | null = null;
	readonly selection = new Selection(lang);
	/** Number of all layers; null while it is not known. */
	layers: number | null = null;
	/** What cannot be used, in words. */
	readonly problems: string[] = [];
	isComplete = false;
	/** Is called when more layers were read. */
	onChange: () => void = () => undefined;

	/** @param isAgain whether it is read past any cache */
	constructor(isAgain = false) {
		this.#isAgain = isAgain;
	}

	close(): void {
		this.#under.abort();
		this.#text.close();
	}

	/** Reads all layers, each once. */
	load(): Promise<void> {
		this.#loading ??= this.#load(this.#under.signal);
		return this.#loading;
	}

	/** What a text finds among the layers that were read; null where another text was asked for meanwhile. */
	async match(text: string): Promise<Matched | null> {
		try {
			return await this.#text.match(text);
		} catch {
			this.problems.push(texts.problemNetwork);
			return { ids: [], words: [] };
		}
	}

	/** What the catalogue says of one layer; null where it is not there. @throws what `problemOf` has words for */
	async find(smallkey: string): Promise<Entry | null> {
		const entries = await this.#chunk(chunkOf(smallkey));
		return entries.find((entry) => entry.smallkey === smallkey) ?? null;
	}

	async #load(signal: AbortSignal): Promise<void> {
		const note = (error: unknown) => {
			if (!signal.aborted) this.problems.push(problemOf(error));
		};
		const manifest = await this.#readManifest().catch(note);
		if (manifest) {
			this.layers = manifest.layers;
			await Promise.all(
				manifest.chunks.map(async (path, chunk) => {
					const entries = path === null ? [] : ((await this.#chunk(chunk).catch(note)) ?? []);
					if (signal.aborted || entries.length === 0) return;
					this.selection.add(entries);
					this.#text.add(entries);
					this.onChange();
				}),
			);
		}
		if (signal.aborted) return;
		this.isComplete = this.problems.length === 0;
		this.onChange();
	}

	#readManifest(): Promise<Manifest> {
		this.#manifest ??= this.#file(manifestPath, this.#isAgain ? "sent again" : "kept", parseManifest);
		return remembered(this.#manifest, () => {
			this.#manifest = null;
		});
	}

	#chunk(chunk: number): Promise<readonly Entry[]> {
		const known = this.#chunks.get(chunk) ?? this.#readChunk(chunk);
		this.#chunks.set(chunk, known);
		return remembered(known, () => this.#chunks.delete(chunk));
	}

	async #readChunk(number: number): Promise<readonly Entry[]> {
		const path = (await this.#readManifest()).chunks[number] ?? null;
		if (path === null) return [];
		try {
			return (await this.#file<Chunk>(path, "kept", parseChunk)).entries;
		} catch (error) {
			// A publication in between: the manifest names another file by now. Otherwise what the browser keeps may be cut.
			const manifest = await this.#file(manifestPath, "sent again", parseManifest).catch(() => null);
			if (!manifest) throw error;
			const other = manifest.chunks[number] ?? null;
			return other === null ? [] : (await this.#file<Chunk>(other, "sent again", parseChunk)).entries;
		}
	}

	async #file<T>(path: string, freshness: Freshness, parse: (text: string) => T | null): Promise<T> {
		const text = await readFile(path, freshness, this.#under.signal);
		const value = text === null ? null : parse(text);
		if (value !== null) return value;
		const isOther = text !== null && /^\s*\{"version":\d+[,}]/.test(text) && text.trimEnd().endsWith("}");
		throw new CatalogueUnusable(isOther ? texts.problemVersion : texts.problemPiece(path));
	}
}

/** What failed may be tried again. */
function remembered<T>(known: Promise<T>, forget: () => void): Promise<T> {
	known.catch(forget);
	return known;
}

export let catalogue = new Catalogue();

/** Forgets everything, and reads past any cache: for a catalogue that changed under the page. */
export function renewCatalogue(): void {
	const { onChange } = catalogue;
	catalogue.close();
	catalogue = new Catalogue(true);
	catalogue.onChange = onChange;
}
