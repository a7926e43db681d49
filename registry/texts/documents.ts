import { smallkeyRule } from "../smallkey.ts";
import type { TextPair } from "./filled.ts";

/**
 * In an error, the text follows its place: a JSON pointer, a header or a word such as `smallkey`. The texts
 * of the rules for new smallkeys are in `smallkey.ts`.
 */
export const documentTexts = {
	// Members of a registration, by JSON Schema's keywords.
	required: ["is missing", "est requis"],
	additionalProperties: ["is not a known member", "n’est pas un membre connu"],
	misspelt: [
		"is not a known member: did you mean {0}?",
		"n’est pas un membre connu : vouliez-vous dire {0}?",
	],
	"only-wms": [
		"belongs to payload_type wms, and must be left out of feature",
		"appartient au payload_type wms et ne doit pas figurer dans feature",
	],
	"only-feature": [
		"belongs to payload_type feature, and must be left out of wms",
		"appartient au payload_type feature et ne doit pas figurer dans wms",
	],
	maxLength: ["must have at most {0} characters", "doit avoir au plus {0} caractères"],
	minLength: ["must not be empty", "ne doit pas être vide"],
	minimum: ["must be {0} or more, not {1}", "doit être au moins {0}, et non {1}"],
	// Rules of a schema whose `code` names the text.
	address: ["must be an http or https address, not {0}", "doit être une adresse http ou https, et non {0}"],
	markup: [
		"must not hold < before a letter, / or !, which viewers take for markup, not {0}",
		"ne doit pas contenir < devant une lettre, / ou !, que les visualiseurs interprètent comme du balisage : {0}",
	],
	name: [
		"must have a visible character and no control characters, such as line breaks, or be empty, not {0}",
		"doit avoir un caractère visible et aucun caractère de contrôle, comme un saut de ligne, ou être vide, et non {0}",
	],
	"media-type": [
		"must be a media type, such as image/png, not {0}",
		"doit être un type de média, comme image/png, et non {0}",
	],
	metadata: [
		"must have either a uuid, or a metadata_url, a catalogue_url or both",
		"doit avoir soit un uuid, soit un metadata_url, un catalogue_url ou les deux",
	],
	version: [
		"must be 1.x.y, such as 1.0.0, or 2.0, not {0}",
		"doit être 1.x.y, comme 1.0.0, ou 2.0, et non {0}",
	],
	"no-target": ["must name a target, or be left out", "doit nommer une cible, ou être omis"],
	"target-name": [
		"must be v2, the only target that can have an address of its own, not {0}",
		"doit être v2, la seule cible qui peut avoir sa propre adresse, et non {0}",
	],
	"no-language": ["must have en, fr or both", "doit avoir en, fr ou les deux"],
	"no-override": [
		"must have a service_url, a layer or both",
		"doit avoir un service_url, un layer ou les deux",
	],
	"no-layers": [
		"must name its layers in scrape_only, or take every layer with a recursive of true",
		"doit nommer ses couches dans scrape_only, ou les prendre toutes avec recursive à true",
	],
	"service-type": [
		"must be esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer or esriFeatureServer, not {0}",
		"doit être esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer ou esriFeatureServer, et non {0}",
	],
	glob: [
		"must be a glob: 1 to 64 of A-Z a-z 0-9 _ - + = * ?, not {0}",
		"doit être un motif : 1 à 64 caractères A-Z a-z 0-9 _ - + = * ?, et non {0}",
	],
	"owner-name": [
		"must be a GitHub team or account, such as @organisation/team or @ada#123, not {0}",
		"doit être une équipe ou un compte de GitHub, comme @organisation/equipe ou @ada#123, et non {0}",
	],
	"owner-id": [
		"{0} must have the id of the account, as in @ada#123: gh api users/ada --jq .id prints it",
		"{0} doit avoir le numéro du compte, comme dans @ada#123 : gh api users/ada --jq .id l’affiche",
	],
	"sender-name": [
		"must be the id of a sender: 1 to 64 of A-Z a-z 0-9 . _ -, not {0}",
		"doit être l’identifiant d’un expéditeur : 1 à 64 caractères A-Z a-z 0-9 . _ -, et non {0}",
	],
	// Addresses of services.
	"address-credentials": [
		"must not hold a user name or password",
		"ne doit contenir ni nom d’utilisateur ni mot de passe",
	],
	"address-characters": [
		"must be percent-encoded where it has other characters than RFC 3986 allows: {0}",
		"doit être encodé en pourcentage pour les caractères que la RFC 3986 ne permet pas : {0}",
	],
	"kind-wms": [
		"must be the address of a WMS, not of an ArcGIS service",
		"doit être l’adresse d’un WMS, et non d’un service ArcGIS",
	],
	"kind-arcgis": [
		"must be the address of a MapServer or FeatureServer, not of a WMS",
		"doit être l’adresse d’un MapServer ou d’un FeatureServer, et non d’un WMS",
	],
	"kind-layer": [
		"must end with the number of one layer: …/{0} is a whole service",
		"doit se terminer par le numéro d’une couche : …/{0} est un service entier",
	],
	"kind-operation": [
		"must be the address of a layer or service, without /{0}: {1}",
		"doit être l’adresse d’une couche ou d’un service, sans /{0} : {1}",
	],
	"kind-service": [
		"must not end with the number of one layer: layers of a whole service are named by scrape_only",
		"ne doit pas se terminer par le numéro d’une couche : les couches d’un service entier sont nommées dans scrape_only",
	],
	// Warnings about what is accepted but probably not intended.
	"odd-feature": [
		"is not the address of one layer of a MapServer or FeatureServer",
		"n’est pas l’adresse d’une couche d’un MapServer ou d’un FeatureServer",
	],
	"odd-service": [
		"is not the address of a MapServer or FeatureServer",
		"n’est pas l’adresse d’un MapServer ou d’un FeatureServer",
	],
	"query-empty": [
		"ends with ?, which is left out: viewers write their own",
		"se termine par ?, qui est omis : les visualiseurs ajoutent le leur",
	],
	"query-request": [
		"already has SERVICE or REQUEST, which viewers add themselves",
		"contient déjà SERVICE ou REQUEST, que les visualiseurs ajoutent eux-mêmes",
	],
	"query-lost": [
		"has a query, which RAMP 4.0 drops when it requests a legend or a clicked feature",
		"a une chaîne de requête, que RAMP 4.0 perd lorsqu’il demande une légende ou l’information sur un point cliqué",
	],
	"query-harmless": [
		"has a query that changes nothing, which is left out: viewers write their own",
		"a une chaîne de requête sans effet, qui est omise : les visualiseurs ajoutent la leur",
	],
	"query-token": [
		"has a token, which everybody can read in the fragment and which expires; GeoView fails on any query",
		"contient un jeton, que tous peuvent lire dans le fragment et qui expire; GéoView échoue avec toute chaîne de requête",
	],
	"query-kept": [
		"has parameters that every viewer gets: {0}; GeoView fails on any query",
		"a des paramètres que chaque visualiseur reçoit : {0}; GéoView échoue avec toute chaîne de requête",
	],
	fragment: [
		"has a #, and what follows it is never sent",
		"contient un #, et ce qui suit n’est jamais envoyé",
	],
	"private-host": [
		"is at {0}, which readers elsewhere cannot reach",
		"est à {0}, une adresse inaccessible aux autres réseaux",
	],
	"not-https": [
		"is not https: a page over https cannot load it",
		"n’est pas en https : une page en https ne peut pas afficher son contenu",
	],
	"several-layers": [
		"names several layers of a FeatureServer, which no viewer draws: register each by itself",
		"nomme plusieurs couches d’un FeatureServer, qu’aucun visualiseur ne dessine ensemble : inscrivez-les une à une",
	],
	"unread-info": [
		"viewers read {0} only, and ask for nothing else",
		"les visualiseurs ne lisent que {0}, et ne demandent rien d’autre",
	],
	"name-of-other": [
		"is missing, and /{0} has one: in this language viewers show the service's name of the layer",
		"est absent, et /{0} en a un : dans cette langue, les visualiseurs montrent le nom que le service donne à la couche",
	],
	"same-service": [
		"is that of /en, so the layer is the same in both languages",
		"est celle de /en : la couche est donc la même dans les deux langues",
	],
	// Documents.
	"utf-8": ["the document must be UTF-8", "le document doit être en UTF-8"],
	"byte-order-mark": [
		"the document must not start with a byte order mark",
		"le document ne doit pas commencer par un indicateur d’ordre des octets",
	],
	depth: [
		"the document must not be nested deeper than {0}",
		"le document ne doit pas avoir plus de {0} niveaux",
	],
	json: [
		"the document must be JSON: line {0}, column {1} {2}",
		"le document doit être en JSON : ligne {0}, colonne {1} {2}",
	],
	"json-unknown": [
		"the document must be JSON: it has an error that was not located",
		"le document doit être en JSON : il contient une erreur dont l’endroit est inconnu",
	],
	"repeated-name": ["occurs more than once", "figure plus d’une fois"],
	"lone-name": [
		"must not have a name with a lone surrogate",
		"ne doit pas avoir de nom avec un demi-codet isolé",
	],
	"lone-surrogate": ["must not hold a lone surrogate", "ne doit pas contenir de demi-codet isolé"],
	"stored-size": [
		"the document must have at most {0} bytes in the form in which it is stored, not {1}",
		"le document doit avoir au plus {0} octets sous sa forme conservée, et non {1}",
	],
	"document-size": [
		"the document must have at most {0} bytes, not {1}",
		"le document doit avoir au plus {0} octets, et non {1}",
	],
	"size-of-document": [
		"the document must have at most {0} bytes",
		"le document doit avoir au plus {0} octets",
	],
	"more-problems": ["the document has {0} more problems", "le document a {0} autres problèmes"],
	"more-problems-one": ["the document has 1 more problem", "le document a 1 autre problème"],
	// Files under layers/, their names and their owners.
	smallkey: [`${smallkeyRule}, not {0}`, "doit être de 1 à 64 caractères A-Z a-z 0-9 _ - + =, et non {0}"],
	owner: [
		"sender {0} may change these keys only: {1}; not {2}",
		"l’expéditeur {0} ne peut modifier que ces clés : {1}; pas {2}",
	],
	"owners-removed": ["must not be removed", "ne doit pas être supprimé"],
	"layers-folder": ["must be a folder", "doit être un dossier"],
	"layers-case": ["must be in layers, in lower case", "doit être dans layers, en minuscules"],
	"visible-name": ["must have a name of visible characters", "doit avoir un nom en caractères visibles"],
	"file-name": [
		"must be named <smallkey>.json or <smallkey>.service.json",
		"doit se nommer <smallkey>.json ou <smallkey>.service.json",
	],
	folder: ["must be at {0}", "doit être à {0}"],
	"plain-file": ["must be a plain file, not a {0}", "doit être un fichier ordinaire, et non un {0}"],
	size: ["must have at most {0} bytes", "doit avoir au plus {0} octets"],
	description: [
		"must be a service description, as npx fragment-publisher harvest writes it",
		"doit être une description de service, telle que npx fragment-publisher harvest l’écrit",
	],
	orphan: ["describes a layer that is not at {0}", "décrit une couche qui n’est pas à {0}"],
} satisfies Readonly<Record<string, TextPair>>;
