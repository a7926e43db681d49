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
}: WrittenKey): [code: keyof typeof keyTexts, ...values: string[]] | null {
	if (kept !== smallkey) return [isKeptHere ? "case-twin-here" : "case-twin", smallkey, kept];
	return null;
}
