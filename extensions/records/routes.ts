import type { OtherRoute, Question } from "../../api/context.ts";
import { type Client, Room } from "../../api/limits.ts";
import { answerTagged, machineHeaders, type Reply, refusalCaching, textReply } from "../../api/reply.ts";
import { etagOf } from "../../registry/etag.ts";
import { decodeSegment, type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { type Problem, problemAt, textIn } from "../../registry/texts.ts";
import type { Entry } from "../../site/data/entries.ts";
import type { Catalogue } from "../../site/http/catalogue-requests.ts";
import { rootFrom, segmentOf } from "../../site/http/pages.ts";
import { type ApiRoot, collectionId, itemPage, itemsPage, recordsPage } from "./records.ts";
import { type ItemsQuery, isWanted, parseItemsQuery, searchedText } from "./records-query.ts";

/** Most searches that run or wait; they run one after the other. */
export const maxSearches = 64;

/** Most characters that a search compares before other requests get a turn. */
export const maxTurnWork = 1_000_000;

/** Making the searched text of an entry takes as long as comparing it so many times. */
const textWork = 25;

/** Most entries of all kept results, and most results. */
const maxKeptEntries = 1_000_000;
const maxKept = 1_000;

/** Searches of all entries, in turns that are short for other requests. Results are kept until the entries change. */
export class Searches {
	readonly #room = new Room(maxSearches);
	#last: Promise<unknown> = Promise.resolve();
	/** The entries of the kept results. */
	#of: readonly Entry[] | null = null;
	/** Query → its result. */
	readonly #kept = new Map<string, readonly Entry[]>();
	#keptEntries = 0;
	/** The text of each entry in which a search looks; made by the first search. */
	readonly #texts = new WeakMap<Entry, string>();

	/** @param pause lets other requests have a turn; gets the characters that were compared in this one */
	constructor(readonly pause: (work: number) => Promise<void> = nextTurn) {}

	/**
	 * Finds the entries that match, in their order.
	 * @param load returns all entries: the same array as long as they are the same
	 * @returns null if too many searches wait
	 */
	async find(
		load: () => Promise<readonly Entry[]>,
		wanted: ItemsQuery,
		client: Client,
	): Promise<readonly Entry[] | null> {
		const own = this.#room.hold(client);
		if (own.take(1)) return null;
		const search = this.#last.then(async () => this.#search(await load(), wanted));
		this.#last = search.catch(() => undefined);
		return search.finally(own.end);
	}

	async #search(entries: readonly Entry[], wanted: ItemsQuery): Promise<readonly Entry[]> {
		if (this.#of !== entries || this.#keptEntries > maxKeptEntries || this.#kept.size >= maxKept) {
			this.#kept.clear();
			this.#keptEntries = 0;
			this.#of = entries;
		}
		const known = this.#kept.get(wanted.text);
		if (known) return known;
		let work = 0;
		const textOf = (entry: Entry) => {
			const text = this.#texts.get(entry);
			const made = text ?? searchedText(entry);
			if (text === undefined) this.#texts.set(entry, made);
			work += made.length * ((wanted.q?.length ?? 0) + (text === undefined ? textWork : 0));
			return made;
		};
		const found: Entry[] = [];
		for (const entry of entries) {
			work += 1;
			if (isWanted(entry, wanted, textOf)) found.push(entry);
			if (work < maxTurnWork) continue;
			await this.pause(work);
			work = 0;
		}
		await this.pause(work);
		this.#kept.set(wanted.text, found);
		this.#keptEntries += found.length;
		return found;
	}
}

function nextTurn(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, 0));
}

/** The first segments of the OGC API. */
const segments: ReadonlySet<string> = new Set(["collections", "conformance", "ogc"]);

/** GET <base>/ogc/…, /conformance and /collections… (OGC API Records). */
export function recordsRoutes(catalogue: Catalogue, searches = new Searches()): OtherRoute[] {
	async function answer(question: Question): Promise<Reply> {
		const { ifNoneMatch, address, client } = question;
		const [path = "", query = ""] = splitAtQuery(question.path);
		const below = path.slice(1);
		const part = below.replace(/^ogc(?:\/|$)/, "").replace(/\/$/, "");
		const settings = await catalogue.settings();
		if (!settings) return problem(503, problemAt("", "building"), { "Retry-After": "5" });
		const relative = rootFrom(below);
		const site = settings.publicUrl || (address === null ? relative : new URL(relative, address).href);
		// A proxy may publish only what is below `/ogc`.
		const root = { site, api: segmentOf(path) === "ogc" ? `${site}ogc/` : site };
		const items = `collections/${collectionId}/items`;
		if (part === items) return answerItems(query, root, ifNoneMatch, client);
		if (part.startsWith(`${items}/`)) {
			const smallkey = parseSmallkey(decodeSegment(part.slice(items.length + 1)) ?? "");
			const entry = smallkey === null ? null : await catalogue.entries.find(smallkey);
			return entry
				? json(itemPage(entry, root), ifNoneMatch, geoJson)
				: problem(404, problemAt("", "no-such-layer"));
		}
		const page = recordsPage(part, root);
		return page ? json(page, ifNoneMatch, "application/json") : problem(404, problemAt("", "no-resource"));
	}

	async function answerItems(
		query: string,
		root: ApiRoot,
		ifNoneMatch: string | null,
		client: Question["client"],
	): Promise<Reply> {
		const wanted = parseItemsQuery(query);
		if ("code" in wanted) return problem(400, wanted);
		const found = await searches.find(() => catalogue.entries.bySmallkey(), wanted, client);
		if (!found) return problem(503, problemAt("", "search-queue"), { "Retry-After": "1" });
		return json(itemsPage(found, wanted, root), ifNoneMatch, geoJson);
	}

	const bound = "64 searches at once, one after the other, in short turns";
	return [
		{ name: "records", bound, matches: (path) => segments.has(segmentOf(splitAtQuery(path)[0])), answer },
	];
}

function splitAtQuery(path: string): [path: string, query: string] {
	const at = path.indexOf("?");
	return at < 0 ? [path, ""] : [path.slice(0, at), path.slice(at + 1)];
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
