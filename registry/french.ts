/**
 * The texts of refusals: a code, the English text and the French one. `{}` is a value, in the same order in both. A text
 * follows its place, which is a JSON pointer, a header or a word such as `smallkey`. The English texts are those of
 * the rules themselves; `tests/registry/french.test.ts` holds the two against each other.
 */
export const texts: readonly (readonly [code: string, en: string, fr: string])[] = [
	["missing", "is missing", "est absent"],
	[
		"unknown-near",
		"is not a known member: did you mean {}?",
		"n'est pas un membre connu : vouliez-vous dire {}?",
	],
	["unknown", "is not a known member", "n'est pas un membre connu"],
	[
		"other-type",
		"belongs to payload_type {}, and must be left out of {}",
		"appartient au payload_type {} et ne doit pas figurer dans {}",
	],
	["address", "must be an http or https address, not {}", "doit être une adresse http ou https, et non {}"],
	[
		"markup",
		"must not hold < before a letter, / or !, which viewers take for markup, not {}",
		"ne doit pas contenir < devant une lettre, / ou !, que les visualiseurs prennent pour du balisage : {}",
	],
	[
		"media-type",
		"must be a media type, such as image/png, not {}",
		"doit être un type de média, comme image/png, et non {}",
	],
	[
		"metadata",
		"must have either a uuid, or a metadata_url, a catalogue_url or both",
		"doit avoir soit un uuid, soit un metadata_url, un catalogue_url ou les deux",
	],
	[
		"version",
		"must be 1.x.y, such as 1.0.0, or 2.0, not {}",
		"doit être 1.x.y, comme 1.0.0, ou 2.0, et non {}",
	],
	["target", "must name a target, or be left out", "doit nommer une cible, ou être omis"],
	[
		"target-v2",
		"must be v2, the only target that can have an address of its own, not {}",
		"doit être v2, la seule cible qui peut avoir sa propre adresse, et non {}",
	],
	["override-lang", "must have en, fr or both", "doit avoir en, fr ou les deux"],
	["override", "must have a service_url, a layer or both", "doit avoir un service_url, un layer ou les deux"],
	[
		"named",
		"must name its layers in scrape_only, or take every layer with a recursive of true",
		"doit nommer ses couches dans scrape_only, ou les prendre toutes avec recursive à true",
	],
	[
		"service-type",
		"must be esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer or esriFeatureServer, not {}",
		"doit être esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer ou esriFeatureServer, et non {}",
	],
	[
		"kind-wms",
		"must be the address of a WMS, not of an ArcGIS service",
		"doit être l'adresse d'un WMS, et non d'un service ArcGIS",
	],
	[
		"kind-arcgis",
		"must be the address of a MapServer or FeatureServer, not of a WMS",
		"doit être l'adresse d'un MapServer ou d'un FeatureServer, et non d'un WMS",
	],
	[
		"kind-layer",
		"must end with the number of one layer: {} is a whole service",
		"doit se terminer par le numéro d'une couche : {} est un service entier",
	],
	[
		"kind-service",
		"must not end with the number of one layer: layers of a whole service are named by scrape_only",
		"ne doit pas se terminer par le numéro d'une couche : les couches d'un service entier sont nommées dans scrape_only",
	],
	[
		"credentials",
		"must not hold a user name or password",
		"ne doit contenir ni nom d'utilisateur ni mot de passe",
	],
	[
		"percent",
		"must be percent-encoded where it has other characters than RFC 3986 allows: {}",
		"doit être encodé en pourcentage pour les caractères que la RFC 3986 ne permet pas : {}",
	],
	["max-characters", "must have at most {} characters", "doit avoir au plus {} caractères"],
	["empty", "must not be empty", "ne doit pas être vide"],
	["least", "must be {} or more, not {}", "doit être au moins {}, et non {}"],
	["least-entries-1", "must have at least 1 entry", "doit avoir au moins 1 élément"],
	["most-entries", "must have at most {} entries", "doit avoir au plus {} éléments"],
	["object", "must be an object, not {}", "doit être un objet, et non {}"],
	["object-only", "must be an object", "doit être un objet"],
	["array", "must be an array, not {}", "doit être une liste, et non {}"],
	["text", "must be a string, not {}", "doit être un texte, et non {}"],
	["integer", "must be an integer, not {}", "doit être un nombre entier, et non {}"],
	["number", "must be a whole number", "doit être un nombre entier"],
	["boolean", "must be a boolean, not {}", "doit être true ou false, et non {}"],
	[
		"smallkey",
		"must be 1 to 64 of A-Z a-z 0-9 _ - + =, not {}",
		"doit être de 1 à 64 caractères A-Z a-z 0-9 _ - + =, et non {}",
	],
	["either", "must be {} or {}, not {}", "doit être {} ou {}, et non {}"],
	["twice", "stands there more than once", "y figure plus d'une fois"],
	[
		"surrogate-name",
		"must not have a name with a lone surrogate",
		"ne doit pas avoir de nom avec un demi-codet isolé",
	],
	["surrogate", "must not hold a lone surrogate", "ne doit pas contenir de demi-codet isolé"],
	["members", "must have at least one member", "doit avoir au moins un membre"],
	["utf-8", "the document must be UTF-8", "le document doit être en UTF-8"],
	[
		"byte-order-mark",
		"the document must not start with a byte order mark",
		"le document ne doit pas commencer par un indicateur d'ordre des octets",
	],
	[
		"depth",
		"the document must not be nested deeper than {}",
		"le document ne doit pas avoir plus de {} niveaux",
	],
	[
		"json",
		"the document must be JSON: line {}, column {} {}",
		"le document doit être en JSON : ligne {}, colonne {} ({})",
	],
	[
		"stored-size",
		"the document must have at most {} bytes in the form in which it is stored, not {}",
		"le document doit avoir au plus {} octets sous la forme dans laquelle il est conservé, et non {}",
	],
	["document-size", "the document must have at most {} bytes", "le document doit avoir au plus {} octets"],
	["body-size", "the body must have at most {} bytes", "le corps doit avoir au plus {} octets"],
	["body-empty", "the body must be empty", "le corps doit être vide"],
	["more-problems", "the document has {} more problems", "le document a {} autres problèmes"],
	["more-problem", "the document has 1 more problem", "le document a 1 autre problème"],
	["more", "and {} more", "et {} autres"],
	[
		"twin-stored",
		"{} differs only in case from {}, which is registered",
		"{} ne diffère que par la casse de {}, qui est inscrit",
	],
	[
		"owner",
		"sender {} may change these keys only: {}; not {}",
		"l'expéditeur {} ne peut modifier que ces clés : {}; pas {}",
	],
	["not-registered", "{} is not registered", "{} n'est pas inscrit"],
	["not-feature", "smallkey: {} is not a feature layer", "smallkey: {} n'est pas une couche d'entités"],
	["header", "the header is missing", "l'en-tête est absent"],
	[
		"signature",
		"is not the signature of this path, sender, timestamp and body",
		"n'est pas la signature de ce chemin, de cet expéditeur, de cet horodatage et de ce corps",
	],
	[
		"signature-shape",
		"must be 43 characters of URL-safe base64 without padding, and this one {}",
		"doit être de 43 caractères en base64 pour URL sans remplissage ({})",
	],
	[
		"signature-used",
		"this signature was used before, and the layer has changed since: sign again",
		"cette signature a déjà servi et la couche a changé depuis : signez de nouveau",
	],
	[
		"timestamp",
		"must be an ISO 8601 time in UTC within two minutes of this server's, which is {}",
		"doit être une heure ISO 8601 en UTC à moins de deux minutes de celle de ce serveur, qui est {}",
	],
	[
		"hint",
		"check the sender's id and secret; that the body is signed as it is sent: curl -d drops line breaks, --data-binary keeps them; that the signed path is the whole path, such as {}; npx fragments sign --explain shows the text that has to be signed",
		"vérifiez l'identifiant et le secret de l'expéditeur; que le corps est signé tel qu'il est envoyé : curl -d enlève les sauts de ligne, --data-binary les garde; que le chemin signé est le chemin entier, comme {}; npx fragments sign --explain montre le texte à signer",
	],
	["query", "a write must have no query", "une écriture ne doit pas avoir de paramètres"],
	["method", "must be {}, not {}", "doit être {}, et non {}"],
	[
		"path-characters",
		"must start with one / and hold nothing that a URL parser would change",
		"doit commencer par un seul / et ne rien contenir qu'un analyseur d'URL changerait",
	],
	["path", "must be {}", "doit être {}"],
	[
		"limit-address",
		"too many writes of this address: try again after {} seconds",
		"trop d'écritures de cette adresse : réessayez après {} secondes",
	],
	[
		"limit-sender",
		"too many writes of this sender: try again after {} seconds",
		"trop d'écritures de cet expéditeur : réessayez après {} secondes",
	],
	[
		"busy",
		"the layers cannot be changed now: {}",
		"les couches ne peuvent pas être modifiées maintenant : {}",
	],
	[
		"failed",
		"the service failed; nothing is known to be stored",
		"le service a échoué; rien n'indique qu'un changement a été conservé",
	],
];

