import rows from "./synonyms.json" with { type: "json" };
import { isStopWord, mayBegin, queryWords, stem, wordsOf } from "./words.ts";

export interface Term {
	/** As typed, stemmed. */
	words: readonly string[];
	others: readonly string[];
	/** Whether layers without it match too: a stop word at the end may be the beginning of a word. */
	isOptional: boolean;
}

const stemsOf = (text: string) => queryWords(text).map(stem);

/** Each name of a thing → all its names in both languages; stemmed. A name may be in several rows. */
const namesOf = new Map<string, string[]>();
for (const names of rows.map((row) => row.map((name) => stemsOf(name).join(" "))))
	for (const name of names) namesOf.set(name, [...new Set([...(namesOf.get(name) ?? []), ...names])]);

const lengths = [...new Set([...namesOf.keys()].map((name) => name.split(" ").length))].sort((a, b) => b - a);

/** The longest names that the synonyms have, and single words. */
export function termsOf(text: string): Term[] {
	const words = stemsOf(text);
	const terms: Term[] = [];
	for (let at = 0; at < words.length; at += terms.at(-1)?.words.length ?? 1) {
		const names = lengths.map((length) => words.slice(at, at + length));
		const name = names.find((part) => namesOf.has(part.join(" "))) ?? words.slice(at, at + 1);
		terms.push({ words: name, others: aliasesOf(name), isOptional: false });
	}
	const last = wordsOf(text).at(-1) ?? "";
	const isCut = isStopWord(last) && mayBegin(last) && !words.includes(stem(last));
	return isCut ? [...terms, { words: [last], others: aliasesOf([last]), isOptional: true }] : terms;
}

function aliasesOf(words: readonly string[]): string[] {
	const typed = words.join(" ");
	return (namesOf.get(typed) ?? []).filter((name) => name !== typed);
}
