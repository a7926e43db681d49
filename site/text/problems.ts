import { inFrench } from "../../registry/french.ts";
import type { Lang } from "../../registry/smallkey.ts";

/** A problem or a warning of a registration: where it is, and what is wrong. */
export interface PlacedProblem {
	/** JSON pointer (RFC 6901); empty for the whole document. */
	pointer: string;
	text: string;
	/** Language of the text: English where there is no French one. */
	lang: Lang;
}

/** A line or column of a text that is no JSON. */
const place = "line (\\d+), column (\\d+)";

/** Rules as registry/ and schemas/ word them, and the same in French. `$1` is what the first brackets hold. */
const rules: readonly (readonly [english: RegExp, french: string])[] = (
	[
		["is missing", "est requis"],
		["stands there more than once", "apparaît plus d’une fois"],
		["is not a known member", "n’est pas un membre connu"],
		["must be an object, not (.*)", "doit être un objet, et non $1"],
		["must be an array, not (.*)", "doit être une liste, et non $1"],
		["must be an integer, not (.*)", "doit être un nombre entier, et non $1"],
		["must be a number, not (.*)", "doit être un nombre, et non $1"],
		["must be a string, not (.*)", "doit être un texte, et non $1"],
		["must be a boolean, not (.*)", "doit être true ou false, et non $1"],
		["must have at most (\\d+) characters", "doit avoir au plus $1 caractères"],
		["must not be empty", "ne doit pas être vide"],
		["must be (\\d+) or more, not (.*)", "doit être $1 ou plus, et non $2"],
		["must have at least 1 entry", "doit avoir au moins un élément"],
		["must have at (least|most) (\\d+) entr(?:y|ies)", "n’a pas le bon nombre d’éléments ($2)"],
		["must be an http or https address, not (.*)", "doit être une adresse http ou https, et non $1"],
		[
			"must not hold < before a letter, / or !, which viewers take for markup, not (.*)",
			"ne doit pas contenir < devant une lettre, / ou !, que les visualiseurs prennent pour du balisage : $1",
		],
		[
			"must be a media type, such as image/png, not (.*)",
			"doit être un type de média, tel que image/png, et non $1",
		],
		[
			"must have either a uuid, or a metadata_url, a catalogue_url or both",
			"doit avoir soit un uuid, soit metadata_url, catalogue_url ou les deux",
		],
		[
			"does not belong in a registration of this payload_type",
			"n’a pas sa place dans une inscription de ce payload_type",
		],
		[
			"must be 1\\.x\\.y, such as 1\\.0\\.0, or 2\\.0, not (.*)",
			"doit être 1.x.y, tel que 1.0.0, ou 2.0, et non $1",
		],
		["must name a target, or be left out", "doit nommer une cible, ou être omis"],
		[
			"must be v2, the only target that can have an address of its own, not (.*)",
			"doit être v2, la seule cible qui peut avoir sa propre adresse, et non $1",
		],
		["must have en, fr or both", "doit avoir en, fr ou les deux"],
		["must have a service_url, a layer or both", "doit avoir service_url, layer ou les deux"],
		[
			"must name its layers in scrape_only, or take every layer with a recursive of true",
			"doit nommer ses couches dans scrape_only, ou les prendre toutes avec recursive à true",
		],
		[
			"must be esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer or esriFeatureServer, not (.*)",
			"doit être esriFeature, esriTile, esriImage, ogcWms, ogcWmts, esriMapServer ou esriFeatureServer, et non $1",
		],
		["must be (\\S+(?: or \\S+)+), not (.*)", "doit être l’une des valeurs permises ($1), et non $2"],
		["must be (\\S+), not (.*)", "doit être $1, et non $2"],
		["must not hold a user name or password", "ne doit contenir ni nom d’utilisateur ni mot de passe"],
		[
			"must be percent-encoded where it has other characters than RFC 3986 allows: (.*)",
			"doit avoir ses caractères spéciaux encodés en % (RFC 3986) : $1",
		],
		["must be UTF-8", "doit être en UTF-8"],
		["must not start with a byte order mark", "ne doit pas commencer par un indicateur d’ordre des octets"],
		["must not be nested deeper than (\\d+)", "ne doit pas avoir plus de $1 niveaux"],
		["must not have a name with a lone surrogate", "ne doit pas avoir de nom avec un demi-codet isolé"],
		["must not hold a lone surrogate", "ne doit pas contenir de demi-codet isolé"],
		[
			`must be JSON: ${place} must be a value`,
			"doit être du JSON : une valeur est attendue à la ligne $1, colonne $2",
		],
		[
			`must be JSON: ${place} must be the end`,
			"doit être du JSON : le texte devrait finir à la ligne $1, colonne $2",
		],
		[`must be JSON: ${place} .*`, "doit être du JSON : erreur à la ligne $1, colonne $2"],
		["must be JSON: .*", "doit être du JSON"],
		["must have at most (\\d+) bytes, not (\\d+)", "doit avoir au plus $1 octets, et non $2"],
		[
			"must have at most (\\d+) bytes in the form in which it is stored, not (\\d+)",
			"doit avoir au plus $1 octets sous la forme où il est gardé, et non $2",
		],
		["has (\\d+) more problems?", "a encore $1 problèmes"],
		[
			"is not the address of one layer of a MapServer or FeatureServer",
			"n’est pas l’adresse d’une couche d’un MapServer ou d’un FeatureServer",
		],
		[
			"…/(\\w+) is a whole service: the address must end with the number of one layer",
			"…/$1 est un service entier : l’adresse doit finir par le numéro d’une couche",
		],
		[
			"is not the address of a MapServer or FeatureServer",
			"n’est pas l’adresse d’un MapServer ou d’un FeatureServer",
		],
		[
			"ends with the number of one layer: layers of a whole service are named by scrape_only",
			"finit par le numéro d’une couche : scrape_only nomme les couches d’un service entier",
		],
		[
			"ends with \\?, which is left out: viewers write their own",
			"finit par ?, qui est omis : les visualiseurs écrivent le leur",
		],
		[
			"already says SERVICE or REQUEST, which viewers say themselves",
			"contient déjà SERVICE ou REQUEST, que les visualiseurs ajoutent eux-mêmes",
		],
		[
			"has a query, which RAMP 4\\.0 loses where it asks for a legend or for what was clicked on",
			"a une chaîne de requête, que RAMP 4.0 perd quand il demande une légende ou ce qui a été cliqué",
		],
		[
			"has a query that changes nothing, which is left out at v2: GeoView fails on it",
			"a une chaîne de requête sans effet, omise en v2 : GéoView y échoue",
		],
		["has a query, on which GeoView fails", "a une chaîne de requête, sur laquelle GéoView échoue"],
		["has a #, and what follows it is never sent", "contient un #, et ce qui suit n’est jamais envoyé"],
		[
			"is at (\\S+), which readers elsewhere cannot reach",
			"est à $1, que l’on ne peut pas joindre d’ailleurs",
		],
		[
			"is not https: a page that is cannot show what comes from it",
			"n’est pas en https : une page qui l’est ne peut pas montrer ce qui en vient",
		],
		[
			"names several layers of a FeatureServer, which no viewer draws: register each by itself",
			"nomme plusieurs couches d’un FeatureServer, ce qu’aucun visualiseur ne dessine : inscrivez-les une à une",
		],
		[
			"viewers read (.*) only, and ask for nothing else",
			"les visualiseurs ne lisent que $1, et ne demandent rien d’autre",
		],
		[
			"is that of /en, so the layer is the same in both languages",
			"est celle de /en : la couche est donc la même dans les deux langues",
		],
	] satisfies (readonly [string, string])[]
).map(([english, french]) => [new RegExp(`^${english}$`, "s"), french.replaceAll(" :", "\u00a0:")]);

/** A problem as the registry words it, `<pointer>: <rule>` or `the document <rule>`, in a language of the pages. */
export function placedProblem(problem: string, lang: Lang): PlacedProblem {
	const [, pointer = "", pointed] = /^(\/.*?): (.*)$/s.exec(problem) ?? [];
	const rule = pointed ?? problem.replace(/^the document:? /, "");
	const whole = pointed === undefined && rule !== problem;
	const [english, french] = rules.find(([one]) => one.test(rule)) ?? [];
	if (lang === "en") return { pointer, text: whole ? problem : rule, lang };
	if (!english || french === undefined) {
		// What a refusal of the endpoint says, too.
		const text = inFrench(rule);
		return text === rule ? { pointer, text: whole ? problem : rule, lang: "en" } : { pointer, text, lang };
	}
	const text = rule.replace(english, french);
	return { pointer, text: whole ? `le document ${text}` : text, lang: "fr" };
}
