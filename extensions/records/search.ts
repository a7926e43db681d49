// The parameters of a query of records, and the search.
import pLimit from "p-limit";
import { type Client, Room } from "../../api/limits.ts";
import { eachInSlices } from "../../publish/file-writer.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type Problem, problemAt, shownValue, type Text, textOf } from "../../registry/texts.ts";
import type { Bounds, Entry } from "../../site/data/entries.ts";
import { allKeywords, senderOf } from "../../site/search/select.ts";
import { fold } from "../../site/search/words.ts";

export interface ItemsQuery {
	isMatch: (entry: Entry) => boolean;
	limit: number;
	offset: number;
	/** The query string without `limit` and `offset`, for links to other pages. */
	text: string;
}

const defaultLimit = 10;
const maxLimit = 200;
const maxQueryLength = 8_000;
/** Bounds `q`. */
const maxPhrases = 10;
const maxPhrasesLength = 200;

/** Accepts a day, or a time such as `2026-03-04T12:00:00Z`. */
const instant = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?$/i;

/** Accepts an instant, or an interval `<start>/<end>`, whose ends may be open: `..` or nothing. */
function isTime(text: string) {
	const ends = text.split("/");
	const isOpen = (end: string) => ends.length === 2 && (end === "" || end === "..");
	const isInstant = (end: string) => instant.test(end) && !Number.isNaN(Date.parse(end));
	return ends.length < 3 && ends.every((end) => isOpen(end) || isInstant(end));
}

/** Parameter → what a wrong value must be instead; null for a right one. */
export const rules = new Map<string, (value: string) => string | Text | null>([
	["q", () => null],
	["ids", () => null],
	["type", () => null],
	["limit", (value) => (/^0*[1-9]\d{0,8}$/.test(value) ? null : "≥ 1")],
	["offset", (value) => (/^\d{1,9}$/.test(value) ? null : "≥ 0")],
	["bbox", (value) => (parseBbox(value) ? null : textOf("a-box"))],
	// Layers have no time, so every layer matches any time (OGC API Features, /req/core/fc-time-response, C).
	["datetime", (value) => (isTime(value) ? null : textOf("a-time"))],
	["f", (value) => (value === "json" ? null : "json")],
]);

/** @param query without its `?` */
export function parseItemsQuery(query: string): ItemsQuery | Problem {
	if (query.length > maxQueryLength) return problemAt("query", "maxLength", maxQueryLength);
	const parameters = new URLSearchParams(query);
	for (const [name, value] of parameters) {
		const rule = rules.get(name);
		if (!rule) return problemAt("query", "parameter", shownValue(name));
		const must = rule(value);
		if (must !== null) return problemAt(name, "type", must, shownValue(value));
	}
	const itemsOf = (name: string) =>
		(parameters.get(name) ?? "").split(",").filter((item) => item.trim() !== "");
	const [q, ids, types] = [itemsOf("q"), new Set(itemsOf("ids")), new Set(itemsOf("type"))];
	if (q.length > maxPhrases || q.join().length > maxPhrasesLength)
		return problemAt("q", "phrases", maxPhrases, maxPhrasesLength);
	const phrases = q.map((phrase) => normalize(phrase).trim());
	const bbox = parseBbox(parameters.get("bbox") ?? "");
	const limit = Math.min(Number(parameters.get("limit") ?? defaultLimit), maxLimit);
	const offset = Number(parameters.get("offset") ?? 0);
	parameters.delete("limit");
	parameters.delete("offset");
	const isMatch = (entry: Entry) => {
		if (ids.size > 0 && !ids.has(entry.smallkey)) return false;
		if (types.size > 0 && !types.has(entry.type)) return false;
		// A record without a geometry matches every box (OGC API Features 1.0.1, /req/core/fc-bbox-response, C).
		if (bbox && entry.bounds && !intersects(entry.bounds, bbox)) return false;
		return phrases.length === 0 || phrases.some((phrase) => searchedText(entry).includes(phrase));
	};
	return { isMatch, limit, offset, text: parameters.toString() };
}

/** Four numbers, or six with heights; west may be greater than east (OGC API Features, "bbox"). */
function parseBbox(text: string): Bounds | null {
	const numbers = text.split(",").map((part) => (/^\s*[+-]?\d/.test(part) ? Number(part) : Number.NaN));
	const bounds = numbers.filter((_, at) => numbers.length === 4 || at % 3 < 2) as unknown as Bounds;
	const isBox = numbers.every(Number.isFinite) && (numbers.length === 4 || numbers.length === 6);
	return isBox && bounds[1] <= bounds[3] ? bounds : null;
}

/** Bounds whose west is greater than their east cross the date line. */
function intersects(a: Bounds, b: Bounds) {
	const eastOf = ([west, , east]: Bounds) => (west <= east ? east : east + 360);
	const overlaps = (turn: number) => a[0] <= eastOf(b) + turn && b[0] + turn <= eastOf(a);
	return a[1] <= b[3] && b[1] <= a[3] && [-360, 0, 360].some(overlaps);
}

/** Removes differences of case, accents, spaces and apostrophes: keyboards write `'` where titles have `’`. */
function normalize(text: string) {
	const line = fold(text).replace(/\s+/g, " ");
	return line.replace(/[‘’ʼ′]/g, "'");
}

const searchedTexts = new WeakMap<Entry, string>();

function searchedText(entry: Entry) {
	const { smallkey, title, description: about } = entry;
	const textsIn = (lang: Lang) => [title[lang], about?.[lang], senderOf(entry, lang)];
	const parts = () => [smallkey, ...langs.flatMap(textsIn), ...allKeywords(entry)];
	const text = searchedTexts.get(entry) ?? normalize(parts().join("\0"));
	searchedTexts.set(entry, text);
	return text;
}

/** Searches that run or wait; they run one after the other. */
export const maxSearches = 64;

export function createSearch() {
	const room = new Room(maxSearches);
	const oneByOne = pLimit(1);

	/** @returns null if too many searches wait */
	return async (load: () => Promise<readonly Entry[]>, query: ItemsQuery, client: Client) => {
		const held = room.hold(client);
		if (!held.take(1)) return null;
		const search = async () => {
			const matches: Entry[] = [];
			await eachInSlices(await load(), (entry) => {
				if (query.isMatch(entry)) matches.push(entry);
			});
			return matches;
		};
		return oneByOne(search).finally(held.end);
	};
}
