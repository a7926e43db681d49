import { smallkeyRule } from "../smallkey.ts";
import { must, mustBe, type TextPair } from "./pairs.ts";

const notEmpty = ["must not be empty", "ne doit pas être vide"] as const;

/** A text follows the place of its problem. Texts for new smallkeys are in `smallkey.ts`. */
export const documentTexts = {
	// Members of a registration, by JSON Schema's keywords.
	required: ["is missing", "est requis"],
	additionalProperties: ["is not a known member", "n’est pas un membre connu"],
	"false schema": ["does not belong to this payload_type", "n’appartient pas à ce payload_type"],
	minProperties: notEmpty,
	minItems: notEmpty,
	maxLength: ["must have at most {0} characters", "doit avoir au plus {0} caractères"],
	minLength: notEmpty,
	minimum: ["must be {0} or more, not {1}", "doit être au moins {0}, et non {1}"],
	maxItems: "must have {0} or fewer entries",
	enum: mustBe,
	type: mustBe,
	// Rules of a schema whose `code` names the text.
	address: must("an http or https address", "une adresse http ou https"),
	markup: [
		"must not hold < before a letter, / or !, as in markup, not {0}",
		"ne doit pas contenir < devant une lettre, / ou !, comme du balisage : {0}",
	],
	name: must("visible text on one line, or empty", "un texte visible sur une ligne, ou vide"),
	"media-type": must("a media type, such as image/png", "un type de média, comme image/png"),
	metadata: [
		"must have either a uuid, or a metadata_url, a catalogue_url or both",
		"doit avoir soit un uuid, soit un metadata_url, un catalogue_url ou les deux",
	],
	version: must("1.x.y, such as 1.0.0, or 2.0", "1.x.y, comme 1.0.0, ou 2.0"),
	"no-layers": [
		"must name its layers in scrape_only, or have a recursive of true",
		"doit nommer ses couches dans scrape_only, ou avoir recursive à true",
	],
	"service-type": must(
		"ogcWms, ogcWmts, esriFeature, esriMapServer, esriFeatureServer, esriTile or esriImage",
		"ogcWms, ogcWmts, esriFeature, esriMapServer, esriFeatureServer, esriTile ou esriImage",
	),
	glob: "must be a glob of smallkeys, not {0}",
	"sender-name": "must be the id of a sender, not {0}",
	"owner-name": "must be a GitHub team or account, such as @organisation/team or @ada#123, not {0}",
	"owner-id": "{0} must have the id of the account, as in @ada#123: gh api users/ada --jq .id prints it",
	// Addresses of services.
	"address-credentials": [
		"must not hold a user name or password",
		"ne doit contenir ni nom d’utilisateur ni mot de passe",
	],
	"address-characters": [
		"must be percent-encoded where it has other characters than RFC 3986 allows: {0}",
		"doit être encodé en pourcentage pour les caractères que la RFC 3986 ne permet pas : {0}",
	],
	"kind-other": [
		"must not be the address of another kind of service",
		"ne doit pas être l’adresse d’une autre sorte de service",
	],
	"kind-layer": [
		"must end with the number of one layer: …/{0} is a whole service",
		"doit se terminer par le numéro d’une couche : …/{0} est un service entier",
	],
	"kind-operation": [
		"must be the address of a layer or service, without /{0}: {1}",
		"doit être l’adresse d’une couche ou d’un service, sans /{0} : {1}",
	],
	// Warnings about what is accepted but probably not intended.
	"query-lost": [
		"has a query, which RAMP 4.0 drops when it requests a legend or a clicked feature",
		"a une chaîne de requête, que RAMP 4.0 perd lorsqu’il demande une légende ou l’information sur un point",
	],
	"query-kept": [
		"has parameters that everyone can read in the fragment, and on which GeoView fails: {0}",
		"a des paramètres que tous peuvent lire dans le fragment, et sur lesquels GéoView échoue : {0}",
	],
	"private-host": [
		"is at {0}, which readers elsewhere cannot reach",
		"est à {0}, une adresse inaccessible aux autres réseaux",
	],
	"not-https": [
		"is not https: a page over https cannot load it",
		"n’est pas en https : une page en https ne peut pas afficher son contenu",
	],
	"unread-info": ["viewers read {0} only", "les visualiseurs ne lisent que {0}"],
	"name-of-other": [
		"is missing, and /{0} has one: viewers show the service's own name here",
		"est absent, et /{0} en a un : les visualiseurs montrent ici le nom que donne le service",
	],
	// Documents.
	"utf-8": ["must be UTF-8", "doit être en UTF-8"],
	"byte-order-mark": [
		"must not begin with a byte order mark",
		"ne doit pas commencer par un indicateur d’ordre des octets",
	],
	depth: ["must not be nested deeper than {0}", "ne doit pas avoir plus de {0} niveaux"],
	json: ["must be JSON: see line {0}, column {1}", "doit être en JSON : voir la ligne {0}, colonne {1}"],
	"repeated-name": ["occurs more than once", "figure plus d’une fois"],
	"lone-surrogate": ["must not hold a lone surrogate", "ne doit pas contenir de demi-codet isolé"],
	"more-problems": ["has more problems: {0}", "a d’autres problèmes : {0}"],
	// Files under layers/, their names and their owners.
	smallkey: [`${smallkeyRule}, not {0}`, "doit être de 1 à 64 caractères A-Z a-z 0-9 _ - + =, et non {0}"],
	owner: [
		"sender {0} may change these keys only: {1}; not {2}",
		"l’expéditeur {0} ne peut modifier que ces clés : {1}; pas {2}",
	],
	"owners-removed": "must not be removed",
	"layers-folder": "must be in the folder layers, in lower case",
	"visible-name": "must have a name of visible characters",
	"file-name": "must be named <smallkey>.json or <smallkey>.service.json",
	folder: "must be at {0}",
	"plain-file": "must be a plain file",
	size: ["must have at most {0} bytes", "doit avoir au plus {0} octets"],
	description: "must be a service description, as npx fragment-publisher harvest writes it",
	orphan: "there is no layer {0}: remove this file, or add the layer",
	// Values of other texts.
	"a-string": ["a string", "un texte"],
	"an-object": ["an object", "un objet"],
	"an-array": ["a list", "une liste"],
	"an-integer": ["an integer", "un nombre entier"],
	"a-boolean": ["a boolean", "true ou false"],
	nothing: ["nothing", "rien"],
	document: ["the document: {0}", "le document : {0}"],
} satisfies Readonly<Record<string, TextPair | string>>;
