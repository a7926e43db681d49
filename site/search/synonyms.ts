import rows from "./synonyms.json" with { type: "json" };
import { isStopWord, mayBegin, queryWords, stem, wordsOf } from "./words.ts";

/** One thing that a text asks for. */
export interface Wanted {
	/** Its words as they were typed, stemmed. */
	words: readonly string[];
	/** Other names of the same thing, stemmed. */
	others: readonly string[];
	/** Whether layers without it are found too: a stop word at the end may be the beginning of a word. */
	isOptional: boolean;
}

/** Texts that name the same thing, in both languages. A text may be in several rows. */
export const synonyms: readonly (readonly string[])[] = rows;

const stemsOf = (text: string) => queryWords(text).map(stem);

/** All names of a thing, its own among them, by each of its names; stemmed. */
const named = new Map<string, string[]>();
for (const names of synonyms.map((row) => row.map((name) => stemsOf(name).join(" "))))
	for (const name of names) named.set(name, [...new Set([...(named.get(name) ?? []), ...names])]);

/** The numbers of words that a name may have, greatest first. */
const lengths = [...new Set([...named.keys()].map((name) => name.split(" ").length))].sort((a, b) => b - a);

/** Splits a text into the things that it asks for: the longest names that the synonyms have, and single words. */
export function wantedOf(text: string): Wanted[] {
	const words = stemsOf(text);
	const wanted: Wanted[] = [];
	for (let at = 0; at < words.length; at += wanted.at(-1)?.words.length ?? 1) {
		const names = lengths.map((length) => words.slice(at, at + length));
		const name = names.find((one) => named.has(one.join(" "))) ?? words.slice(at, at + 1);
		wanted.push({ words: name, others: othersOf(name), isOptional: false });
	}
	const last = wordsOf(text).at(-1) ?? "";
	const isCut = isStopWord(last) && mayBegin(last) && !words.includes(stem(last));
	return isCut ? [...wanted, { words: [last], others: othersOf([last]), isOptional: true }] : wanted;
}

function othersOf(words: readonly string[]): string[] {
	const own = words.join(" ");
	return (named.get(own) ?? []).filter((name) => name !== own);
}
