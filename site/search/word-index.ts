import MiniSearch, { type Query } from "minisearch";
import { langs } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { allKeywords, hostsOf, layersIn, senderOf } from "./select.ts";
import { type Term, termsOf } from "./synonyms.ts";
import { isStopWord, queryWords, stem, wordsOf } from "./words.ts";

export interface Matches {
	/** Indexes in the order in which layers were added. */
	ids: number[];
	/** Stemmed, for highlighting; for a misspelt word, the correct one. */
	words: string[];
}

const boost = { title: 6, key: 4, keywords: 3, sender: 2, place: 2, description: 1 };

/** `CamelCase` and `a1` are two words each in them. */
const keyFields: ReadonlySet<string> = new Set(["key", "place"]);

/** Beside that of the typed word. */
const synonymWeight = 0.7;

/** Least rarity of a word that no layer has: that of a word in every tenth layer. */
const minUnfoundRarity = Math.log(10);

/** Where no layer has all terms: the part that a layer must have, of all and of what the best layer has. */
const minPart = 0.5;
const minPartOfBest = 0.9;

/** Weight of a layer whose title has none of the words, beside one whose title has nothing else. */
const coverBase = 0.2;

/** The best layers, whose matched words are highlighted. */
const maxHighlighting = 200;

interface Hit {
	id: number;
	/** Number of the text's terms that the layer has. */
	count: number;
	/** Part of the terms that the layer has, by their rarity: from 0 to 1. */
	part: number;
	score: number;
	/** Matched words → the fields that have them. */
	match: Record<string, string[]>;
}

export class WordIndex {
	/** Both titles of each layer, stemmed, without stop words. */
	readonly #titles: string[][][] = [];
	readonly #index = new MiniSearch<Record<keyof typeof boost, string> & { id: number }>({
		fields: Object.keys(boost),
		tokenize: (text, field) => wordsOf(text, keyFields.has(field ?? "")),
		processTerm: (word) => (isStopWord(word) ? null : stem(word)),
		searchOptions: { tokenize: (text) => text.split(" "), processTerm: (word) => word, boost },
	});

	add(entry: Entry): void {
		const { smallkey, title, description } = entry;
		const titles = title.en === title.fr ? [title.en] : langs.map((lang) => title[lang]);
		this.#index.add({
			id: this.#titles.push(titles.map((text) => queryWords(text, Infinity).map(stem))) - 1,
			title: titles.join(" "),
			keywords: allKeywords(entry).join(" "),
			description: joined(description?.en, description?.fr),
			key: smallkey,
			sender: joined(senderOf(entry, "en"), senderOf(entry, "fr")),
			place: [...new Set([...hostsOf(entry), ...langs.flatMap((lang) => layersIn(entry, lang))])].join(" "),
		});
	}

	/**
	 * Layers with all words; without any, typing errors are allowed; without any, layers with the rarest of
	 * the words.
	 * @param byKey compares layers that match equally well
	 */
	match(text: string, byKey: (a: number, b: number) => number): Matches {
		const terms = termsOf(text);
		const required = terms.filter(({ isOptional }) => !isOptional).length;
		const whole = (hits: readonly Hit[]) => hits.filter(({ count }) => count === required);
		const exact = whole(this.#hits(terms, false));
		const hits = exact.length > 0 ? exact : this.#hits(terms, true);
		const complete = exact.length > 0 ? exact : whole(hits);
		const typed = terms.flatMap(({ words }) => words).join(" ");
		const ranked = (complete.length > 0 ? complete : rarest(hits)).map((hit) => {
			const cover = this.#coverOf(hit, typed);
			return { ...hit, rank: Math.floor(cover), score: hit.score * (coverBase + cover) };
		});
		ranked.sort((a, b) => b.rank - a.rank || b.score - a.score || byKey(a.id, b.id));
		const words = new Set(ranked.slice(0, maxHighlighting).flatMap(({ match }) => Object.keys(match)));
		return { ids: ranked.map(({ id }) => id), words: [...words] };
	}

	#hits(terms: readonly Term[], isFuzzy: boolean): Hit[] {
		const matches = terms.map((term) => this.#index.search(queryOf(term, isFuzzy)));
		const rarities = matches.map(({ length }) => (length === 0 ? 0 : Math.log(this.#titles.length / length)));
		const unfound = Math.max(minUnfoundRarity, ...rarities);
		const weights = matches.map(({ length }, at) => {
			if (terms[at]?.isOptional) return 0;
			return length === 0 ? unfound : (rarities[at] ?? 0);
		});
		const all = weights.reduce((sum, weight) => sum + weight, 0) || 1;
		const hits = new Map<number, Hit>();
		for (const [at, results] of matches.entries()) {
			const part = (weights[at] ?? 0) / all;
			for (const { id, score, queryTerms, match } of results) {
				const hit = hits.get(id) ?? { id, count: 0, part: 0, score: 0, match: {} };
				if (!terms[at]?.isOptional) hit.count += 1;
				hit.part += part;
				// MiniSearch multiplies by the number of matched terms, which the names of one thing in two
				// languages would raise.
				hit.score += score / queryTerms.length;
				Object.assign(hit.match, match);
				hits.set(id, hit);
			}
		}
		return [...hits.values()];
	}

	/**
	 * In the better language: from 0 to 1 for all words of the title, and 2 for a title whose words are those
	 * of the text, in singular or plural.
	 */
	#coverOf({ id, match }: Hit, typed: string): number {
		const parts = (this.#titles[id] ?? []).map((words) => {
			if (words.join(" ") === typed) return 2;
			return words.filter((word) => match[word]?.includes("title")).length / (words.length || 1);
		});
		return Math.max(0, ...parts);
	}
}

/** The layers that have at least half of the terms, by rarity, and as much as the best of them. */
function rarest(hits: readonly Hit[]): Hit[] {
	const best = hits.reduce((most, { part }) => Math.max(most, part), 0);
	return best < minPart ? [] : hits.filter(({ part }) => part >= best * minPartOfBest);
}

function queryOf({ words, others }: Term, isFuzzy: boolean): Query {
	const fuzzy = (word: string) => (isFuzzy && word.length > 3 && !/\d/.test(word) ? 0.25 : false);
	const prefix = (word: string) => word.length > 1;
	const typed: Query = { queries: [words.join(" ")], combineWith: "AND", fuzzy, prefix };
	const queries = others.map((name): Query => {
		return { queries: [name], combineWith: "AND", boostTerm: () => synonymWeight };
	});
	return { combineWith: "OR", queries: [typed, ...queries] };
}

function joined(en = "", fr = ""): string {
	return en === fr ? en : `${en} ${fr}`;
}
