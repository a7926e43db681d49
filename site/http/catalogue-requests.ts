import type { OtherRoute, Question } from "../../api/context.ts";
import { answerTagged, emptyBody, type Reply, refuseFile } from "../../api/reply.ts";
import { tryJson } from "../../registry/untrusted.ts";
import { etagOf } from "../../store/hashes.ts";
import {
	chunkCount,
	chunkOf,
	type Entry,
	manifestPath,
	parseChunk,
	parseManifest,
	parseRecent,
	recentPath,
} from "../data/entries.ts";
import { layerRenderers } from "../static/layer-page.ts";
import { isListPage, renderListPage } from "../static/list-pages.ts";
import { type PageSettings, pageSettingsPath, pagesVersion } from "../static/page-settings.ts";
import { type Listed, listedEntries } from "../static/plain-list.ts";
import { answerErrorPage, answerNoPage, type PageRoute, pageHeaders, parsePage } from "./pages.ts";

/** A chunk may be replaced after the manifest is read. */
const maxAttempts = 3;

const allChunks = [...Array(chunkCount).keys()];

class CatalogueEntries {
	readonly #chunks = new Map<number, { path: string; entries: readonly Entry[] }>();
	#last: { manifest: string | null; listed: Promise<Listed> } | null = null;

	constructor(readonly text: (file: string) => Promise<string | null>) {}

	/** Made once for each manifest. */
	async listed(): Promise<Listed> {
		const manifest = await this.text(manifestPath);
		if (this.#last?.manifest === manifest) return this.#last.listed;
		const listed = this.#read(allChunks).then((entries) =>
			listedEntries(entries.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1))),
		);
		this.#last = { manifest, listed };
		listed.catch(() => {
			this.#last = null;
		});
		return listed;
	}

	async find(smallkey: string): Promise<Entry | null> {
		const entries = await this.#read([chunkOf(smallkey)]);
		return entries.find((entry) => entry.smallkey === smallkey) ?? null;
	}

	/** @throws {Error} with its path if a chunk's file is missing or invalid */
	async #read(numbers: readonly number[], attempt = 1): Promise<Entry[]> {
		const manifest = parseManifest(await this.text(manifestPath));
		const all: Entry[] = [];
		for (const number of numbers) {
			const path = manifest?.chunks[number];
			if (!path) continue;
			const last = this.#chunks.get(number);
			const { entries } = (last?.path === path ? last : parseChunk(await this.text(path))) ?? {};
			if (entries) {
				this.#chunks.set(number, { path, entries });
				all.push(...entries);
			} else if (attempt < maxAttempts) return this.#read(numbers, attempt + 1);
			else throw new Error(`${path}: is not there, or not whole`);
		}
		return all;
	}
}

export interface CatalogueFile {
	body: Uint8Array;
	etag: string;
	headers?: Record<string, string>;
}

interface CatalogueFiles {
	find(file: string, acceptEncoding: string): Promise<CatalogueFile | null>;
	text(file: string): Promise<string | null>;
	headers: Record<string, string>;
	isSecure: boolean;
	/** A service renders the plain list, and pages reload until its first build. */
	isLive: boolean;
}

/** Paths at which a person may expect a page, such as `fr/sante`. */
const pagePath = /\.html$|^(?:en|fr|list|guide)\//;

export class Catalogue {
	readonly entries: CatalogueEntries;

	constructor(readonly files: CatalogueFiles) {
		this.entries = new CatalogueEntries((file) => files.text(file));
	}

	/** GET <base>/, /en/, /index/index.json and all other files of the catalogue. */
	async answer(
		{ file, root, layer }: PageRoute,
		{ ifNoneMatch, acceptEncoding }: Pick<Question, "ifNoneMatch" | "acceptEncoding">,
	): Promise<Reply> {
		const { find, headers: common, isSecure, isLive } = this.files;
		const result = await find(file, acceptEncoding);
		const text = result ? null : await this.#page(file, layer);
		const body = text ? new TextEncoder().encode(text) : result?.body;
		if (body) {
			const ETag = result?.etag ?? etagOf(body);
			const headers = { ...pageHeaders(file, { isSecure }), ...common, ...result?.headers, ETag };
			return answerTagged(headers, ifNoneMatch, () => body);
		}
		if (!pagePath.test(file)) return refuseFile();
		const isBuilding = isLive && file.endsWith(".html") && (await this.settings()) === null;
		return answerErrorPage(isBuilding ? "building" : "no-page", root);
	}

	async #page(file: string, layer: PageRoute["layer"]): Promise<string | null> {
		if (!layer && !(this.files.isLive && isListPage(file))) return null;
		const settings = await this.settings();
		if (!settings) return null;
		if (layer) {
			const entry = await this.entries.find(layer.smallkey);
			return entry && layerRenderers[layer.page](layer.lang, entry, settings);
		}
		// Pages of the plain list show no changes.
		const recent = file.startsWith("list/") ? null : await this.files.text(recentPath);
		const { changes = [] } = parseRecent(recent) ?? {};
		return renderListPage(file, { ...(await this.entries.listed()), changes, settings });
	}

	/** Null before the first build of this version. */
	async settings(): Promise<PageSettings | null> {
		const settings = tryJson((await this.files.text(pageSettingsPath)) ?? "") as PageSettings | null;
		return settings?.version === pagesVersion ? settings : null;
	}
}

/** For all paths that no route before it has. */
export function catalogueRoute(catalogue: Catalogue): OtherRoute {
	const answer = (question: Question) => {
		const { path, basePath } = question;
		const route = parsePage(path, basePath);
		if (typeof route === "string")
			return { status: 301, headers: { Location: route, "Cache-Control": "no-cache" }, body: emptyBody };
		return route ? catalogue.answer(route, question) : answerNoPage(path, basePath);
	};
	return { name: "page", matches: (path) => path.startsWith("/"), answer };
}
