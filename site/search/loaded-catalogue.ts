import type { Lang } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
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

/** Copying 20,000 layers at once would block the page, and what is typed in it, for 50 ms. */
const maxSentAtOnce = 2_000;

class TextSearch {
	readonly #entries: Entry[] = [];
	/** Number of entries that the worker has. */
	#sent = 0;
	#worker: Worker | null = null;
	#serial = 0;

	constructor(readonly address: URL) {}

	add(entries: readonly Entry[]): void {
		this.#entries.push(...entries);
		if (this.#worker) void this.#send(this.#worker);
	}

	/** Rejects if the worker cannot be loaded. Never settles if a newer search replaces this one. */
	match(text: string): Promise<Matches> {
		const worker = this.#start();
		this.#serial += 1;
		const serial = this.#serial;
		return new Promise((resolve, reject) => {
			worker.onmessage = ({ data }) => data.serial === serial && resolve(data);
			worker.onerror = () => {
				this.#worker = null;
				this.#sent = 0;
				reject();
			};
			const search = { serial, text } satisfies ToMatcher;
			void this.#send(worker).then(() => serial === this.#serial && worker.postMessage(search));
		});
	}

	/** The first search need not wait for the index then. */
	prepare(): void {
		void this.#send(this.#start());
	}

	#start(): Worker {
		this.#worker ??= new Worker(this.address, { type: "module" });
		return this.#worker;
	}

	async #send(worker: Worker): Promise<void> {
		while (worker === this.#worker && this.#sent < this.#entries.length) {
			const add = this.#entries.slice(this.#sent, this.#sent + maxSentAtOnce);
			this.#sent += add.length;
			worker.postMessage({ add } satisfies ToMatcher);
			await new Promise((resolve) => setTimeout(resolve));
		}
	}

	close(): void {
		this.#worker?.terminate();
		this.#worker = null;
	}
}

const maxLayers = 10;

/** OGC API Records, "recordGeoJSON.yaml"; `extensions/records/records.ts`. */
interface ReadRecord {
	id: string;
	properties: { type: string; updated?: string; contacts?: { organization: string }[] };
	links: { rel: string; href: string; hreflang: Lang; title: string }[];
}

/** Their health is unknown. @throws {TypeError} if the service does not answer */
export async function firstAnswers(text: string, signal: AbortSignal): Promise<Entry[]> {
	const query = new URLSearchParams({ q: text, limit: String(maxLayers) });
	const answer = await readFile(`collections/layers/items?${query}`, "default", signal);
	const { features } = JSON.parse(answer ?? "{}") as { features?: ReadRecord[] };
	return (features ?? []).map(entryOf);
}

function entryOf({ id, properties, links }: ReadRecord): Entry {
	const of = (rel: string, lang: Lang) => links.find((link) => link.rel === rel && link.hreflang === lang);
	const title = { en: of("describedby", "en")?.title ?? id, fr: of("describedby", "fr")?.title ?? id };
	const fr = of("item", "fr")?.href;
	const [sender] = properties.contacts ?? [];
	return {
		smallkey: id,
		type: properties.type,
		title,
		address: { en: of("item", "en")?.href ?? "", ...(fr !== undefined && { fr }) },
		health: null,
		...(sender && { sender: sender.organization }),
		...(properties.updated !== undefined && { changed: { commit: "", date: properties.updated } }),
	};
}

class CatalogueUnusable extends Error {}

export function problemOf(error: unknown): string {
	return error instanceof CatalogueUnusable ? error.message : t("site-silent");
}

class Catalogue {
	readonly #controller = new AbortController();
	readonly #reads = new Map<string, Promise<unknown>>();
	readonly text = new TextSearch(workerAddress);
	readonly selection = new Selection(lang);
	layers: number | null = null;
	readonly problems: string[] = [];
	isRead = false;
	isComplete = false;
	onChange: () => void = () => undefined;

	constructor(readonly cache: RequestCache) {}

	close(): void {
		this.onChange = () => undefined;
		this.#controller.abort();
		this.text.close();
	}

	load(): Promise<void> {
		return this.#once("layers", async () => {
			const note = (error: unknown) => void this.problems.push(problemOf(error));
			const { layers = null, chunks = [] } = (await this.#manifest().catch(note)) ?? {};
			this.layers = layers;
			const add = async (chunk: number) => {
				const entries = (await this.#chunk(chunk).catch(note)) ?? [];
				if (entries.length === 0) return;
				this.selection.add(entries);
				this.text.add(entries);
				this.onChange();
			};
			await Promise.all(chunks.map((_, chunk) => add(chunk)));
			this.isRead = true;
			this.isComplete = this.problems.length === 0;
			this.onChange();
		});
	}

	match(text: string): Promise<Matches> {
		return this.text.match(text).catch(() => {
			this.problems.push(t("site-silent"));
			return { ids: [], words: [] };
		});
	}

	/** @throws an error that `problemOf` explains */
	async find(smallkey: string): Promise<Entry | null> {
		const entries = await this.#chunk(chunkOf(smallkey));
		return entries.find((entry) => entry.smallkey === smallkey) ?? null;
	}

	/** A failed read is tried again by the next call. */
	#once<T>(name: string, read: () => Promise<T>): Promise<T> {
		const result = (this.#reads.get(name) as Promise<T> | undefined) ?? read();
		this.#reads.set(name, result);
		result.catch(() => this.#reads.delete(name));
		return result;
	}

	#manifest(): Promise<Manifest> {
		return this.#once("manifest", () => this.#file(manifestPath, this.cache, parseManifest));
	}

	#chunk(number: number): Promise<readonly Entry[]> {
		const read = async ({ chunks }: Manifest, cache: RequestCache) => {
			const path = chunks[number] ?? null;
			return path === null ? [] : (await this.#file(path, cache, parseChunk)).entries;
		};
		return this.#once(`chunk ${number}`, async () => {
			const manifest = await this.#manifest();
			return read(manifest, "default").catch(async (error: unknown) => {
				// The manifest may name another file since a newer publication, or the browser's cached file
				// may be cut off.
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
		const isWhole = tryJson(text) !== null;
		throw new CatalogueUnusable(isWhole ? t("other-version") : t("part-missing", path));
	}
}

export let catalogue = new Catalogue("default");

/** The next read bypasses the browser's cache, because the catalogue has changed. */
export function renewCatalogue(): void {
	const { onChange } = catalogue;
	catalogue.close();
	catalogue = new Catalogue("reload");
	catalogue.onChange = onChange;
}
