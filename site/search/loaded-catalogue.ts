import {
	chunkOf,
	type Entry,
	type Manifest,
	manifestPath,
	parseChunk,
	parseManifest,
} from "../data/entries.ts";
import { lang, readFile, t, workerAddress } from "../page/page.ts";
import type { Matches } from "./matcher.ts";
import { Selection } from "./select.ts";

export type ToMatcher = { add: readonly Entry[] } | { serial: number; text: string };

const prepareMs = 200;

class CatalogueUnusable extends Error {}

export function problemOf(error: unknown): string {
	return error instanceof CatalogueUnusable ? error.message : t("site-silent");
}

/** Reads the layers in chunks, and searches them in a worker. */
class Catalogue {
	readonly #controller = new AbortController();
	readonly #reads = new Map<string, Promise<unknown>>();
	readonly #entries: Entry[] = [];
	#worker: Worker | null = null;
	/** Entries that the worker has. */
	#sent = 0;
	#lastSerial = 0;
	readonly selection = new Selection(lang);
	layers: number | null = null;
	readonly problems: string[] = [];
	/** Each chunk is read, or has failed. */
	isRead = false;
	isComplete = false;
	onChange: () => void = () => undefined;

	constructor(readonly cache: RequestCache) {}

	close(): void {
		this.onChange = () => undefined;
		this.#controller.abort();
		this.#worker?.terminate();
	}

	load(): Promise<void> {
		return this.#once("layers", async () => {
			const note = (error: unknown) => void this.problems.push(problemOf(error));
			const { layers = null, chunks = [] } = (await this.#manifest().catch(note)) ?? {};
			this.layers = layers;
			const reads = chunks.map((_, number) => this.#chunk(number));
			await Promise.all(reads.map((read) => read.then((entries) => this.#add(entries), note)));
			this.isRead = true;
			this.isComplete = this.problems.length === 0;
			this.onChange();
			// Indexes before the first search, but after the first rows are shown.
			setTimeout(() => this.#controller.signal.aborted || this.#prepare(), prepareMs);
		});
	}

	#add(entries: readonly Entry[]) {
		if (entries.length === 0) return;
		this.selection.add(entries);
		this.#entries.push(...entries);
		if (this.#worker) this.#prepare();
		this.onChange();
	}

	/** Sends the worker the entries that it lacks. */
	#prepare() {
		const worker = this.#worker ?? new Worker(workerAddress, { type: "module" });
		this.#worker = worker;
		worker.onerror = () => {
			this.#worker = null;
			this.#sent = 0;
		};
		const add = this.#entries.slice(this.#sent);
		this.#sent += add.length;
		if (add.length > 0) worker.postMessage({ add } satisfies ToMatcher);
		return worker;
	}

	/** Never settles if a newer search replaces this one. Nothing matches if the worker cannot be loaded. */
	match(text: string): Promise<Matches> {
		const worker = this.#prepare();
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		return new Promise((resolve) => {
			worker.onmessage = ({ data }) => data.serial === serial && resolve(data);
			worker.addEventListener("error", () => {
				this.problems.push(t("site-silent"));
				resolve({ ids: [], words: [] });
			});
			worker.postMessage({ serial, text } satisfies ToMatcher);
		});
	}

	/** @throws an error that `problemOf` explains */
	async find(smallkey: string): Promise<Entry | null> {
		const entry = await this.findAnyCase(smallkey);
		return entry?.smallkey === smallkey ? entry : null;
	}

	/** Prefers the exact spelling. @throws as `find` does */
	async findAnyCase(smallkey: string): Promise<Entry | null> {
		const entries = await this.#chunk(chunkOf(smallkey));
		const lower = smallkey.toLowerCase();
		const spellings = entries.filter((entry) => entry.smallkey.toLowerCase() === lower);
		return spellings.find((entry) => entry.smallkey === smallkey) ?? spellings[0] ?? null;
	}

	/** Calls of the same name share one read, unless it has failed. */
	#once<T>(name: string, read: () => Promise<T>): Promise<T> {
		const result = (this.#reads.get(name) as Promise<T> | undefined) ?? read();
		this.#reads.set(name, result);
		result.catch(() => this.#reads.delete(name));
		return result;
	}

	#manifest() {
		return this.#once("manifest", () => this.#file(manifestPath, this.cache, parseManifest));
	}

	#chunk(number: number): Promise<readonly Entry[]> {
		const read = async ({ chunks }: Manifest, cache: RequestCache) => {
			const path = chunks[number];
			return path ? (await this.#file(path, cache, parseChunk)).entries : [];
		};
		return this.#once(`chunk ${number}`, async () => {
			const manifest = await this.#manifest();
			return read(manifest, "default").catch(async (error: unknown) => {
				// A newer publication may have replaced the file, or the browser's copy may be incomplete.
				const newer = await this.#file(manifestPath, "reload", parseManifest).catch(() => null);
				if (!newer) throw error;
				return read(newer, "reload");
			});
		});
	}

	async #file<T>(path: string, cache: RequestCache, parse: (text: string) => T | null): Promise<T> {
		const text = (await readFile(path, cache, this.#controller.signal)) ?? "";
		const value = parse(text);
		if (value !== null) return value;
		throw new CatalogueUnusable(t("part-missing", path));
	}
}

export let catalogue = new Catalogue("default");

/** The next read bypasses the browser's cache. */
export function renewCatalogue(): void {
	const { onChange } = catalogue;
	catalogue.close();
	catalogue = new Catalogue("reload");
	catalogue.onChange = onChange;
}
