/** Letters that Unicode does not take apart into a letter and a mark. */
const ligatures: ReadonlyMap<string, string> = new Map([
	["œ", "oe"],
	["æ", "ae"],
	["ß", "ss"],
	["ø", "o"],
	["đ", "d"],
	["ł", "l"],
]);

/** Longest word that is told apart, in UTF-16 units. */
export const longestWord = 32;

/** Most words of one title that it is found by. */
const mostWords = 24;

/**
 * Words of both languages that stand in most titles and tell nothing: nothing is found by them alone, but what
 * starts with them is.
 */
const emptyWords: ReadonlySet<string> = new Set(
	"a an and at by for from in of on or the to with au aux avec d dans de des du en et l la le les ou par pour sur un une".split(
		" ",
	),
);

/** A text as it is searched: lower case, without accents and marks: `École` and `ecole` are the same. */
export function fold(text: string): string {
	const plain = text
		.normalize("NFKD")
		.replace(/\p{M}+/gu, "")
		.toLowerCase();
	return plain.replace(/[œæßøđł]/g, (letter) => ligatures.get(letter) ?? letter);
}

/** The words of a text, folded, in its order: letters and figures, whatever stands between them. */
export function wordsOf(text: string): string[] {
	const words = fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
	return words.map((word) => word.slice(0, longestWord));
}

/** Whether a word, once it is whole, is left out of a search. */
export function isEmptyWord(word: string): boolean {
	return emptyWords.has(word);
}

/** The words that a title is found by, each once. */
export function titleWords(title: string): string[] {
	const words = wordsOf(title.slice(0, 2_000)).filter((word) => !isEmptyWord(word));
	return [...new Set(words)].slice(0, mostWords);
}
