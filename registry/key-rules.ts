/** Only a store knows which changes wait for review (`case-twin-waits`). */
const english = {
	"case-twin": "{0} differs only in case from {1}, which is registered",
	"case-twin-here": "{0} differs only in case from {1}, which the same change registers",
	"case-rename":
		"{0} differs only in case from {1}, which the same change removes: maps that read {1} lose it",
	"case-twin-waits": "{0} differs only in case from {1}, a change of which waits for a reviewer",
	"reserved-key": "{0} is a name that Windows keeps for a device: no clone there could check it out",
} as const;

const french: Readonly<Record<keyof typeof english, string>> = {
	"case-twin": "{0} ne diffère que par la casse de {1}, qui est inscrit",
	"case-twin-here": "{0} ne diffère que par la casse de {1}, que le même changement inscrit",
	"case-rename":
		"{0} ne diffère que par la casse de {1}, que le même changement supprime : les cartes qui lisent {1} la perdent",
	"case-twin-waits": "{0} ne diffère que par la casse de {1}, dont une modification attend un réviseur",
	"reserved-key":
		"{0} est un nom que Windows réserve à un périphérique : aucun clone ne pourrait l’y extraire",
};

export const keyTexts = { en: english, fr: french };

/** With any extension (Microsoft, "Naming Files, Paths, and Namespaces"). */
const reservedNames = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$/i;

/**
 * A rule for new smallkeys belongs here, and must never refuse a stored layer: a smallkey is new only where
 * `isStored` returns false.
 * @param kept the spelling that is kept among those that differ only in case
 * @param removed a stored spelling that the change removes, or null
 * @param isStored null where that is not known
 */
export function judgeKey(
	smallkey: string,
	kept: string,
	removed: string | null,
	isStored: (smallkey: string) => boolean | null,
): [code: keyof typeof english, ...values: string[]] | null {
	if (kept !== smallkey) return [isStored(kept) ? "case-twin" : "case-twin-here", smallkey, kept];
	if (isStored(smallkey) !== false) return null;
	if (reservedNames.test(smallkey)) return ["reserved-key", smallkey];
	return removed === null ? null : ["case-rename", smallkey, removed];
}
