import type { Question } from "../../api/context.ts";
import { answerTagged, type Reply, refuseFile } from "../../api/reply.ts";
import type { RunningService } from "../../api/service/extensions.ts";
import { etagOf } from "../../registry/etag.ts";
import { healthReportPath, parseHealthReport } from "../../registry/health.ts";
import { langs, parseSmallkey } from "../../registry/smallkey.ts";
import { tryJson } from "../../registry/try-json.ts";
import type { Entry } from "../data/entries.ts";
import { parseRecent, recentPath } from "../data/recent.ts";
import { layerFile, listFile } from "../static/addresses.ts";
import { reloadSeconds } from "../static/error-page.ts";
import { type PageSettings, pageSettingsPath } from "../static/html.ts";
import { layerRenderers } from "../static/layer.ts";
import { listHtml } from "../static/list.ts";
import { isListPage, listedEntries, renderListPage } from "../static/list-pages.ts";
import { CatalogueEntries } from "./catalogue-entries.ts";
import { answerErrorPage, answerNoPage, noPageFile, type PageRoute } from "./pages.ts";
import { pageHeaders } from "./site-headers.ts";

/** A file of the catalogue as it is sent. */
export interface CatalogueFile {
	body: Uint8Array;
	etag: string;
	/** Headers of these bytes, such as their coding. */
	headers?: Record<string, string>;
}

/** The files of a catalogue, where an engine has them. */
export interface CatalogueFiles {
	/** Finds a file, in a coding that `Accept-Encoding` allows; null if there is no such file. */
	find(file: string, acceptEncoding: string): Promise<CatalogueFile | null>;
	/** Reads a file from which pages are rendered; null if there is no such file. */
	text(file: string): Promise<string | null>;
	/** Headers of each file and page. */
	headers: Record<string, string>;
	/** Whether the catalogue is served over https only. */
	isSecure: boolean;
	/**
	 * Whether a service writes the files beside this process. Then the plain list is rendered, too, and pages reload
	 * themselves until the first build.
	 */
	isLive: boolean;
	/** When a layer's service was asked last, in milliseconds since 1970, or null; null or absent if it is not known here. */
	lastLook?: RunningService["lastLook"];
}

/** Answers a request for a file of the catalogue. */
export type Pages = (
	wanted: PageRoute,
	question: Pick<Question, "ifNoneMatch" | "acceptEncoding">,
) => Promise<Reply>;

/** Pages, and paths at which a person may expect a page, such as `fr/sante`. */
const pagePath = /\.html$|^(?:en|fr|list|guide)\//;

/**
 * Answers requests for the catalogue. Pages of layers and the plain list are rendered from the catalogue's entries on
 * request.
 */
export class Catalogue {
	readonly entries: CatalogueEntries;
	/** The layers of each publisher, as long as all entries are the same. */
	#listed: (ReturnType<typeof listedEntries> & { of: readonly Entry[] }) | null = null;

	constructor(readonly files: CatalogueFiles) {
		this.entries = new CatalogueEntries((file) => files.text(file));
	}

	/** GET <base>/, /en/, /index/index.json and all other files of the catalogue. */
	readonly answer: Pages = async (wanted, { ifNoneMatch, acceptEncoding }) => {
		const { file, root } = wanted;
		const { find, headers: common, isSecure, isLive } = this.files;
		const found = (await find(file, acceptEncoding)) ?? (await this.#render(file));
		if (found) {
			const headers = { ...pageHeaders(file, isSecure), ...common, ...found.headers, ETag: found.etag };
			return answerTagged(headers, ifNoneMatch, () => found.body);
		}
		if (!pagePath.test(file)) return refuseFile();
		const settings = await this.settings();
		const isBuilding = isLive && settings === null && file !== noPageFile && file.endsWith(".html");
		if (!isBuilding) return answerNoPage(wanted, settings, isSecure);
		return answerErrorPage("building", 503, root, { "Retry-After": String(reloadSeconds) });
	};

	/** Renders the page of a layer, a page of a list, or a table or feed; null if the file is none, or there is no such layer. */
	async #render(file: string): Promise<CatalogueFile | null> {
		const isList = this.files.isLive && isListPage(file);
		const settings = isList || file.endsWith(".html") ? await this.settings() : null;
		const text = settings && (await (isList ? this.#listPage(file, settings) : this.#html(file, settings)));
		if (!text) return null;
		const body = new TextEncoder().encode(text);
		return { body, etag: etagOf(body) };
	}

	/** Renders a page, table or feed of changes, health or a publisher. */
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

	/** The settings of its pages; null before the first build. */
	async settings(): Promise<PageSettings | null> {
		const text = await this.files.text(pageSettingsPath);
		return text === null ? null : (tryJson(text) as PageSettings | null);
	}
}
