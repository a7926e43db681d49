/** The texts of the rules below, as in `texts.ts`: code → English, French. */
export const keyTexts = {
	"case-twin": [
		"{} differs only in case from {}, which is registered",
		"{} ne diffère que par la casse de {}, qui est inscrit",
	],
	"case-twin-here": [
		"{} differs only in case from {}, which the same change registers",
		"{} ne diffère que par la casse de {}, que le même changement inscrit",
	],
} as const;

/**
 * Judges a smallkey that a change writes. A rule for new smallkeys belongs here, with its text above, and must never
 * refuse a stored layer: it asks `isStored(smallkey)`.
 * @param isStored whether a smallkey was stored before the change
 * @param kept the spelling that is kept among all spellings of this smallkey that differ only in case
 * @returns the code of the broken rule, with the values of its text; null where the smallkey breaks no rule
 */
export function judgeKey(
	smallkey: string,
	isStored: (smallkey: string) => boolean,
	kept: string,
): [code: keyof typeof keyTexts, ...values: string[]] | null {
	if (kept !== smallkey) return [isStored(kept) ? "case-twin" : "case-twin-here", smallkey, kept];
	return null;
}