/** A rule follows its place: the document, a pointer, or a word. */
const place = /^(the document: |\/.*?: |[^\s:]+: )(.*)$/s;

let patterns: { pattern: RegExp; code: string; fr: string }[] | undefined;

function patternsOf() {
	patterns ??= texts.map(([code, en, fr]) => {
		const parts = en.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		return { pattern: new RegExp(`^${parts.join("(.*?)")}$`, "s"), code, fr };
	});
	return patterns;
}

/** The French text of an English one of a refusal, and its code; null where the table has none. */
export function frenchOf(error: string): { code: string; text: string } | null {
	const whole = match(error);
	if (whole) return whole;
	const [, where = "", rule = ""] = place.exec(error) ?? [];
	const found = match(rule);
	if (!found) return null;
	return { ...found, text: `${where === "the document: " ? "le document : " : where}${found.text}` };
}

function match(text: string): { code: string; text: string } | null {
	for (const { pattern, code, fr } of patternsOf()) {
		const values = pattern.exec(text)?.slice(1);
		if (values) return { code, text: fill(fr, values) };
	}
	return null;
}

function fill(text: string, values: readonly string[]): string {
	let index = 0;
	return text.replace(/\{\}/g, () => values[index++] ?? "");
}

/** An error of a refusal in French; as it is where the table has no text for it. */
export function inFrench(error: string): string {
	return frenchOf(error)?.text ?? error;
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
