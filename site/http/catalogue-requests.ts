import type { ReadRepairs } from "../../api/context.ts";
import {
	answerTagged,
	machineHeaders,
	type Reply,
	refusalCaching,
	refuseFile,
	textReply,
} from "../../api/reply.ts";
import type { Client } from "../../api/room.ts";
import {
	type ApiRoot,
	collectionId,
	itemPage,
	itemsPage,
	recordsPage,
} from "../../extensions/records/records.ts";
import { parseItemsQuery } from "../../extensions/records/records-query.ts";
import { Searches } from "../../extensions/records/search.ts";
import { isRepairPage, renderRepairPage } from "../../extensions/repair/repair-routes.ts";
import { etagOf } from "../../registry/etag.ts";
import { healthReportPath, parseHealthReport } from "../../registry/health.ts";
import { decodeSegment, type Lang, langs, parseSmallkey } from "../../registry/smallkey.ts";
import { type Problem, problemAt, textIn } from "../../registry/texts.ts";
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
	/** When a layer's service was asked last, in milliseconds since 1970, or null; absent if it is not known here. */
	lastLook?: (smallkey: string) => number | null;
	/** Reads the repairs that wait; absent if they are not on this machine. */
	repairs?: ReadRepairs | undefined;
}

/** What the headers of a request say. `acceptEncoding` is empty if there is no such header. */
interface Question {
	ifNoneMatch: string | null;
	acceptEncoding: string;
	/** The absolute address of the request, for links; null or absent if it is not known, so that links are relative. */
	address?: string | null;
	/** Who asks, for the limit of searches; absent: not limited. */
	client?: Client;
}

/** Answers a request for a file of the catalogue or for records. */
export type Pages = (wanted: PageRoute, question: Question) => Promise<Reply>;

/** Pages, and paths at which a person may expect a page, such as `fr/sante`. */
const pagePath = /\.html$|^(?:en|fr|list|guide)\//;

/**
 * Answers requests for the catalogue. Pages of layers, the plain list and records are rendered from the catalogue's
 * entries on request.
 */
export class Catalogue {
	readonly #entries: CatalogueEntries;
	/** The layers of each publisher, as long as all entries are the same. */
	#listed: (ReturnType<typeof listedEntries> & { of: readonly Entry[] }) | null = null;

	constructor(
		readonly files: CatalogueFiles,
		readonly searches = new Searches(),
	) {
		this.#entries = new CatalogueEntries((file) => files.text(file));
	}

