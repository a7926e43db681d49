import type { Lang } from "../../registry/smallkey.ts";

/** `OldData_2024-fr` → old, data, 2024, fr. */
function wordsOf(text: string) {
	const parts = text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u);
	return parts.filter(Boolean).map((part) => part.toLowerCase());
}

/** A service does not move to a place with such a name. */
const copies = new Set(
	`acceptance acceptation accept ancien ancienne anciens archive archived archives backup beta copie copy demo
deprecated dev devel development draft essai essais formation historical historique integration legacy old
preprod preproduction prototype qa sandbox stage staging temp test tests tmp training trash uat`.split(/\s+/),
);

export function isCopyOf(before: string, after: string): boolean {
	const words = wordsOf(before);
	const marks = wordsOf(after).flatMap((word, at, all) => [word, word + (all[at + 1] ?? "")]);
	return marks.some((word) => copies.has(word) && !words.includes(word));
}

const languages: Record<Lang, ReadonlySet<string>> = {
	en: new Set(["en", "eng", "english", "anglais", "e"]),
	fr: new Set(["fr", "fra", "fre", "french", "francais", "français", "f"]),
};

export function isOfOtherLanguage(lang: Lang, before: string, after: string): boolean {
	const other = languages[lang === "en" ? "fr" : "en"];
	const speaks = (text: string) => wordsOf(text).some((word) => other.has(word));
	return speaks(after) && !speaks(before);
}

const yearPattern = /(?<!\d)(?:19|20)\d\d(?!\d)/g;

/** Whether the second name has a later or an earlier year or version; null if the two are not of one series. */
export function seriesStep(before: string, after: string): "later" | "earlier" | null {
	const [year, yearAfter] = [before, after].map((text) => text.match(yearPattern)?.at(-1));
	if (year && yearAfter && year !== yearAfter) return year < yearAfter ? "later" : "earlier";
	const [text, textAfter] = [normalize(before), normalize(after)];
	const numbers = /\d+/g;
	if (!/\p{L}/u.test(text) || text.replace(numbers, "0") !== textAfter.replace(numbers, "0")) return null;
	const versions = text.match(numbers) ?? [];
	const differences = textAfter.match(numbers)?.map((version, at) => Number(version) - Number(versions[at]));
	const difference = differences?.find(Boolean);
	if (difference === undefined) return null;
	return difference > 0 ? "later" : "earlier";
}

export function normalize(text: string): string {
	return text
		.normalize("NFC")
		.replace(/[\s_]+/g, " ")
		.trim()
		.toLowerCase();
}
