/** Letters that Unicode does not take apart into a letter and a mark. */
const ligatures: Readonly<Record<string, string>> = { œ: "oe", æ: "ae", ß: "ss", ø: "o", đ: "d", ł: "l" };

/** A text as it is compared: lower case, without accents and marks: `École` and `ecole` are the same. */
export function fold(text: string): string {
	return text
		.normalize("NFKD")
		.replace(/\p{M}+/gu, "")
		.toLowerCase()
		.replace(/[œæßøđł]/g, (letter) => ligatures[letter] ?? letter);
}

/** A title's place in a list: folded, with numbers in the order of their values. */
export function sortKey(title: string): string {
	return fold(title).replace(/\d{1,9}/g, (digits) => digits.padStart(9, "0"));
}

/** Words of both languages that stand in most titles and distinguish nothing. */
const emptyWords: ReadonlySet<string> = new Set(
	(
		"a an and are at by for from how in is it me near of on or show the their there to what where which with " +
		"au aux avec ce ces dans de des du elle en est et il la le les ou par pour quelle quelles quels qui que sont sur un une " +
		"this that cette cet map maps layer layers data carte cartes couche couches donnees"
	).split(" "),
);

/** Longest part of a word that is compared, in UTF-16 units. */
const longestWord = 32;

/** The parts of a text that are words: letters and figures. `CamelCase` and `a1` are two words each where `isKey`. */
export function wordsOf(text: string, isKey = false): string[] {
	const cut = isKey ? text.replace(/(\p{Ll})(?=\p{Lu})|(\p{L})(?=\p{N})|(\p{N})(?=\p{L})/gu, "$& ") : text;
	const words = fold(cut).match(/[\p{L}\p{N}]+/gu) ?? [];
	return words.map((word) => word.slice(0, longestWord));
}

/** Whether a word distinguishes nothing: an article, what is left of one (`l’eau`), a preposition. */
export function isEmptyWord(word: string): boolean {
	return emptyWords.has(word) || (word.length === 1 && /[cdjlmnst]/.test(word));
}

/** The words of a query that count: all but empty ones, unless there is nothing else. */
export function queryWords(text: string, most = 12): string[] {
	const words = [...new Set(wordsOf(text))];
	const full = words.filter((word) => !isEmptyWord(word));
	return (full.length > 0 ? full : words).slice(0, most);
}

/**
 * A word without what a plural adds, in both languages: `cities` and `city`, `churches` and `church`, `rivières` and
 * `rivière`, `canaux` and `canal` are the same. @param word folded
 */
export function stem(word: string): string {
	const known = stems.get(word) ?? cut(word);
	if (stems.size < maxStems) stems.set(word, known);
	return known;
}

/** Words stand in many titles. */
const stems = new Map<string, string>();
const maxStems = 100_000;

function cut(word: string): string {
	if (word.length < 4) return word;
	const bare = word
		.replace(/(?<=.)eaux$/, "eau")
		.replace(/(?<=..)aux$/, "al")
		.replace(/(?<![su])s$/, "")
		.replace(/e$/, "");
	return bare.replace(/(?<=..)(?:ie?|y)$/, "i");
}
