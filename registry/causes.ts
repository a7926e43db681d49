import type { Lang } from "./smallkey.ts";

/**
 * Code → why a layer cannot be shown, in English and French: the rest of a sentence about its service. `{}` stands for a
 * value. `layers/health.json` has codes and values, so that each reader gets the text of their language.
 */
export const causes = {
	// The way to the service.
	"name-unknown": ["its name does not resolve", "son nom d’hôte est introuvable"],
	"name-unknown-now": ["its name does not resolve now", "son nom d’hôte est introuvable pour l’instant"],
	refused: ["refuses the connection", "refuse la connexion"],
	"broken-off": ["breaks the connection off", "interrompt la connexion"],
	unreachable: ["cannot be reached", "ne peut pas être joint"],
	network: ["cannot be reached, or breaks off", "ne peut pas être joint, ou interrompt sa réponse"],
	"connect-slow": ["does not accept a connection in time", "n’accepte pas de connexion à temps"],
	"certificate-expired": ["has a certificate that has expired", "a un certificat expiré"],
	"certificate-unsigned": [
		"has a certificate that no known authority signed",
		"a un certificat qu’aucune autorité connue n’a signé",
	],
	"certificate-other": ["has a certificate of another name", "a un certificat d’un autre nom"],
	moved: ["redirects permanently to another address", "redirige en permanence vers une autre adresse"],
	"redirects-many": ["redirects more than {} times", "redirige plus de {} fois"],
	"redirects-long": [
		"redirects to an address of over {} characters",
		"redirige vers une adresse de plus de {} caractères",
	],
	"redirects-nowhere": ["redirects to what is no address", "redirige vers ce qui n’est pas une adresse"],
	slow: ["did not answer completely within {} s", "n’a pas répondu entièrement en {}\u00a0s"],
	large: ["answers with more than {} bytes", "répond par plus de {} octets"],
	protocol: ["{} is not asked, only http and https", "{} n’est pas interrogé, seulement http et https"],
	credentials: [
		"an address must not hold credentials",
		"une adresse ne doit contenir aucun nom ni mot de passe",
	],
	"not-public": [
		"{} is not an address of the public internet",
		"{} n’est pas une adresse de l’Internet public",
	],
	"asked-often": ["was asked often enough for one day", "a été assez interrogé pour un jour"],
	"host-failed": [
		"was not asked yet, since its host failed for another address: {}",
		"n’a pas encore été interrogé, car son hôte a fait défaut pour une autre adresse\u00a0: {}",
	],
	unfinished: ["was not asked to the end", "n’a pas été interrogé jusqu’au bout"],
	// The answer.
	status: ["answers with status {}", "répond par le statut {}"],
	"arcgis-error": ["answers with ArcGIS error {}: {}", "répond par l’erreur ArcGIS {}\u00a0: {}"],
	"arcgis-uncoded": [
		"answers with ArcGIS error without a code: {}",
		"répond par une erreur ArcGIS sans code\u00a0: {}",
	],
	"arcgis-query": [
		"answers with ArcGIS error {} when it is asked for a feature",
		"répond par l’erreur ArcGIS {} quand une entité lui est demandée",
	],
	exception: ["answers with an exception: {}", "répond par une exception\u00a0: {}"],
	"not-arcgis-layer": ["does not answer as an ArcGIS layer does", "ne répond pas comme une couche ArcGIS"],
	"not-arcgis-service": [
		"does not answer as an ArcGIS service does",
		"ne répond pas comme un service ArcGIS",
	],
	"not-ogc": ["does not answer as a {} does", "ne répond pas comme un {}"],
	cut: [
		"answers with capabilities that end in the middle",
		"répond par des capacités qui s’arrêtent au milieu",
	],
	"no-list": ["has no list of layers", "n’a pas de liste de couches"],
	memory: ["sent what takes more than {} MB to be read", "a envoyé ce qui se lit avec plus de {}\u00a0Mo"],
	"read-slow": ["sent what takes more than {} s to be read", "a envoyé ce qui se lit en plus de {}\u00a0s"],
	unread: ["sent what cannot be read: {}", "a envoyé ce qui ne peut pas être lu\u00a0: {}"],
	"thread-ended": ["sent what ends the thread that reads it", "a envoyé ce qui met fin au fil qui le lit"],
	// What is registered.
	"no-layer": ["has no layer {} among its {}", "n’a pas de couche {} parmi ses {}"],
	"no-layers": ["has no layers", "n’a pas de couches"],
	"fewer-layers": ["does not have {} more of its layers", "n’a pas {} autres de ses couches"],
	"many-layers": [
		"has more than {} layers: name those that are wanted",
		"a plus de {} couches\u00a0: nommez celles qui sont voulues",
	],
	"no-field": ["has no field {}", "n’a pas de champ {}"],
	"many-fields": [
		"names more than {} fields, too many to be served",
		"nomme plus de {} champs, trop pour être offerts",
	],
	"many-classes": [
		"names more than {} classes, too many to be served",
		"nomme plus de {} classes, trop pour être offertes",
	],
	"large-symbols": [
		"names symbols and fields of more than {} KiB, too many to be served",
		"nomme des symboles et des champs de plus de {}\u00a0Kio, trop pour être offerts",
	],
	group: [
		"is a group layer: register one of the layers in it",
		"est un groupe de couches\u00a0: inscrivez une des couches qui s’y trouvent",
	],
	"other-type": ["is no feature layer, but: {}", "n’est pas une couche d’entités, mais\u00a0: {}"],
	"whole-service": [
		"is a whole service: the address must end with the number of one layer",
		"est un service entier\u00a0: l’adresse doit se terminer par le numéro d’une couche",
	],
	"no-service": [
		"is no whole service: the address must end with MapServer or FeatureServer",
		"n’est pas un service entier\u00a0: l’adresse doit se terminer par MapServer ou FeatureServer",
	],
	"other-layer": [
		"answers for another layer, {}: {} is at {} now",
		"répond pour une autre couche, {}\u00a0: {} est maintenant à {}",
	],
	"no-query": ["cannot be queried for {}", "ne peut pas être interrogé sur {}"],
	"no-query-format": [
		"does not offer {} for queries, only: {}",
		"n’offre pas {} pour les interrogations, seulement\u00a0: {}",
	],
	"no-legend-format": [
		"does not offer {} for legends, only: {}",
		"n’offre pas {} pour les légendes, seulement\u00a0: {}",
	],
	// What is seen.
	"no-features": ["has no features", "n’a pas d’entités"],
	"empty-picture": ["draws an empty picture of {}", "dessine une image vide de {}"],
	"no-picture": ["answers with no picture", "ne répond pas par une image"],
	"no-picture-but": ["answers with no picture: {}", "ne répond pas par une image\u00a0: {}"],
	"no-map": ["answers with something that is no map", "répond par autre chose qu’une carte"],
	nothing: ["draws nothing on the map", "ne dessine rien sur la carte"],
	"other-scales": ["is drawn at other scales only", "se dessine seulement à d’autres échelles"],
	reference: [
		"does not draw in the spatial reference system of the map: {}",
		"ne dessine pas dans le système de référence spatiale de la carte\u00a0: {}",
	],
	cors: [
		"does not let pages of other sites read its answers (CORS)",
		"ne laisse pas les pages d’autres sites lire ses réponses (CORS)",
	],
	"not-secure": [
		"has an http address, which browsers block in https pages",
		"a une adresse http, que les navigateurs bloquent dans les pages https",
	],
	"not-drawable": ["is of a kind that the page does not draw", "est d’un genre que la page ne dessine pas"],
	"browser-ended": [
		"was not drawn to the end by the browser: {}",
		"n’a pas été dessiné jusqu’au bout par le navigateur\u00a0: {}",
	],
} as const satisfies Readonly<Record<string, readonly [en: string, fr: string]>>;

export type CauseCode = keyof typeof causes;

/** Why a layer cannot be shown. The values are in the order of the `{}` in the text. */
export interface Cause {
	code: CauseCode;
	values: readonly (string | number | Cause)[];
}

export function causeOf(code: CauseCode, ...values: Cause["values"]): Cause {
	return { code, values };
}

/** A cause in one language: `answers with status 503`. */
export function causeText(lang: Lang, { code, values }: Cause): string {
	const [en, fr] = causes[code];
	let index = 0;
	return (lang === "en" ? en : fr).replace(/\{\}/g, () => {
		const value = values[index++] ?? "";
		return typeof value === "object" ? causeText(lang, value) : String(value);
	});
}
