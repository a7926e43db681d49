import type { Lang } from "../../registry/smallkey.ts";
import type { Texts } from "../../site/text/english.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";

/** The texts that the pages with and without a script share. */
export function textsOf(lang: Lang): Texts {
	return lang === "fr" ? french : english;
}

/** The texts that only pages without a script have, in English. */
const inEnglish = {
	description: (title: string, type: string): string => `Map layer: ${title} (${type})`,
	openInteractive: "Show on the map, with its legend",
	layers: "Layers in the service",
	bounds: "Extent",
	boundsOf: ([west, south, east, north]: readonly number[]): string =>
		`west ${west}°, south ${south}°, east ${east}°, north ${north}°`,
	keywords: "Keywords",
	fragments: "What viewers read",
	fragmentIn: (target: string, lang: Lang): string => `${target}, ${lang === "en" ? "English" : "French"}`,
	unread: "Viewers cannot read this layer.",
	snippets: "How to draw it",
	list: "All layers",
	listOf: (number: number): string => `${number} ${number === 1 ? "layer" : "layers"}, by title`,
	page: (page: number, pages: number): string => `Page ${page} of ${pages}`,
	previous: "Previous page",
	next: "Next page",
	pages: "Pages",
	notFound: "This page does not exist",
	notFoundHint: "It may have been removed, or its address may be written differently.",
	building: "The catalogue is being prepared",
	buildingHint: "This page loads itself again in a few seconds.",
	home: "To the map layers",
};

const inFrench: typeof inEnglish = {
	description: (title, type) => `Couche cartographique : ${title} (${type})`,
	openInteractive: "Afficher sur la carte, avec sa légende",
	layers: "Couches dans le service",
	bounds: "Étendue",
	boundsOf: (bounds) => {
		const [west, south, east, north] = bounds.map((number) => String(number).replace(".", ","));
		return `ouest ${west}°, sud ${south}°, est ${east}°, nord ${north}°`;
	},
	keywords: "Mots-clés",
	fragments: "Ce que lisent les visualiseurs",
	fragmentIn: (target, lang) => `${target}, ${lang === "en" ? "anglais" : "français"}`,
	unread: "Les visualiseurs ne peuvent pas lire cette couche.",
	snippets: "Comment l’afficher",
	list: "Toutes les couches",
	listOf: (number) => `${number} ${number < 2 ? "couche" : "couches"}, par titre`,
	page: (page, pages) => `Page ${page} de ${pages}`,
	previous: "Page précédente",
	next: "Page suivante",
	pages: "Pages",
	notFound: "Cette page n’existe pas",
	notFoundHint: "Elle a peut-être été retirée, ou son adresse s’écrit autrement.",
	building: "Le catalogue est en préparation",
	buildingHint: "Cette page se rechargera automatiquement dans quelques secondes.",
	home: "Vers les couches cartographiques",
};

/** The texts that only pages without a script have, by language. */
export const staticTexts: Readonly<Record<Lang, typeof inEnglish>> = { en: inEnglish, fr: inFrench };
