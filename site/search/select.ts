import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { sortKey } from "./words.ts";

/** `ok`, `unchecked`, or the state of a sick layer. */
export function stateOf({ health }: Entry): string {
	if (health === null) return "unchecked";
	return health?.state ?? "ok";
}

export function titleOf({ title, smallkey }: Entry, lang: Lang): string {
	return title[lang] || smallkey;
}

export function senderOf({ sender = "" }: Pick<Entry, "sender">, lang: Lang): string {
	return typeof sender === "string" ? sender : sender[lang];
}

export function keywordsIn({ keywords }: Entry, lang: Lang): readonly string[] {
	return keywords?.[lang] ?? keywords?.en ?? keywords?.fr ?? [];
}

export function allKeywords({ keywords }: Entry): string[] {
	return [...new Set(langs.flatMap((lang) => keywords?.[lang] ?? []))];
}

export function addressOf({ address }: Entry, lang: Lang): string {
	return lang === "fr" ? (address.fr ?? address.en) : address.en;
}

export function layersIn({ layers }: Entry, lang: Lang): readonly string[] {
	return (lang === "fr" ? layers?.fr : null) ?? layers?.en ?? [];
}

export function hostsOf(entry: Entry): string[] {
	const hosts = langs.map((lang) => /^https?:\/\/([^/?#]+)/i.exec(addressOf(entry, lang))?.[1]);
	return [...new Set(hosts.flatMap((host) => (host ? [host.toLowerCase()] : [])))];
}

export const filters = ["type", "health", "sender", "host"] as const;
export type Filter = (typeof filters)[number];

/** `best` is by title without a text; `changed` is newest first. */
export const sorts = ["best", "title", "changed"] as const;
export type Sort = (typeof sorts)[number];

/** An empty text does not filter. */
export interface Choice extends Record<Filter, string> {
	sort: Sort;
}

type FacetValue = readonly [value: string, count: number];

export interface SelectionResult {
	hits: readonly Entry[];
	/** Most layers first, counted with all other filters on. */
	facets: Record<Filter, FacetValue[]>;
}

interface Row {
	entry: Entry;
	title: string;
	date: string;
	/** `health` has `sick` for any sickness, too. */
	values: Readonly<Record<Filter, readonly string[]>>;
}

export class Selection {
	readonly #rows: Row[] = [];
	/** Sorting 20,000 rows takes longer than all else. */
	readonly #orders = new Map<Sort, readonly Row[]>();

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
				values: {
					type: [entry.type],
					health: entry.health ? [entry.health.state, "sick"] : [stateOf(entry)],
					sender: sender === "" ? [] : [sender],
					host: hostsOf(entry),
				},
			});
		}
	}

	/** @param ids results of a text search, best first; null without a text */
	select(ids: readonly number[] | null, choice: Choice): SelectionResult {
		const active = filters.filter((name) => choice[name] !== "");
		const hits: Entry[] = [];
		const counts = { type: new Map(), health: new Map(), sender: new Map(), host: new Map() };
		for (const row of this.#inOrder(ids, choice.sort)) {
			const failed = active.filter((name) => !row.values[name].includes(choice[name]));
			if (failed.length > 1) continue;
			if (failed.length === 0) hits.push(row.entry);
			// The counts of a filter ignore the filter itself.
			for (const name of failed.length === 0 ? filters : failed)
				for (const value of row.values[name]) counts[name].set(value, (counts[name].get(value) ?? 0) + 1);
		}
		const sort = (facet: Map<string, number>): FacetValue[] =>
			[...facet].sort((a, b) => b[1] - a[1] || compare(a[0], b[0]));
		const { type, health, sender, host } = counts;
		const facets = { type: sort(type), health: sort(health), sender: sort(sender), host: sort(host) };
		return { hits, facets };
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
