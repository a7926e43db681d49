import type { Lang } from "../smallkey.ts";

const english = {
	"column-icon": "Icon",
	"column-details": "Details",
	metadata: "Metadata",
	"ramp-keys": "The address of its page then has the key:",
} as const;

const french: Readonly<Record<keyof typeof english, string>> = {
	"column-icon": "Icône",
	"column-details": "Détails",
	metadata: "Métadonnées",
	"ramp-keys": "L’adresse de sa page porte alors la clé :",
};

/** The few texts in fragments and snippets, by language. A page that renders drafts needs both. */
export const fragmentTexts: Readonly<Record<Lang, Readonly<Record<keyof typeof english, string>>>> = {
	en: english,
	fr: french,
};
