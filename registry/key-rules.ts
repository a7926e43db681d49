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

/** A smallkey that a change writes. */
export interface WrittenKey {
	smallkey: string;
	/** Whether it is known that the smallkey was not stored before the change. */
	isNew: boolean;
	/** The spelling that is kept among all spellings of this smallkey that differ only in case. */
	kept: string;
	/** Whether that spelling is of this change. */
	isKeptHere: boolean;
}

/**
 * Judges a smallkey. A rule for new smallkeys belongs here, with its text above, and must never refuse a stored layer: it
 * asks `isNew`.
 * @returns the code of the broken rule, with the values of its text; null where the smallkey breaks no rule
 */
export function judgeKey({
	smallkey,
	kept,
	isKeptHere,
}: WrittenKey): [code: keyof typeof english, ...values: string[]] | null {
	if (kept !== smallkey) return [isKeptHere ? "case-twin-here" : "case-twin", smallkey, kept];
	return null;
}
