import { keyTexts } from "./key-rules.ts";
import { smallkeyRule } from "./smallkey.ts";

/**
 * The text of every rule that a registration, a file or a request can break, and of every warning: code → English, French.
 * `{}` is a value, in the same order in both. A text follows its place, which is a JSON pointer, a header or a word
 * such as `smallkey`.
 */
const table = {
	// Members of a registration, by JSON Schema's keywords.
	required: ["is missing", "est requis"],
	additionalProperties: ["is not a known member", "n’est pas un membre connu"],
	misspelt: ["is not a known member: did you mean {}?", "n’est pas un membre connu : vouliez-vous dire {}?"],
	"only-wms": [
		"belongs to payload_type wms, and must be left out of feature",
		"appartient au payload_type wms et ne doit pas figurer dans feature",
	],
	"only-feature": [
		"belongs to payload_type feature, and must be left out of wms",
		"appartient au payload_type feature et ne doit pas figurer dans wms",
	],
	maxLength: ["must have at most {} characters", "doit avoir au plus {} caractères"],
	minLength: ["must not be empty", "ne doit pas être vide"],
	minimum: ["must be {} or more, not {}", "doit être au moins {}, et non {}"],
	// Rules of a schema that name their code.
	address: ["must be an http or https address, not {}", "doit être une adresse http ou https, et non {}"],
	markup: [
		"must not hold < before a letter, / or !, which viewers take for markup, not {}",
		"ne doit pas contenir < devant une lettre, / ou !, que les visualiseurs interprètent comme du balisage : {}",
	],
	"media-type": [
		"must be a media type, such as image/png, not {}",
		"doit être un type de média, comme image/png, et non {}",
	],
	metadata: [
		"must have either a uuid, or a metadata_url, a catalogue_url or both",
		"doit avoir soit un uuid, soit un metadata_url, un catalogue_url ou les deux",
	],
	version: [
		"must be 1.x.y, such as 1.0.0, or 2.0, not {}",
		"doit être 1.x.y, comme 1.0.0, ou 2.0, et non {}",
	],
	"no-target": ["must name a target, or be left out", "doit nommer une cible, ou être omis"],
	"target-name": [
		"must be v2, the only target that can have an address of its own, not {}",
		"doit être v2, la seule cible qui peut avoir sa propre adresse, et non {}",
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
		"must be esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer or esriFeatureServer, not {}",
		"doit être esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer ou esriFeatureServer, et non {}",
	],
	glob: [
		"must be a glob: 1 to 64 of A-Z a-z 0-9 _ - + = * ?, not {}",
		"doit être un motif : 1 à 64 caractères A-Z a-z 0-9 _ - + = * ?, et non {}",
	],
	"owner-name": [
		"must be a GitHub team or user, such as @organisation/team or @user, not {}",
		"doit être une équipe ou une personne de GitHub, comme @organisation/equipe ou @personne, et non {}",
	],
	// Addresses of services.
	"address-credentials": [
		"must not hold a user name or password",
		"ne doit contenir ni nom d’utilisateur ni mot de passe",
	],
	"address-characters": [
		"must be percent-encoded where it has other characters than RFC 3986 allows: {}",
		"doit être encodé en pourcentage pour les caractères que la RFC 3986 ne permet pas : {}",
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
		"must end with the number of one layer: …/{} is a whole service",
		"doit se terminer par le numéro d’une couche : …/{} est un service entier",
	],
	"kind-service": [
		"must not end with the number of one layer: layers of a whole service are named by scrape_only",
		"ne doit pas se terminer par le numéro d’une couche : les couches d’un service entier sont nommées dans scrape_only",
	],
	// Warnings: accepted, and probably not meant.
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
		"has a query, which RAMP 4.0 loses where it asks for a legend or for what was clicked on",
		"a une chaîne de requête, que RAMP 4.0 perd lorsqu’il demande une légende ou l’information sur un point cliqué",
	],
	"query-harmless": [
		"has a query that changes nothing, which is left out at v2: GeoView fails on it",
		"a une chaîne de requête sans effet, omise en v2 : GéoView y échoue",
	],
	"query-fails": [
		"has a query, on which GeoView fails",
		"a une chaîne de requête, sur laquelle GéoView échoue",
	],
	fragment: [
		"has a #, and what follows it is never sent",
		"contient un #, et ce qui suit n’est jamais envoyé",
	],
	"private-host": [
		"is at {}, which readers elsewhere cannot reach",
		"est à {}, une adresse inaccessible aux autres réseaux",
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
		"viewers read {} only, and ask for nothing else",
		"les visualiseurs ne lisent que {}, et ne demandent rien d’autre",
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
		"the document must not be nested deeper than {}",
		"le document ne doit pas avoir plus de {} niveaux",
	],
	json: [
		"the document must be JSON: line {}, column {} {}",
		"le document doit être en JSON : ligne {}, colonne {} {}",
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
		"the document must have at most {} bytes in the form in which it is stored, not {}",
		"le document doit avoir au plus {} octets sous sa forme conservée, et non {}",
	],
	"document-size": [
		"the document must have at most {} bytes, not {}",
		"le document doit avoir au plus {} octets, et non {}",
	],
	"size-of-document": ["the document must have at most {} bytes", "le document doit avoir au plus {} octets"],
	"more-problems": ["the document has {} more problems", "le document a {} autres problèmes"],
	"more-problem": ["the document has 1 more problem", "le document a 1 autre problème"],
	// Syntax errors, behind a line and a column, by the names of jsonc-parser.
	InvalidSymbol: [
		"is neither punctuation nor a value of JSON",
		"n’est ni de la ponctuation ni une valeur de JSON",
	],
	InvalidNumberFormat: ["is not a number of JSON", "n’est pas un nombre de JSON"],
	PropertyNameExpected: [
		"must be a member's name in double quotes",
		"doit être le nom d’un membre entre guillemets doubles",
	],
	ValueExpected: ["must be a value", "doit être une valeur"],
	ColonExpected: ["must be a colon", "doit être un deux-points"],
	CommaExpected: ["must be a comma", "doit être une virgule"],
	CloseBraceExpected: ["must be a closing brace", "doit être une accolade fermante"],
	CloseBracketExpected: ["must be a closing bracket", "doit être un crochet fermant"],
	EndOfFileExpected: ["must be the end", "doit être la fin"],
	InvalidCommentToken: ["must not be a comment", "ne doit pas être un commentaire"],
	UnexpectedEndOfString: [
		"must be a text that ends with a quote on its line",
		"doit être un texte qui se termine par un guillemet sur la même ligne",
	],
	UnexpectedEndOfNumber: ["is a number without its last digits", "est un nombre sans ses derniers chiffres"],
	InvalidUnicode: [
		"must have four hexadecimal digits after each \\u",
		"doit avoir quatre chiffres hexadécimaux après chaque \\u",
	],
	InvalidEscapeCharacter: [
		"must not have other characters after a backslash than JSON knows",
		"ne doit avoir après une barre oblique inversée que des caractères permis par JSON",
	],
	InvalidCharacter: [
		"must have its control characters escaped",
		"doit avoir ses caractères de contrôle échappés",
	],
	// Files under layers/, their names and their owners.
	smallkey: [`${smallkeyRule}, not {}`, "doit être de 1 à 64 caractères A-Z a-z 0-9 _ - + =, et non {}"],
	...keyTexts,
	owner: [
		"sender {} may change these keys only: {}; not {}",
		"l’expéditeur {} ne peut modifier que ces clés : {}; pas {}",
	],
	"owners-removed": ["must not be removed", "ne doit pas être supprimé"],
	"layers-folder": ["must be a folder", "doit être un dossier"],
	"layers-case": ["must be in layers, in lower case", "doit être dans layers, en minuscules"],
	"visible-name": ["must have a name of visible characters", "doit avoir un nom en caractères visibles"],
	"file-name": [
		"must be named <smallkey>.json or <smallkey>.service.json",
		"doit se nommer <smallkey>.json ou <smallkey>.service.json",
	],
	folder: ["must be at {}", "doit être à {}"],
	"plain-file": ["must be a plain file, not a {}", "doit être un fichier ordinaire, et non un {}"],
	size: ["must have at most {} bytes", "doit avoir au plus {} octets"],
	description: [
		"must be a service description, as npx fragments harvest writes it",
		"doit être une description de service, telle que npx fragments harvest l’écrit",
	],
	orphan: ["describes a layer that is not at {}", "décrit une couche qui n’est pas à {}"],
	// Requests.
	"body-size": ["the body must have at most {} bytes", "le corps doit avoir au plus {} octets"],
	"body-empty": ["the body must be empty", "le corps doit être vide"],
	more: ["and {} more", "et {} autres"],
	"not-registered": ["{} is not registered", "{} n’est pas inscrit"],
	"not-feature": ["{} is not a feature layer", "{} n’est pas une couche d’entités"],
	"stored-invalid": [
		"{}: the stored registration is invalid and cannot be updated: register the layer again",
		"{} : l’inscription conservée n’est pas valide et ne peut pas être modifiée : inscrivez la couche de nouveau",
	],
	object: ["must be an object", "doit être un objet"],
	members: ["must have at least one member", "doit avoir au moins un membre"],
	"whole-number": ["must be a whole number", "doit être un nombre entier"],
	header: ["the header is missing", "l’en-tête est absent"],
	signature: [
		"is not the signature of this path, sender, timestamp and body",
		"n’est pas la signature de ce chemin, de cet expéditeur, de cet horodatage et de ce corps",
	],
	"signature-shape": [
		"must be 43 characters of URL-safe base64 without padding, and this one {}",
		"doit être de 43 caractères en base64 pour URL sans remplissage ({})",
	],
	"signature-used": [
		"this signature was used before, and the layer has changed since: sign again",
		"cette signature a déjà servi et la couche a changé depuis : signez de nouveau",
	],
	clock: [
		"this server's clock went back to a time that is over, and may have seen this: sign again",
		"l’horloge de ce serveur a reculé, et il a peut-être déjà reçu cette requête : signez de nouveau",
	],
	timestamp: [
		"must be an ISO 8601 time in UTC within two minutes of this server's, which is {}",
		"doit être une heure ISO 8601 en UTC à moins de deux minutes de celle de ce serveur, qui est {}",
	],
	"timestamp-hint": [
		"the TimeStamp that was sent is {}; date -u +%Y-%m-%dT%H:%M:%SZ writes one",
		"le TimeStamp reçu est {}; date -u +%Y-%m-%dT%H:%M:%SZ en écrit un",
	],
	hint: [
		"check the sender's id and secret; that the body is signed as it is sent: curl -d drops line breaks, --data-binary keeps them; that the signed path is the whole path, such as {}; npx fragments sign --explain shows the text that has to be signed",
		"vérifiez l’identifiant et le secret de l’expéditeur; que le corps est signé tel qu’il est envoyé : curl -d enlève les sauts de ligne, --data-binary les conserve; que le chemin signé est le chemin entier, comme {}; npx fragments sign --explain montre le texte à signer",
	],
	query: ["a write must have no query", "une écriture ne doit pas avoir de paramètres"],
	"path-length": [
		"must have at most {} characters after the base path",
		"doit avoir au plus {} caractères après le chemin de base",
	],
	"path-characters": [
		"must start with one / and hold nothing that a URL parser would change",
		"doit commencer par un seul / et ne rien contenir qu’un analyseur d’URL changerait",
	],
	"path-refresh": [
		"must end with all or a number of days, and at v2 with a number of layers behind it",
		"doit se terminer par all ou par un nombre de jours, suivi en v2 d’un nombre de couches",
	],
	path: ["must be {}/register/<smallkey>", "doit être {}/register/<smallkey>"],
	"no-harvest": [
		"this service does not harvest: its operator, or the weekly workflow, does",
		"ce service ne moissonne pas : son exploitant ou le flux de travail hebdomadaire s’en charge",
	],
	"limit-address": [
		"too many writes of this address: try again after {} seconds",
		"trop d’écritures de cette adresse : réessayez dans {} secondes",
	],
	"limit-sender": [
		"too many writes of this sender: try again after {} seconds",
		"trop d’écritures de cet expéditeur : réessayez dans {} secondes",
	],
	busy: ["the layers cannot be changed now: {}", "les couches ne peuvent pas être modifiées maintenant : {}"],
	failed: [
		"the service failed; nothing is known to be stored",
		"le service a échoué; rien n’indique qu’un changement a été conservé",
	],
	// One of several values, their number, and the type of one: the most general texts.
	minItems: ["must have at least {}", "doit avoir au moins {}"],
	maxItems: ["must have at most {}", "doit avoir au plus {}"],
	method: ["must be {}, not {}", "doit être {}, et non {}"],
	enum: ["must be {}, not {}", "doit être {}, et non {}"],
	const: ["must be {}, not {}", "doit être {}, et non {}"],
	type: ["must be {}, not {}", "doit être {}, et non {}"],
	// Values of other texts.
	entry: ["1 entry", "1 élément"],
	entries: ["{} entries", "{} éléments"],
	"a-string": ["a string", "un texte"],
	"an-object": ["an object", "un objet"],
	"an-array": ["an array", "une liste"],
	"a-list": ["a list", "une liste"],
	"an-integer": ["an integer", "un nombre entier"],
	"a-number": ["a number", "un nombre"],
	"a-boolean": ["a boolean", "true ou false"],
	nothing: ["nothing", "rien"],
} as const satisfies Readonly<Record<string, readonly [en: string, fr: string]>>;

