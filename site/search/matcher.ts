import MiniSearch, { type Query, type SearchResult } from "minisearch";
import { decodeSegment, type Lang, langs } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { addressOf, allKeywords, hostsOf, layersIn, senderOf } from "./select.ts";
import synonymRows from "./synonyms.json" with { type: "json" };
import { isStopWord, mayBegin, queryWords, stem, wordsOf, wordsOfKey } from "./words.ts";

export interface Matches {
	/** Indexes in the order in which layers were added, the best first. */
	ids: number[];
	/** Stemmed, for highlighting; for a misspelt word, the correct one. */
	words: string[];
}

const maxTextLength = 500;

const maxHighlighting = 200;

const boost = { title: 6, key: 4, keywords: 3, sender: 2, place: 2, description: 1 };

const keyFields: ReadonlySet<string> = new Set(["key", "place"]);

const synonymBoost = 0.7;

interface Exact {
	key: string;
	titles: readonly string[];
	names: readonly string[];
	length: number;
	services: readonly string[];
}

/** Adding a layer takes about 0.2 ms, a search in 20,000 layers up to 100 ms. */
export class Matcher {
	readonly #exact: Exact[] = [];
	readonly #index = new MiniSearch<Record<keyof typeof boost, string> & { id: number }>({
		fields: Object.keys(boost),
		tokenize: (text, field) => (keyFields.has(field ?? "") ? wordsOfKey(text) : wordsOf(text)),
		processTerm: (word) => (isStopWord(word) ? null : stem(word)),
		searchOptions: {
			tokenize: (text) => text.split(" "),
			processTerm: (word) => word,
			boost,
			// Short titles before long ones, in the language of the shorter one.
			boostDocument: (id) => 1 / (this.#exact[id]?.length ?? 1),
		},
	});

	add(entries: readonly Entry[]): void {
		for (const entry of entries) {
			const { smallkey, title, description } = entry;
			const inBoth = (textOf: (lang: Lang) => string) => [...new Set(langs.map(textOf))].join(" ");
			const services = new Set(langs.map((lang) => comparedAddress(addressOf(entry, lang))));
			const keyName = wordsOfKey(smallkey).map(stem).join(" ");
			const titleNames = langs.map((lang) => nameOf(title[lang]));
			const names = [keyName, ...titleNames];
			const length = Math.min(...titleNames.map((name) => name.split(" ").length));
			const titles = langs.map((lang) => comparedTitle(title[lang]));
			const key = smallkey.toLowerCase();
			const id = this.#exact.length;
			this.#exact.push({ key, titles, names, length, services: [...services] });
			this.#index.add({
				id,
				key: smallkey,
				title: inBoth((lang) => title[lang]),
				keywords: allKeywords(entry).join(" "),
				description: inBoth((lang) => description?.[lang] ?? ""),
				sender: inBoth((lang) => senderOf(entry, lang)),
				place: [...hostsOf(entry), ...new Set(langs.flatMap((lang) => layersIn(entry, lang)))].join(" "),
			});
		}
	}

	/** First whole keys, titles, names and addresses, then words, then parts of keys. */
	match(query: string): Matches {
		const text = query.slice(0, maxTextLength).trim();
		const key = text.toLowerCase();
		const title = comparedTitle(text);
		const terms = termsOf(text);
		const names = [nameOf(text), ...(terms.length === 1 ? (terms[0]?.others ?? []) : [])];
		const exact = [
			...this.#idsWhere((layer) => layer.key === key),
			...this.#idsWhere(({ titles }) => titles.includes(title)),
			...names.flatMap((name) => this.#idsWhere((layer) => name !== "" && layer.names.includes(name))),
		];
		if (/^https?:\/\//i.test(text)) {
			const ids = [...exact, ...this.#byAddress(text)];
			if (ids.length > 0) return { ids: [...new Set(ids)], words: [] };
		}
		const results = this.#search(terms);
		const isKeyPart = /^[a-z0-9_\-+=]{3,}$/.test(key);
		const byKeyPart = isKeyPart ? this.#idsWhere((layer) => layer.key.includes(key)) : [];
		const words = new Set(results.slice(0, maxHighlighting).flatMap((result) => result.terms));
		return { ids: [...new Set([...exact, ...results.map(({ id }) => id), ...byKeyPart])], words: [...words] };
	}

	#search(terms: readonly Term[]): SearchResult[] {
		const required = terms.filter(({ isOptional }) => !isOptional);
		const searches = required.length < terms.length ? [terms, required] : [required];
		for (const fuzzy of [0, 0.25]) {
			const results = searches.flatMap((searched) => {
				const queries = searched.map((term) => queryOf(term, fuzzy));
				return this.#sorted(this.#index.search({ combineWith: "AND", queries }));
			});
			if (results.length > 0) return results;
		}
		return this.#nearly(required);
	}

	/** Layers with all terms but one, without the terms of many layers. */
	#nearly(terms: readonly Term[]): SearchResult[] {
		const maxLayers = Math.max(20, this.#exact.length / 10);
		const queries = terms.map((term) => queryOf(term, 0));
		const rare = queries
			.map((query) => this.#index.search(query))
			.filter(({ length }) => length <= maxLayers);
		const counts = new Map<number, number>();
		for (const { id } of rare.flat()) counts.set(id, (counts.get(id) ?? 0) + 1);
		const filter = ({ id }: SearchResult) => (counts.get(id) ?? 0) >= Math.max(1, rare.length - 1);
		return this.#sorted(this.#index.search({ combineWith: "OR", queries }, { filter }));
	}

	/** Names in two languages would raise the factor for matched words. */
	#sorted(results: readonly SearchResult[]): SearchResult[] {
		const scored = results.map((result) => ({ ...result, score: result.score / result.queryTerms.length }));
		return scored.sort((a, b) => b.score - a.score || this.#byKey(a.id, b.id));
	}

	/** Layers at this address, then others of the same service. */
	#byAddress(text: string): number[] {
		const keys = keysIn(text);
		const service = comparedAddress(text);
		const isSameService = (address: string) =>
			address.startsWith(`${service}/`) || service.startsWith(`${address}/`);
		return [
			...this.#idsWhere(({ key, services }) => keys.has(key) || services.includes(service)),
			...this.#idsWhere(({ services }) => services.some(isSameService)),
		];
	}

	#idsWhere(fits: (exact: Exact) => boolean): number[] {
		const ids = this.#exact.flatMap((exact, id) => (fits(exact) ? [id] : []));
		return ids.sort((a, b) => this.#byKey(a, b));
	}

	/** The order of equal matches must not depend on which chunk was read first. */
	#byKey(a: number, b: number): number {
		return (this.#exact[a]?.key ?? "") < (this.#exact[b]?.key ?? "") ? -1 : 1;
	}
}

