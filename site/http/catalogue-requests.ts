import type { OtherRoute, Question } from "../../api/context.ts";
import { answerTagged, type Reply, refuseFile } from "../../api/reply.ts";
import type { RunningService } from "../../api/service/extensions.ts";
import { type Lang, langs, parseSmallkey } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/untrusted-text.ts";
import { etagOf } from "../../store/hashes.ts";
import {
	chunkCount,
	chunkOf,
	type Entry,
	healthReportPath,
	manifestPath,
	parseChunk,
	parseHealthReport,
	parseManifest,
	parseRecent,
	recentPath,
} from "../data/entries.ts";
import { layerFile, listFile } from "../static/addresses.ts";
import { reloadSeconds } from "../static/frame.ts";
import { type PageSettings, pageSettingsPath } from "../static/html.ts";
import { layerRenderers } from "../static/layer-page.ts";
import { isListPage, listedEntries, renderListPage } from "../static/list-pages.ts";
import { byTitle, listHtml, pagesOf } from "../static/publishers.ts";
import {
	answerErrorPage,
	answerMoved,
	answerNoPage,
	noPage,
	noPageFile,
	type PageRoute,
	parsePage,
} from "./pages.ts";
import { pageHeaders } from "./site-headers.ts";

/** A chunk's file may be replaced after the manifest is read. */
const maxAttempts = 3;

/** Chunks are kept as long as the manifest names them. */
class CatalogueEntries {
	readonly #chunks = new Map<number, { path: string; entries: readonly Entry[] }>();
	/** Kept as long as the manifest is the same. */
	readonly #sorted = new Map<Lang | "smallkey", { manifest: string; pages: Promise<Entry[][]> }>();

	constructor(readonly text: (file: string) => Promise<string | null>) {}

	/** Made once for each manifest, also for requests that arrive meanwhile. */
	async pagesBy(order: Lang | "smallkey"): Promise<Entry[][]> {
		const manifest = (await this.text(manifestPath)) ?? "";
		const last = this.#sorted.get(order);
		if (last?.manifest === manifest) return last.pages;
		const pages = this.#all().then((all) =>
			order === "smallkey"
				? [all.sort((a, b) => (a.smallkey < b.smallkey ? -1 : 1))]
				: pagesOf(byTitle(all, order)),
		);
		this.#sorted.set(order, { manifest, pages });
		pages.catch(() => this.#sorted.delete(order));
		return pages;
	}

	async bySmallkey(): Promise<Entry[]> {
		const [all = []] = await this.pagesBy("smallkey");
		return all;
	}

	async #manifest() {
		return parseManifest((await this.text(manifestPath)) ?? "");
	}

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

	/** @throws {Error} with its path if the file is missing or invalid */
	async #chunk(number: number, manifest: ReturnType<typeof parseManifest>): Promise<readonly Entry[]> {
		let path = manifest?.chunks[number] ?? null;
		for (let attempt = 1; path !== null; attempt += 1) {
			const last = this.#chunks.get(number);
			if (last?.path === path) return last.entries;
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

export interface CatalogueFile {
	body: Uint8Array;
	etag: string;
	headers?: Record<string, string>;
}

export interface CatalogueFiles {
	/** Answers in a coding that `Accept-Encoding` allows. */
	find(file: string, acceptEncoding: string): Promise<CatalogueFile | null>;
	text(file: string): Promise<string | null>;
	headers: Record<string, string>;
	isSecure: boolean;
	/**
	 * A service writes the files. Then the plain list is rendered, too, and pages reload themselves until the
	 * first build.
	 */
	isLive: boolean;
	/** In milliseconds since 1970; null or absent if unknown. */
	lastLook?: RunningService["lastLook"];
}

export type Pages = (
	route: PageRoute,
	question: Pick<Question, "ifNoneMatch" | "acceptEncoding">,
) => Promise<Reply>;

/** Paths at which a person may expect a page, such as `fr/sante`. */
const pagePath = /\.html$|^(?:en|fr|list|guide)\//;

export class Catalogue {
	readonly entries: CatalogueEntries;
	#listed: (ReturnType<typeof listedEntries> & { of: readonly Entry[] }) | null = null;

	constructor(readonly files: CatalogueFiles) {
		this.entries = new CatalogueEntries((file) => files.text(file));
	}

	/** GET <base>/, /en/, /index/index.json and all other files of the catalogue. */
	readonly answer: Pages = async (route, { ifNoneMatch, acceptEncoding }) => {
		const { file, root } = route;
		const { find, headers: common, isSecure, isLive } = this.files;
		const result = (await find(file, acceptEncoding)) ?? (await this.#render(file));
		if (result) {
			const headers = { ...pageHeaders(file, isSecure), ...common, ...result.headers, ETag: result.etag };
			return answerTagged(headers, ifNoneMatch, () => result.body);
		}
		if (!pagePath.test(file)) return refuseFile();
		const settings = await this.settings();
		const isBuilding = isLive && settings === null && file !== noPageFile && file.endsWith(".html");
		if (!isBuilding) return answerNoPage(route, settings, isSecure);
		return answerErrorPage("building", 503, root, { "Retry-After": String(reloadSeconds) });
	};

	/** Null if there is no such page or layer. */
	async #render(file: string): Promise<CatalogueFile | null> {
		const isList = this.files.isLive && isListPage(file);
		const settings = isList || file.endsWith(".html") ? await this.settings() : null;
		const text = settings && (await (isList ? this.#listPage(file, settings) : this.#html(file, settings)));
		if (!text) return null;
		const body = new TextEncoder().encode(text);
		return { body, etag: etagOf(body) };
	}

	async #listPage(file: string, settings: PageSettings): Promise<string | null> {
		const entries = await this.entries.bySmallkey();
		if (this.#listed?.of !== entries) this.#listed = { of: entries, ...listedEntries(entries) };
		const report = parseHealthReport((await this.files.text(healthReportPath)) ?? "");
		const changes = parseRecent(await this.files.text(recentPath)) ?? [];
		const lastLook = this.files.lastLook?.() ?? null;
		return renderListPage(file, { ...this.#listed, report, changes, lastLook, settings });
	}

	async #html(file: string, settings: PageSettings): Promise<string | null> {
		const name = file.slice(file.lastIndexOf("/") + 1, -".html".length);
		const page = name === "index" ? 1 : /^[1-9]\d{0,5}$/.test(name) ? Number(name) : 0;
		for (const lang of langs) {
			for (const [kind, render] of layerRenderers) {
				if (!parseSmallkey(name) || layerFile(lang, name, kind) !== file) continue;
				const entry = await this.entries.find(name);
				return entry && render(lang, entry, settings);
			}
			if (this.files.isLive && page > 0 && listFile(lang, page) === file)
				return listHtml(lang, await this.entries.pagesBy(lang), page, settings);
		}
		return null;
	}

	async settings(): Promise<PageSettings | null> {
		const text = await this.files.text(pageSettingsPath);
		return text === null ? null : (tryJson(text) as PageSettings | null);
	}
}

/** With a page for every path that nothing else answers. */
export function catalogueRoutes(catalogueOf: () => Catalogue): OtherRoute[] {
	const bound = "a file, or one page rendered from entries in memory";
	const answer = (question: Question) => {
		const { path, basePath } = question;
		const route = parsePage(path, basePath);
		if (typeof route === "string") return answerMoved(route);
		return catalogueOf().answer(route ?? noPage(path, basePath), question);
	};
	return [
		{ name: "page", bound, matches: (path) => parsePage(path, "") !== null, answer },
		{ name: "page", bound, isFallback: true, matches: (path) => path.startsWith("/"), answer },
	];
}
