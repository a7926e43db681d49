import type { Bounds, Entry } from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { hasOneTitle, hostsOf, meets, senderOf, stateOf, titleOf } from "./entry.ts";
import { sortKey } from "./words.ts";

/** Filters that have values. */
export const facetNames = ["type", "host", "sender", "health"] as const;
export type FacetName = (typeof facetNames)[number];

/** Orders of a list: what fits a text best (without a text, by title), by title, the last changed first. */
export const sorts = ["best", "title", "changed"] as const;
export type Sort = (typeof sorts)[number];

/** What a list shows beside what its text finds; an empty text filters nothing. */
export interface Choice extends Record<FacetName, string> {
	/** Only layers whose French title is the English one. */
	oneTitle: boolean;
	/** A part of the earth that the layer meets; null: anywhere. */
	bounds: Bounds | null;
	sort: Sort;
}

/** A value of a filter, and how many layers choosing it would leave. */
export type FacetValue = readonly [value: string, count: number];

/** What was chosen. */
export interface Chosen {
	/** All of them, in their order. */
	hits: readonly Entry[];
	/** With everything else that is asked for, most first. */
	facets: Record<FacetName, FacetValue[]>;
	/** How many layers `oneTitle` would leave. */
	oneTitle: number;
}

/** An entry with what filters and orders compare. */
interface Row {
	entry: Entry;
	title: string;
	date: string;
	/** By filter, in the order of `facetNames`. */
	values: readonly (readonly string[])[];
	isOne: boolean;
}

/** The layers in memory: filters, counts and orders. 20,000 layers take a few tens of milliseconds. */
export class Selection {
	readonly #lang: Lang;
	readonly #rows: Row[] = [];
	readonly #orders = new Map<Sort, readonly Row[]>();

	/** @param lang whose titles sort, and whose names of senders are shown */
	constructor(lang: Lang) {
		this.#lang = lang;
	}

	/** Number of layers. */
	get size(): number {
		return this.#rows.length;
	}

	add(entries: readonly Entry[]): void {
		for (const entry of entries) {
			const sender = senderOf(entry, this.#lang);
			this.#rows.push({
				entry,
				title: sortKey(titleOf(entry, this.#lang)),
				date: entry.changed?.date ?? "",
				values: [[entry.type], hostsOf(entry), sender === "" ? [] : [sender], [stateOf(entry)]],
				isOne: hasOneTitle(entry),
			});
		}
	}

	/** @param ids what a text found, best first; null: no text is given */
	select(ids: readonly number[] | null, choice: Choice): Chosen {
		const wanted = facetNames.map((name) => choice[name]);
		const hits: Entry[] = [];
		const counts = facetNames.map(() => new Map<string, number>());
		let oneTitle = 0;
		const count = ({ values }: Row, facet: number) => {
			for (const value of values[facet] ?? [])
				counts[facet]?.set(value, (counts[facet]?.get(value) ?? 0) + 1);
		};
		for (const row of this.#inOrder(ids, choice.sort)) {
			const { bounds } = row.entry;
			if (choice.bounds !== null && !(bounds && meets(bounds, choice.bounds))) continue;
			// A filter's own counts are of what it could be set to: they leave out nothing but by the others.
			const failed = wanted.flatMap((value, facet) =>
				value === "" || row.values[facet]?.includes(value) ? [] : [facet],
			);
			const isLeft = row.isOne || !choice.oneTitle;
			if (failed.length === 0 && row.isOne) oneTitle += 1;
			if (!isLeft || failed.length > 1) continue;
			if (failed.length === 0) hits.push(row.entry);
			for (const facet of failed.length === 0 ? facetNames.keys() : failed) count(row, facet);
		}
		const facets = Object.fromEntries(
			facetNames.map((name, facet) => [name, [...(counts[facet] ?? [])].sort(byCount)]),
		) as unknown as Chosen["facets"];
		return { hits, facets, oneTitle };
	}

	/** The layers that were changed last: found without sorting all. */
	newest(count: number): Entry[] {
		let newest: Row[] = [];
		for (const row of this.#rows) {
			const last = newest[count - 1];
			if (row.date === "" || (last && byDate(last, row) < 0)) continue;
			newest = [...newest, row].sort(byDate).slice(0, count);
		}
		return newest.map(({ entry }) => entry);
	}

	#inOrder(ids: readonly number[] | null, sort: Sort): readonly Row[] {
		if (ids === null) return this.#sorted(sort === "best" ? "title" : sort);
		const found = ids.flatMap((id) => this.#rows[id] ?? []);
		if (sort === "best") return found;
		const are = new Set(found);
		return this.#sorted(sort).filter((row) => are.has(row));
	}

	#sorted(sort: Sort): readonly Row[] {
		const known = this.#orders.get(sort) ?? [];
		if (known.length === this.#rows.length) return known;
		// What is sorted already is one pass: sort() merges it with the rows that were added.
		const rows = [...known, ...this.#rows.slice(known.length)].sort(sort === "changed" ? byDate : byTitle);
		this.#orders.set(sort, rows);
		return rows;
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

function byCount(a: FacetValue, b: FacetValue): number {
	return b[1] - a[1] || compare(a[0], b[0]);
}