export type TextCode = keyof typeof table;

export const texts: Readonly<Record<TextCode, readonly [en: string, fr: string]>> = table;

export interface BrokenRule {
	/** Identifies the rule, independent of the language of its text: `address-credentials`, `maxLength`. */
	code: TextCode;
	/** In English: `must not hold a user name or password` */
	text: string;
}

/** The English text of a code. */
export function textOf(code: TextCode, ...values: readonly unknown[]): string {
	return fill(texts[code][0], values);
}

/** The English text of a code at a place: `smallkey: ab is not registered`. */
export function textAt(place: string, code: TextCode, ...values: readonly unknown[]): string {
	return `${place}: ${textOf(code, ...values)}`;
}

/** A broken rule with its English text. */
export function broken(code: TextCode, ...values: readonly unknown[]): BrokenRule {
	return { code, text: textOf(code, ...values) };
}

function fill(text: string, values: readonly unknown[]): string {
	let index = 0;
	return text.replace(/\{\}/g, () => String(values[index++] ?? ""));
}

/** A rule follows its place: the document, a pointer, or a word. */
const place = /^(the document: |\/.*?: |[^\s:]+: )(.*)$/s;

let patterns: [pattern: RegExp, fr: string][] | undefined;

/** The table by its English texts. Made at the first use: many runs need none. */
function patternsOf() {
	patterns ??= Object.values(texts).map(([en, fr]) => {
		const parts = en.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		return [new RegExp(`^${parts.join("(.*?)")}$`, "s"), fr.replaceAll(" :", "\u00a0:")];
	});
	return patterns;
}

