/** Letters that Unicode does not decompose into a letter and a mark. */
const ligatures: Readonly<Record<string, string>> = { œ: "oe", æ: "ae", ß: "ss", ø: "o", đ: "d", ł: "l" };

/** `École` and `ecole` become the same. */
export function fold(text: string): string {
	return text
		.normalize("NFKD")
		.replace(/\p{M}+/gu, "")
		.toLowerCase()
		.replace(/[œæßøđł]/g, (letter) => ligatures[letter] ?? letter);
}

/** Folded, with numbers padded so that they sort by value. */
export function sortKey(title: string): string {
	return fold(title).replace(/\d{1,9}/g, (digits) => digits.padStart(9, "0"));
}

const layerWords = "map maps layer layers data carte cartes couche couches donnees".split(" ");

const stopWords: ReadonlySet<string> = new Set([
	...layerWords,
	...(
		"a an and are at by for from how in is it me near of on or show the their there to what where which with " +
		"au aux avec ce ces dans de des du elle en est et il la le les ou par pour quelle quelles quels qui que sont sur un une " +
		"this that cette cet"
	).split(" "),
]);

/** Whether another word may begin with this stop word, such as `par` and `on`. @param word folded */
export function mayBegin(word: string): boolean {
	return word.length > 1 && !layerWords.includes(word);
}

export const maxWordLength = 32;

export function wordsOf(text: string): string[] {
	const words = fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
	return words.map((word) => word.slice(0, maxWordLength));
}

/** `CamelCase` and `a1` are two words each. */
export function wordsOfKey(key: string): string[] {
	return wordsOf(key.replace(/\p{Ll}(?=\p{Lu})|\p{L}(?=\p{N})|\p{N}(?=\p{L})/gu, "$& "));
}

/** So is an elided article, such as the `l` of `l’eau`. @param word folded */
export function isStopWord(word: string): boolean {
	return stopWords.has(word) || (word.length === 1 && /[cdjlmnst]/.test(word));
}

const maxQueryWords = 12;

export function queryWords(text: string): string[] {
	const words = [...new Set(wordsOf(text))];
	const meaningful = words.filter((word) => !isStopWord(word));
	return (meaningful.length > 0 ? meaningful : words).slice(0, maxQueryWords);
}

/** Removes the plural: `canaux` and `canal`, `protégé` and `protégées` become the same. @param word folded */
export function stem(word: string): string {
	if (word.length < 4) return word;
	const bare = word
		.replace(/(?<=.)eaux$/, "eau")
		.replace(/(?<=..)aux$/, "al")
		.replace(/(?<=[eo]u)x$/, "")
		.replace(/(?<![su])s$/, "")
		.replace(/(?<=...)e?e$|e$/, "");
	return bare.replace(/(?<=..)(?:ie?|y)$/, "i");
}
