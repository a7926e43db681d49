import {
	type Chunk,
	chunkOf,
	type Entry,
	type Manifest,
	manifestPath,
	parseChunk,
	parseManifest,
} from "../../registry/entries.ts";
import { type Freshness, readFile, workerAddress } from "../page/page.ts";
import { lang, t } from "../page/texts.ts";
import type { Text } from "../text/translate.ts";
import type { Matched } from "./matcher.ts";
import { Selection } from "./select.ts";
import { TextSearch } from "./text-search.ts";

export const noAnswer: Text = "This site does not answer: check the connection, then try again.";

const otherVersion: Text =
	"The catalogue is of another version than this page. Load the page again; the plain list works meanwhile.";

const incomplete: Text =
	"A part of the catalogue is missing or not whole ({0}): it may have been published again just now. What is there is shown.";

/** A part of the catalogue cannot be used. The message is for users. */
class CatalogueUnusable extends Error {}

/** A text for users: why a part of the catalogue could not be read. */
export function problemOf(error: unknown): string {
	return error instanceof CatalogueUnusable ? error.message : t(noAnswer);
}

/** Reads the layers of the site: one layer by its smallkey, or all of them into memory. */
class Catalogue {
	readonly #controller = new AbortController();
	/** What was read or is being read, by name. */
	readonly #reads = new Map<string, Promise<unknown>>();
	readonly #text = new TextSearch(workerAddress);
	readonly #isRenewed: boolean;
	readonly selection = new Selection(lang);
	/** Number of all layers; null until the manifest is read. */
	layers: number | null = null;
	/** Why parts of the catalogue cannot be used, as texts for users. */
	readonly problems: string[] = [];
	isComplete = false;
	/** Called after more layers were read. */
	onChange: () => void = () => undefined;

	/** @param isRenewed whether the manifest is read past the browser's cache */
	constructor(isRenewed = false) {
		this.#isRenewed = isRenewed;
	}

	close(): void {
		this.#controller.abort();
		this.#text.close();
	}

	/** Reads all layers, each once. */
	load(): Promise<void> {
		return this.#once("layers", () => this.#load(this.#controller.signal));
	}

	/** Finds a text in the layers that were read; null if a newer search has replaced this one. */
	async match(text: string): Promise<Matched | null> {
		try {
			return await this.#text.match(text);
		} catch {
			this.problems.push(t(noAnswer));
			return { ids: [], words: [] };
		}
	}

	/** The entry of one layer; null if it does not exist. @throws an error that `problemOf` explains */
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

	/** Reads something once. A failed read is forgotten, so that the next call tries again. */
	#once<T>(name: string, read: () => Promise<T>): Promise<T> {
		const known = (this.#reads.get(name) as Promise<T> | undefined) ?? read();
		this.#reads.set(name, known);
		known.catch(() => this.#reads.delete(name));
		return known;
	}

	#readManifest(): Promise<Manifest> {
		const freshness = this.#isRenewed ? "reloaded" : "cached";
		return this.#once("manifest", () => this.#file(manifestPath, freshness, parseManifest));
	}

	#chunk(number: number): Promise<readonly Entry[]> {
		return this.#once(`chunk ${number}`, () => this.#readChunk(number));
	}

	async #readChunk(number: number): Promise<readonly Entry[]> {
		const path = (await this.#readManifest()).chunks[number] ?? null;
		if (path === null) return [];
		try {
			return (await this.#file<Chunk>(path, "cached", parseChunk)).entries;
		} catch (error) {
			// The manifest may name another file since a newer publication, or the browser's cached file may be cut off.
			const manifest = await this.#file(manifestPath, "reloaded", parseManifest).catch(() => null);
			if (!manifest) throw error;
			const other = manifest.chunks[number] ?? null;
			return other === null ? [] : (await this.#file<Chunk>(other, "reloaded", parseChunk)).entries;
		}
	}

	async #file<T>(path: string, freshness: Freshness, parse: (text: string) => T | null): Promise<T> {
		const text = await readFile(path, freshness, this.#controller.signal);
		const value = text === null ? null : parse(text);
		if (value !== null) return value;
		const isOther = text !== null && /^\s*\{"version":\d+[,}]/.test(text) && text.trimEnd().endsWith("}");
		throw new CatalogueUnusable(isOther ? t(otherVersion) : t(incomplete, path));
	}
}

export let catalogue = new Catalogue();

/** Discards all layers in memory. The next read bypasses the browser's cache, because the catalogue has changed. */
export function renewCatalogue(): void {
	const { onChange } = catalogue;
	catalogue.close();
	catalogue = new Catalogue(true);
	catalogue.onChange = onChange;
}
