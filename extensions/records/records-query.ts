import { langs } from "../../registry/smallkey.ts";
import { type Problem, problemAt, type Text, textOf } from "../../registry/texts.ts";
import type { Bounds, Entry } from "../../site/data/entries.ts";
import { allKeywords, intersects, senderOf } from "../../site/search/select.ts";
import { fold } from "../../site/search/words.ts";

/** A parsed query for items; a filter that is null accepts every record. */
export interface ItemsQuery {
	/** Folded phrases, of which the record's texts must contain at least one. */
	q: string[] | null;
	bbox: Bounds | null;
	ids: ReadonlySet<string> | null;
	types: ReadonlySet<string> | null;
	limit: number;
	offset: number;
	/** The query string without `limit` and `offset`, for links to other pages. */
	text: string;
}

const defaultLimit = 10;
const maxLimit = 200;
/** Most phrases of `q`, characters of all of them, and characters of a whole query. */
const maxPhrases = 10;
const maxPhrasesLength = 200;
const maxQueryLength = 8_000;

/** The accepted parameters: whether a value is valid, and the text of what it must be. */
const rules = new Map<string, [isValid: (text: string) => boolean, must: string | Text]>([
	...["q", "ids", "type"].map((name) => [name, [() => true, ""]] as [string, [() => true, string]]),
	["limit", [(text) => /^0*[1-9]\d{0,8}$/.test(text), textOf("an-integer")]],
	["offset", [(text) => /^\d{1,9}$/.test(text), textOf("an-integer")]],
	["bbox", [(text) => parseBbox(text) !== null, textOf("a-box")]],
	// Layers have no time, so every layer matches any time (OGC API Features, /req/core/fc-time-response, C).
	["datetime", [isTime, textOf("a-time")]],
	["f", [(text) => text === "json", "json"]],
]);

/** Parses a query for items; returns a problem if it is invalid. @param query without its `?` */
export function parseItemsQuery(query: string): ItemsQuery | Problem {
	if (query.length > maxQueryLength) return problemAt("query", "maxLength", maxQueryLength);
	const given = new URLSearchParams(query);
	for (const [name, value] of given) {
		const [isValid, must] = rules.get(name) ?? [];
		if (!isValid || must === undefined) return problemAt("query", "parameter", quote(name));
		if (!isValid(value)) return problemAt(name, "type", must, quote(value));
	}
	/** The items of a list; null if there are none. */
	const itemsOf = (name: string) => {
		const items = (given.get(name) ?? "").split(",").filter((item) => item.trim() !== "");
		return items.length > 0 ? new Set(items) : null;
	};
	const phrases = itemsOf("q");
	if (phrases && (phrases.size > maxPhrases || (given.get("q") ?? "").length > maxPhrasesLength))
		return problemAt("q", "phrases", maxPhrases, maxPhrasesLength);
	const limit = Math.min(Number(given.get("limit") ?? defaultLimit), maxLimit);
	const offset = Number(given.get("offset") ?? 0);
	given.delete("limit");
	given.delete("offset");
	return {
		q: phrases && [...phrases].map((phrase) => folded(phrase).trim()),
		bbox: parseBbox(given.get("bbox") ?? ""),
		ids: itemsOf("ids"),
		types: itemsOf("type"),
		limit,
		offset,
		text: given.toString(),
	};
}

/** Accepts `2026-03-04T12:00:00Z`, a day, or an interval `<start>/<end>`, whose ends may be open: `..` or nothing. */
function isTime(text: string): boolean {
	const parts = text.split("/");
	const isOpen = (part: string) => parts.length === 2 && (part === "" || part === "..");
	const isDate = (part: string) =>
		/^\d{4}-\d{2}-\d{2}(?:[Tt][\d:.]+(?:[Zz]|[+-]\d{2}:\d{2}))?$/.test(part) &&
		!Number.isNaN(Date.parse(part));
	return parts.length <= 2 && parts.every((part) => isOpen(part) || isDate(part));
}

function quote(text: string): string {
	return JSON.stringify(text.slice(0, 100));
}

/** Parses four numbers, or six with heights; west may be greater than east (OGC API Features, "bbox"); null if invalid. */
function parseBbox(text: string): Bounds | null {
	const numbers = text.split(",").map((part) => (/^\s*[+-]?\d/.test(part) ? Number(part) : Number.NaN));
	const bounds = numbers.length === 6 ? [0, 1, 3, 4].map((at) => numbers[at] as number) : numbers;
	if (bounds.length !== 4 || !numbers.every(Number.isFinite)) return null;
	const [, south, , north] = bounds as unknown as Bounds;
	return south <= north ? (bounds as unknown as Bounds) : null;
}

/** A text without differences of case, accents, spaces and apostrophes: keyboards write `'` where titles have `’`. */
function folded(text: string): string {
	return fold(text)
		.replace(/[‘’ʼ′]/g, "'")
		.replace(/\s+/g, " ");
}

/** The folded texts of an entry in which `q` searches. */
export function searchedText(entry: Entry): string {
	const { smallkey, title, description: about } = entry;
	const senders = langs.map((lang) => senderOf(entry, lang));
	const words = [...allKeywords(entry), ...senders];
	const texts = [smallkey, title.en, title.fr, about?.en ?? "", about?.fr ?? "", ...words];
	return folded(texts.join("\0"));
}

/** Whether an entry matches a query. @param text returns its searched text; called only if `q` is given */
export function isWanted(
	entry: Entry,
	{ q, bbox, ids, types }: ItemsQuery,
	text: (entry: Entry) => string,
): boolean {
	if (ids && !ids.has(entry.smallkey)) return false;
	if (types && !types.has(entry.type)) return false;
	// A record without a geometry matches every box (OGC API Features 1.0.1, /req/core/fc-bbox-response, C).
	if (bbox && entry.bounds && !intersects(entry.bounds, bbox)) return false;
	if (q === null) return true;
	const searched = text(entry);
	return q.some((phrase) => searched.includes(phrase));
}
