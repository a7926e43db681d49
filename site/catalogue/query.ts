import { hasOneTitle, hostsOf, type Name } from "../../registry/index/entry.ts";
import { type Box, meets, placeOf } from "../../registry/index/place.ts";
import { fold, isEmptyWord, titleWords, wordsOf } from "../../registry/index/words.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";

/** What somebody looks for; empty texts filter nothing. */
export interface Query {
	text: string;
	type: string;
	host: string;
	sender: string;
	health: string;
	/** Only layers whose French title is the English one. */
	oneTitle: boolean;
	/** A rectangle of the map that the layer meets; null: anywhere. */
	view: Box | null;
}

/** Longest text that is looked for, in UTF-16 units; the rest is left out. */
const longestText = 200;

/** Most words that are looked for. */
const mostWords = 8;

/** What a layer has to have. */
export type Needle =
	| { kind: "word"; word: string }
	| { kind: "facet"; term: string }
	| { kind: "place"; cell: string };

/** The words of a text that count: all but empty ones, unless there is nothing else. */
export function queryWords(text: string): string[] {
	const words = [...new Set(wordsOf(text.slice(0, longestText)))];
	const full = words.filter((word) => !isEmptyWord(word));
	return (full.length > 0 ? full : words.slice(-1)).slice(0, mostWords);
}

/** Everything that a layer has to have to be found. */
export function needlesOf(query: Query): Needle[] {
	const needles: Needle[] = queryWords(query.text).map((word) => ({ kind: "word", word }));
	const facet = (name: string, value: string) => {
		if (value !== "") needles.push({ kind: "facet", term: `=${name}:${value}` });
	};
	facet("type", query.type);
	facet("host", query.host);
	facet("sender", query.sender);
	facet("health", query.health);
	facet("title", query.oneTitle ? "same" : "");
	if (query.view !== null) needles.push({ kind: "place", cell: placeOf(query.view) });
	return needles;
}

/** A text that may be a smallkey or the beginning of one; null where it cannot be. */
export function keyOf(query: Query): string | null {
	return parseSmallkey(query.text.trim());
}

/** How well a layer fits: less is better; null where it does not. */
export function rank(query: Query, name: Name): number | null {
	if (!meetsFilters(query, name)) return null;
	const text = query.text.slice(0, longestText).trim();
	const key = name.smallkey.toLowerCase();
	if (text === "") return 4;
	if (key === text.toLowerCase()) return 0;
	const words = queryWords(query.text);
	const titles = [fold(name.title.en), fold(name.title.fr)];
	const found = [...titleWords(name.title.en), ...titleWords(name.title.fr)];
	const starts = words.every((word) => found.some((one) => one.startsWith(word)));
	if (starts && words.length > 0) {
		if (titles.some((title) => title.startsWith(fold(text)))) return 1;
		return words.every((word) => found.includes(word)) ? 2 : 4;
	}
	if (parseSmallkey(text) && key.startsWith(text.toLowerCase())) return 3;
	return null;
}

function meetsFilters(query: Query, name: Name): boolean {
	return (
		(query.type === "" || name.type === query.type) &&
		(query.host === "" || hostsOf(name).includes(query.host)) &&
		(query.sender === "" || name.sender === query.sender) &&
		(query.health === "" || name.health === query.health) &&
		(!query.oneTitle || hasOneTitle(name.title)) &&
		(query.view === null || (name.extent !== null && meets(name.extent, query.view)))
	);
}
