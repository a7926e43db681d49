import type { Lang } from "../../registry/smallkey.ts";

const english = {
	title: "Proof that the layers draw",
	"count-one": "{0} of {1} layers draw.",
	count: "{0} of {1} layers draw.",
	"unknown-one": "{0} was not drawn by any run yet.",
	unknown: "{0} were not drawn by any run yet.",
	"not-drawn": "Layers that do not draw",
	drawn: "Layers that draw",
	since: "not drawn since {0}",
	"last-look": "last look: {0}",
	last: "the last picture",
	"features-one": "{0} feature",
	features: "{0} features",
	share: "{0}% of the map coloured",
	picture: "Map of {0}",
	search: "Search by title, smallkey or owner",
	owner: "owner: {0}",
	"only-en": "English only: {0}",
	"only-fr": "French only: {0}",
} as const;

export type ProofText = keyof typeof english;

const french: Readonly<Record<ProofText, string>> = {
	title: "Preuve que les couches s’affichent",
	"count-one": "{0} couche sur {1} s’affiche.",
	count: "{0} couches sur {1} s’affichent.",
	"unknown-one": "{0} n’a pas encore été dessinée.",
	unknown: "{0} n’ont pas encore été dessinées.",
	"not-drawn": "Couches qui ne s’affichent pas",
	drawn: "Couches qui s’affichent",
	since: "pas dessinée depuis le {0}",
	"last-look": "dernier examen : {0}",
	last: "la dernière image",
	"features-one": "{0} entité",
	features: "{0} entités",
	share: "{0}\u00a0% de la carte en couleur",
	picture: "Carte de {0}",
	search: "Chercher par titre, clé ou responsable",
	owner: "responsable : {0}",
	"only-en": "Anglais seulement : {0}",
	"only-fr": "Français seulement : {0}",
};

export const texts: Readonly<Record<Lang, Readonly<Record<ProofText, string>>>> = { en: english, fr: french };
