import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Bounds, Entry } from "../data/entries.ts";
import { fold, sortKey } from "./words.ts";

/** `ok`, `unchecked`, or the state of a sick layer. */
export function stateOf({ health }: Entry): string {
	if (health === null) return "unchecked";
	return health?.state ?? "ok";
}

export function titleOf({ title, smallkey }: Pick<Entry, "title" | "smallkey">, lang: Lang): string {
	return title[lang] || smallkey;
}

export function senderOf({ sender = "" }: Pick<Entry, "sender">, lang: Lang): string {
	return typeof sender === "string" ? sender : sender[lang];
}

const maxSlugLength = 80;

/**
 * Of `a-z 0-9 -`, from the English name; null without a public name. Publishers whose names differ only in
 * other characters share a page.
 */
export function slugOf(entry: Pick<Entry, "sender">): string | null {
	const name = senderOf(entry, "en").trim();
	if (name === "") return null;
	const plain = fold(name)
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "");
	const codes = () => Array.from(name, (letter) => letter.codePointAt(0)?.toString(16)).join("-");
	return (plain || codes()).slice(0, maxSlugLength).replace(/-$/, "");
}

export function keywordsIn({ keywords }: Pick<Entry, "keywords">, lang: Lang): readonly string[] {
	return keywords?.[lang] ?? keywords?.en ?? keywords?.fr ?? [];
}

export function allKeywords({ keywords }: Pick<Entry, "keywords">): string[] {
	return [...new Set(langs.flatMap((lang) => keywords?.[lang] ?? []))];
}

export function addressOf({ address }: Pick<Entry, "address">, lang: Lang): string {
	return lang === "fr" ? (address.fr ?? address.en) : address.en;
}

export function layersIn({ layers }: Pick<Entry, "layers">, lang: Lang): readonly string[] {
	return (lang === "fr" ? layers?.fr : null) ?? layers?.en ?? [];
}

export function hostsOf(entry: Pick<Entry, "address">): string[] {
	const hosts = langs.map((lang) => /^https?:\/\/([^/?#]+)/i.exec(addressOf(entry, lang))?.[1]);
	return [...new Set(hosts.flatMap((host) => (host ? [host.toLowerCase()] : [])))];
}

/** Bounds whose west is greater than their east cross the date line. */
export function intersects(a: Bounds, b: Bounds): boolean {
	if (a[1] > b[3] || b[1] > a[3]) return false;
	return spansOf(a).some(([west, east]) => spansOf(b).some(([left, right]) => west <= right && left <= east));
}

function spansOf([west, , east]: Bounds): (readonly [west: number, east: number])[] {
	if (west <= east) return [[west, east]];
	return [
		[west, 180],
		[-180, east],
	];
}

const facetNames = ["type", "host", "sender", "health"] as const;
type FacetName = (typeof facetNames)[number];

/** `best` is by title without a text; `changed` is newest first. */
export const sorts = ["best", "title", "changed"] as const;
export type Sort = (typeof sorts)[number];

/** An empty text does not filter. */
export interface Choice extends Record<FacetName, string> {
	sort: Sort;
}

type FacetValue = readonly [value: string, count: number];

export interface SelectionResult {
	hits: readonly Entry[];
	/** Most layers first, counted with all other filters on. */
	facets: Record<FacetName, FacetValue[]>;
}

interface Row {
	entry: Entry;
	title: string;
	date: string;
	values: readonly (readonly string[])[];
}

export class Selection {
	readonly #rows: Row[] = [];
	/** Of all rows: sorting 20,000 takes longer than all else. */
	readonly #orders = new Map<Sort, readonly Row[]>();

	/** @param lang of titles for sorting, and of senders' names */
	constructor(readonly lang: Lang) {}

	get size(): number {
		return this.#rows.length;
	}

	add(entries: readonly Entry[]): void {
		for (const entry of entries) {
			const sender = senderOf(entry, this.lang);
			this.#rows.push({
				entry,
				title: sortKey(titleOf(entry, this.lang)),
				date: entry.changed?.date ?? "",
				values: [
					[entry.type],
					hostsOf(entry),
					sender === "" ? [] : [sender],
					entry.health ? [entry.health.state, "sick"] : [stateOf(entry)],
				],
			});
		}
	}

	/** @param ids results of a text search, best first; null without a text */
	select(ids: readonly number[] | null, choice: Choice): SelectionResult {
		const values = facetNames.map((name) => choice[name]);
		const hits: Entry[] = [];
		const counts = facetNames.map(() => new Map<string, number>());
		const count = ({ values }: Row, facet: number) => {
			for (const value of values[facet] ?? [])
				counts[facet]?.set(value, (counts[facet]?.get(value) ?? 0) + 1);
		};
		for (const row of this.#inOrder(ids, choice.sort)) {
			// The counts of a filter ignore the filter itself: a row that fails only one filter counts for
			// that one.
			const failed = values.flatMap((value, facet) =>
				value === "" || row.values[facet]?.includes(value) ? [] : [facet],
			);
			if (failed.length > 1) continue;
			if (failed.length === 0) hits.push(row.entry);
			for (const facet of failed.length === 0 ? facetNames.keys() : failed) count(row, facet);
		}
		const sorted = facetNames.map((name, facet) => {
			const values: FacetValue[] = [...(counts[facet] ?? [])];
			return [name, values.sort((a, b) => b[1] - a[1] || compare(a[0], b[0]))] as const;
		});
		return { hits, facets: Object.fromEntries(sorted) as Record<FacetName, FacetValue[]> };
	}

	#inOrder(ids: readonly number[] | null, sort: Sort): readonly Row[] {
		const order = sort === "changed" ? byDate : byTitle;
		const rows = ids?.flatMap((id) => this.#rows[id] ?? []);
		if (rows) return sort === "best" ? rows : rows.sort(order);
		const last = this.#orders.get(sort);
		if (last?.length === this.#rows.length) return last;
		const sorted = [...this.#rows].sort(order);
		this.#orders.set(sort, sorted);
		return sorted;
	}
}

function compare(a: string, b: string): number {
	return a < b ? -1 : Number(a > b);
}

function byTitle(a: Row, b: Row): number {
	return compare(a.title, b.title) || compare(a.entry.smallkey, b.entry.smallkey);
}

function byDate(a: Row, b: Row): number {
	return compare(b.date, a.date) || byTitle(a, b);
}
