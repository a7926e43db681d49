/** The texts of the rules below, as in `texts/`. */
const english = {
	"case-twin": "{0} differs only in case from {1}, which is registered",
	"case-twin-here": "{0} differs only in case from {1}, which the same change registers",
} as const;

const french: Readonly<Record<keyof typeof english, string>> = {
	"case-twin": "{0} ne diffère que par la casse de {1}, qui est inscrit",
	"case-twin-here": "{0} ne diffère que par la casse de {1}, que le même changement inscrit",
};

export const keyTexts = { en: english, fr: french };

/**
 * Judges a smallkey that a change writes. A rule for new smallkeys belongs here, with its text above, and must never refuse
 * a stored layer: a smallkey is new only where `isStored` returns false.
 * @param kept the spelling that is kept among all spellings of this smallkey that differ only in case
 * @param isStored whether a smallkey was stored before the change; null where that is not known
 * @returns the code of the broken rule, with the values of its text; null where the smallkey breaks no rule
 */
export function judgeKey(
	smallkey: string,
	kept: string,
	isStored: (smallkey: string) => boolean | null,
): [code: keyof typeof english, ...values: string[]] | null {
	if (kept !== smallkey) return [isStored(kept) ? "case-twin" : "case-twin-here", smallkey, kept];
	return null;
}
