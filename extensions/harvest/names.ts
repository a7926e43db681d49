import type { Lang } from "../../registry/smallkey.ts";

/** `OldData_2024-fr` → old, data, 2024, fr. */
function wordsOf(text: string): string[] {
	const parts = text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u);
	return parts.filter(Boolean).map((part) => part.toLowerCase());
}

/** In names of places where a service does not move. */
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

/** 1 to a later year or version, -1 to an earlier one; 0: no series. */
export function seriesStep(before: string, after: string): -1 | 0 | 1 {
	const years = [before, after].map((text) => Number(text.match(yearPattern)?.at(-1) ?? 0));
	if (years[0] && years[1] && years[0] !== years[1]) return years[0] < years[1] ? 1 : -1;
	const [parts, partsAfter] = [before, after].map((text) => normalized(text).split(/(\d+)/));
	const isText = (_: string, at: number) => at % 2 === 0;
	if (!parts || !partsAfter || parts.length !== partsAfter.length || !/\p{L}/u.test(before)) return 0;
	if (parts.filter(isText).join("0") !== partsAfter.filter(isText).join("0")) return 0;
	const at = parts.findIndex(
		(part, index) => Number(part) !== Number(partsAfter[index]) && !isText(part, index),
	);
	return at < 0 ? 0 : Number(parts[at]) < Number(partsAfter[at]) ? 1 : -1;
}

export function normalized(text: string): string {
	const line = text.normalize("NFC").replace(/[\s_]+/g, " ");
	return line.trim().toLowerCase();
}