	/** GET <base>/, /en/, /index/index.json and all other files of the catalogue, and the records of its layers. */
	readonly answer: Pages = async (wanted, { ifNoneMatch, acceptEncoding, address = null, client = [] }) => {
		if (wanted.kind === "records") return this.#records(wanted, ifNoneMatch, address, client);
		const { file, root } = wanted;
		if (isRepairPage(file)) {
			const { repairs } = this.files;
			const html =
				repairs &&
				(await renderRepairPage(file, repairs, await this.#settings(), (key) => this.#entries.find(key)));
			if (!html) return answerNoPage(wanted, await this.#settings(), this.files.isSecure);
			const headers = pageHeaders(file, this.files.isSecure);
			return { status: 200, headers, body: new TextEncoder().encode(html) };
		}
		const { find, headers: common, isSecure, isLive } = this.files;
		const found = (await find(file, acceptEncoding)) ?? (await this.#render(file));
		if (found) {
			const headers = { ...pageHeaders(file, isSecure), ...common, ...found.headers, ETag: found.etag };
			return answerTagged(headers, ifNoneMatch, () => found.body);
		}
		if (!pagePath.test(file)) return refuseFile();
		const settings = await this.#settings();
		const isBuilding = isLive && settings === null && file !== noPageFile && file.endsWith(".html");
		if (!isBuilding) return answerNoPage(wanted, settings, isSecure);
		return answerErrorPage("building", 503, root, { "Retry-After": String(reloadSeconds) });
	};

	/** Renders the page of a layer, a page of a list, or a table or feed; null if the file is none, or there is no such layer. */
	async #render(file: string): Promise<CatalogueFile | null> {
		const isList = this.files.isLive && isListPage(file);
		const settings = isList || file.endsWith(".html") ? await this.#settings() : null;
		const text = settings && (await (isList ? this.#listPage(file, settings) : this.#html(file, settings)));
		if (!text) return null;
		const body = new TextEncoder().encode(text);
		return { body, etag: etagOf(body) };
	}

	/** Renders a page, table or feed of changes, health or a publisher. */
	async #listPage(file: string, settings: PageSettings): Promise<string | null> {
		const entries = await this.#entries.bySmallkey();
		if (this.#listed?.of !== entries) this.#listed = { of: entries, ...listedEntries(entries) };
		const report = parseHealthReport((await this.files.text(healthReportPath)) ?? "");
		const changes = parseRecent(await this.files.text(recentPath)) ?? [];
		const { lastLook = null } = this.files;
		return renderListPage(file, { ...this.#listed, report, changes, lastLook, settings });
	}

	async #html(file: string, settings: PageSettings): Promise<string | null> {
		const name = file.slice(file.lastIndexOf("/") + 1, -".html".length);
		const page = name === "index" ? 1 : /^[1-9]\d{0,5}$/.test(name) ? Number(name) : 0;
		for (const lang of langs) {
			for (const [kind, render] of layerRenderers) {
				if (!parseSmallkey(name) || layerFile(lang, name, kind) !== file) continue;
				const entry = await this.#entries.find(name);
				return entry && render(lang, entry, settings);
			}
			if (this.files.isLive && page > 0 && listFile(lang, page) === file)
				return listHtml(lang, await this.#entries.pagesBy(lang), page, settings);
		}
		return null;
	}

	/** GET <base>/ogc/…, /conformance and /collections… (OGC API Records). */
	async #records(
		{ path, query, root: relative, isBelowOgc }: Extract<PageRoute, { kind: "records" }>,
		ifNoneMatch: string | null,
		address: string | null,
		client: Client,
	): Promise<Reply> {
		const settings = await this.#settings();
		if (!settings) return problem(503, problemAt("", "building"), { "Retry-After": "5" });
		const site = settings.publicUrl || (address === null ? relative : new URL(relative, address).href);
		// A proxy may publish only what is below `/ogc`.
		const root = { site, api: isBelowOgc ? `${site}ogc/` : site };
		const items = `collections/${collectionId}/items`;
		if (path === items) return this.#items(query, root, ifNoneMatch, client);
		if (path.startsWith(`${items}/`)) {
			const smallkey = parseSmallkey(decodeSegment(path.slice(items.length + 1)) ?? "");
			const entry = smallkey === null ? null : await this.#entries.find(smallkey);
			return entry
				? json(itemPage(entry, root), ifNoneMatch, geoJson)
				: problem(404, problemAt("", "no-such-layer"));
		}
		const page = recordsPage(path, root);
		return page ? json(page, ifNoneMatch, "application/json") : problem(404, problemAt("", "no-resource"));
	}

	async #items(query: string, root: ApiRoot, ifNoneMatch: string | null, client: Client): Promise<Reply> {
		const wanted = parseItemsQuery(query);
		if ("code" in wanted) return problem(400, wanted);
		const found = await this.searches.find(() => this.#entries.bySmallkey(), wanted, client);
		if (!found) return problem(503, problemAt("", "search-queue"), { "Retry-After": "1" });
		return json(itemsPage(found, wanted, root), ifNoneMatch, geoJson);
	}

	async #settings(): Promise<PageSettings | null> {
		const text = await this.files.text(pageSettingsPath);
		return text === null ? null : (tryJson(text) as PageSettings | null);
	}
}

const geoJson = "application/geo+json";

function json(value: object, ifNoneMatch: string | null, type: string): Reply {
	const body = new TextEncoder().encode(JSON.stringify(value));
	const headers = { "Content-Type": type, ...machineHeaders, ETag: etagOf(body) };
	return answerTagged(headers, ifNoneMatch, () => body);
}

/** An exception of the OGC API (OGC API Common, "exception.yaml"), with the service's own member `errors`. */
function problem(status: number, error: Problem, headers: Record<string, string> = {}): Reply {
	const code = { 400: "InvalidParameterValue", 404: "NotFound" }[status] ?? "ServerError";
	const valueIn = (lang: Lang) => {
		const text = textIn(lang, error);
		return { code, description: text, errors: [text] };
	};
	return textReply(status, valueIn, { ...machineHeaders, "Cache-Control": refusalCaching, ...headers });
}
