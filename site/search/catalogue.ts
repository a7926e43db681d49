import {
	type Chunk,
	chunkOf,
	type Entry,
	type Manifest,
	manifestPath,
	parseChunk,
	parseManifest,
} from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Matched } from "./matcher.ts";
import { Selection } from "./select.ts";
import { TextSearch } from "./text-search.ts";

/** How a file is asked for: as it is now, or as it is kept, since its name holds the hash of its content. */
export type Freshness = "now" | "kept" | "sent again";

/** Reads a file by its path below the site; null where there is none. @throws {TypeError} where nothing answers */
export type ReadText = (path: string, freshness: Freshness, signal: AbortSignal) => Promise<string | null>;

/** Why a part of the catalogue cannot be used. */
export type CatalogueProblem =
	/** The catalogue is of a form that this page does not know. */
	| { kind: "version" }
	/** A file is missing or not whole. */
	| { kind: "file"; path: string }
	/** The site does not answer. */
	| { kind: "network" };

/** A part of the catalogue that cannot be used. */
export class CatalogueUnusable extends Error {
	constructor(readonly problem: CatalogueProblem) {
		super(problem.kind);
	}
}

/** The layers of the site: one of them by its smallkey, or all in memory. */
export class Catalogue {
	readonly #read: ReadText;
	readonly #lang: Lang;
	readonly #worker: URL;
	#under = new AbortController();
	#manifest: Promise<Manifest> | null = null;
	#chunks = new Map<number, Promise<readonly Entry[]>>();
	#text: TextSearch;
	#loading: Promise<void> | null = null;
	#isAgain = false;
	/** Layers that were read. */
	selection: Selection;
	/** Number of all layers; null while it is not known. */
	layers: number | null = null;
	problems: CatalogueProblem[] = [];
	isComplete = false;
	/** Is called when more layers were read. */
	onChange: () => void = () => undefined;

	/** @param worker address of the script that finds texts */
	constructor(read: ReadText, lang: Lang, worker: URL) {
		this.#read = read;
		this.#lang = lang;
		this.#worker = worker;
		this.selection = new Selection(lang);
		this.#text = new TextSearch(worker);
	}

	/** Forgets everything, and reads past any cache: for a catalogue that changed under the page. */
	renew(): void {
		this.#under.abort();
		this.#under = new AbortController();
		this.#text.close();
		this.#text = new TextSearch(this.#worker);
		this.selection = new Selection(this.#lang);
		this.#manifest = null;
		this.#chunks = new Map();
		this.#loading = null;
		this.#isAgain = true;
		this.layers = null;
		this.problems = [];
		this.isComplete = false;
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
			this.problems.push({ kind: "network" });
			return { ids: [], words: [] };
		}
	}

	/** What the catalogue says of one layer; null where it is not there. @throws {CatalogueUnusable} */
	async find(smallkey: string): Promise<Entry | null> {
		const entries = await this.#chunk(chunkOf(smallkey));
		return entries.find((entry) => entry.smallkey === smallkey) ?? null;
	}

	async #load(signal: AbortSignal): Promise<void> {
		const note = (error: unknown) => {
			if (signal.aborted) return;
			this.problems.push(error instanceof CatalogueUnusable ? error.problem : { kind: "network" });
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

	/** @throws {CatalogueUnusable} */
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
		const text = await this.#read(path, freshness, this.#under.signal).catch(() => {
			throw new CatalogueUnusable({ kind: "network" });
		});
		const value = text === null ? null : parse(text);
		if (value !== null) return value;
		const isOther = text !== null && /^\s*\{"version":\d+[,}]/.test(text) && text.trimEnd().endsWith("}");
		throw new CatalogueUnusable(isOther ? { kind: "version" } : { kind: "file", path });
	}
}

/** What failed may be tried again. */
function remembered<T>(known: Promise<T>, forget: () => void): Promise<T> {
	known.catch(forget);
	return known;
}