type Term = ReturnType<typeof termsOf>[number];

function queryOf({ name, others, isOptional }: Term, maxEdits: number): Query {
	const fuzzy = (word: string) => (word.length > 3 && !/\d/.test(word) ? maxEdits : 0);
	const prefix = (word: string) => word.length > 1;
	const queries = others.map((other): Query => {
		return { queries: [other], combineWith: "AND", boostTerm: () => synonymBoost };
	});
	const typed: Query = { queries: [name], combineWith: "AND", fuzzy, prefix };
	return { combineWith: "OR", queries: [typed, ...queries], ...(isOptional && { fields: ["title"] }) };
}

/** Each name of a thing → all its names; stemmed. A name may be in several rows. */
const synonyms = new Map<string, string[]>();
for (const names of synonymRows.map((row) => row.map(nameOf)))
	for (const name of names) synonyms.set(name, [...new Set([...(synonyms.get(name) ?? []), ...names])]);

const maxNameWords = Math.max(...[...synonyms.keys()].map((name) => name.split(" ").length));

/** A stop word at the end is optional: it may be the beginning of a word. */
function termsOf(text: string) {
	const words = queryWords(text).map(stem);
	const names: string[] = [];
	let rest = words;
	while (rest.length > 0) {
		let length = Math.min(maxNameWords, rest.length);
		while (length > 1 && !synonyms.has(rest.slice(0, length).join(" "))) length -= 1;
		names.push(rest.slice(0, length).join(" "));
		rest = rest.slice(length);
	}
	const last = wordsOf(text).at(-1) ?? "";
	const isCut = isStopWord(last) && mayBegin(last) && !words.includes(stem(last));
	return [...names, ...(isCut ? [last] : [])].map((name) => {
		const others = (synonyms.get(name) ?? []).filter((other) => other !== name);
		return { name, others, isOptional: isCut && name === last };
	});
}

/** `l’eau` and `l'eau` are the same; a title without words keeps its signs. */
function comparedTitle(text: string): string {
	const title = text.slice(0, maxTextLength).trim();
	return wordsOf(title).join(" ") || title;
}

function nameOf(text: string): string {
	return queryWords(text).map(stem).join(" ");
}

function comparedAddress(address: string): string {
	const [place = ""] = address.replace(/^https?:\/\//i, "").split(/[?#]/, 1);
	return place.replace(/(?<!\/)\/+$/, "").toLowerCase();
}

/** Possible smallkeys in the address of a fragment or page, in lower case. */
function keysIn(address: string): Set<string> {
	const [, path = ""] = /^https?:\/\/[^/?#]*\/([^?#]*)/i.exec(address) ?? [];
	const layer = /[?&]layer=([^&#]*)/.exec(address)?.[1] ?? "";
	const names = [layer, ...path.slice(path.lastIndexOf("/") + 1).split(",")];
	return new Set(names.filter(Boolean).map((name) => (decodeSegment(name) ?? name).toLowerCase()));
}