/** An English text of a rule, with its place or without, in French; null where the table has no such text. */
export function frenchOf(error: string): string | null {
	const whole = translate(error);
	if (whole !== null) return whole;
	const [, where = "", rule = ""] = place.exec(error) ?? [];
	const text = translate(rule);
	return text === null ? null : (where === "the document: " ? "le document\u00a0: " : where) + text;
}

function translate(text: string): string | null {
	for (const [pattern, fr] of patternsOf()) {
		const values = pattern.exec(text)?.slice(1);
		if (values) return fill(fr, values.map(translateValue));
	}
	return null;
}

/** A value may be a text of the table, or a list of names. */
function translateValue(value: string): string {
	if (/^\w+(?: or \w+)+$/.test(value)) return value.replaceAll(" or ", " ou ");
	return translate(value) ?? value;
}

/** Whether an `Accept-Language` header (RFC 9110, section 12.5.4) prefers French to English. */
export function prefersFrench(header: string | null): boolean {
	const weights = { en: 0, fr: 0 };
	for (const part of (header ?? "").slice(0, 500).split(",")) {
		const [, tag = "", weight = "1"] =
			/^\s*([a-z]{2})(?:-[a-z0-9-]+)?\s*(?:;\s*q=([0-9.]+)\s*)?$/i.exec(part) ?? [];
		const lang = tag.toLowerCase();
		if (lang === "en" || lang === "fr") weights[lang] = Math.max(weights[lang], Number(weight) || 0);
	}
	return (
		weights.fr > weights.en || (weights.fr > 0 && weights.fr === weights.en && /^\s*fr/i.test(header ?? ""))
	);
}
