import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Bounds, Entry } from "../data/entries.ts";
import { fold } from "./words.ts";

/** A layer's health: `ok`, `unchecked`, or the state of a sick layer. */
export function stateOf({ health }: Entry): string {
	if (health === null) return "unchecked";
	return health?.state ?? "ok";
}

/** The displayed title of a layer. */
export function titleOf({ title, smallkey }: Pick<Entry, "title" | "smallkey">, lang: Lang): string {
	return title[lang] || smallkey;
}

/** The public name of the sender in one language; empty if there is none. */
export function senderOf({ sender = "" }: Pick<Entry, "sender">, lang: Lang): string {
	return typeof sender === "string" ? sender : sender[lang];
}

/** Longest name of a publisher in an address, in characters. */
const maxSlugLength = 80;

/**
 * The name of an entry's publisher in addresses, of `a-z 0-9 -`: that of the English name. Null without a public name.
 * Publishers whose names differ only in other characters share a page.
 */
export function slugOf(entry: Pick<Entry, "sender">): string | null {
	const name = senderOf(entry, "en").trim();
	if (name === "") return null;
	const plain = fold(name)
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "");
	const codes = () => Array.from(name, (one) => one.codePointAt(0)?.toString(16)).join("-");
	return (plain || codes()).slice(0, maxSlugLength).replace(/-$/, "");
}

/** The keywords in one language, or else in the other one. */
export function keywordsIn({ keywords }: Pick<Entry, "keywords">, lang: Lang): readonly string[] {
	return keywords?.[lang] ?? keywords?.en ?? keywords?.fr ?? [];
}

/** The keywords in both languages, each once. */
export function allKeywords({ keywords }: Pick<Entry, "keywords">): string[] {
	return [...new Set(langs.flatMap((lang) => keywords?.[lang] ?? []))];
}

/** The address of a layer's service in one language. */
export function addressOf({ address }: Pick<Entry, "address">, lang: Lang): string {
	return lang === "fr" ? (address.fr ?? address.en) : address.en;
}

/** The names or numbers of the layers inside a layer's service in one language. */
export function layersIn({ layers }: Pick<Entry, "layers">, lang: Lang): readonly string[] {
	return (lang === "fr" ? layers?.fr : null) ?? layers?.en ?? [];
}

/** The hosts of the services in both languages, with their ports, each once. */
export function hostsOf(entry: Pick<Entry, "address">): string[] {
	const hosts = langs.map((lang) => /^https?:\/\/([^/?#]+)/i.exec(addressOf(entry, lang))?.[1]);
	return [...new Set(hosts.flatMap((host) => (host ? [host.toLowerCase()] : [])))];
}

/** Whether two bounds intersect. Bounds whose west is greater than their east cross the date line. */
export function intersects(one: Bounds, other: Bounds): boolean {
	if (one[1] > other[3] || other[1] > one[3]) return false;
	return spansOf(one).some(([west, east]) =>
		spansOf(other).some(([left, right]) => west <= right && left <= east),
	);
}

function spansOf([west, , east]: Bounds): (readonly [west: number, east: number])[] {
	if (west <= east) return [[west, east]];
	return [
		[west, 180],
		[-180, east],
	];
}
