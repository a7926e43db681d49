import type { Lang } from "../../registry/smallkey.ts";

const english = {
	layer: "Layer",
	choose: "Several places agree alike. Nothing is changed: register the one that is right.",
	registered: "Registered",
	"found-place": "Found",
	same: "the same layer",
	perhaps: "perhaps the same layer",
	head: "| | known | found | agrees |",
	yes: "yes",
	no: "no",
	https: "https in place of http",
	redirect: "the server redirects there permanently",
	service: "the same service",
	folder: "another folder of the same server",
	similar: "a service of a similar name",
	name: "name",
	geometry: "geometry",
	fields: "fields",
	place: "extent",
	scale: "scales",
	symbols: "symbols",
	count: "features",
	title: "title",
	abstract: "abstract",
	keywords: "keywords",
} as const;

export type RepairText = keyof typeof english;

const french: Readonly<Record<RepairText, string>> = {
	layer: "Couche",
	choose: "Plusieurs endroits concordent également. Rien n’est modifié : inscrivez celui qui est juste.",
	registered: "Inscrit",
	"found-place": "Trouvé",
	same: "la même couche",
	perhaps: "peut-être la même couche",
	head: "| | connu | trouvé | concorde |",
	yes: "oui",
	no: "non",
	https: "https au lieu de http",
	redirect: "le serveur y redirige en permanence",
	service: "le même service",
	folder: "un autre dossier du même serveur",
	similar: "un service d’un nom semblable",
	name: "nom",
	geometry: "géométrie",
	fields: "champs",
	place: "étendue",
	scale: "échelles",
	symbols: "symboles",
	count: "entités",
	title: "titre",
	abstract: "résumé",
	keywords: "mots-clés",
};

export const texts: Readonly<Record<Lang, Readonly<Record<RepairText, string>>>> = {
	en: english,
	fr: french,
};
