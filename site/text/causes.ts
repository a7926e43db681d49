import { textsByLang } from "../../registry/texts/pairs.ts";

/**
 * A text continues a sentence about a layer's service. `layers/health.json` stores codes, so that each reader
 * gets their language.
 */
export const causes = /* @__PURE__ */ textsByLang({
	// The way to the service.
	"name-unknown": ["its host is not found", "son hôte est introuvable"],
	refused: ["refuses the connection", "refuse la connexion"],
	unreachable: ["cannot be reached", "ne peut pas être joint"],
	certificate: [
		"has a certificate that is expired, of another name or not of a known authority",
		"a un certificat expiré, d’un autre nom ou d’une autorité inconnue",
	],
	moved: ["redirects permanently to another address", "redirige en permanence vers une autre adresse"],
	redirects: [
		"has an unusable address, or redirects too often",
		"a une adresse inutilisable, ou redirige trop souvent",
	],
	slow: ["did not answer completely within {0} s", "n’a pas répondu entièrement en {0} s"],
	large: ["answers with more than {0} bytes", "répond par plus de {0} octets"],
	"not-public": [
		"{0} is not an address of the public internet",
		"{0} n’est pas une adresse de l’Internet public",
	],
	"host-failed": [
		"was not checked, since its host failed for another address: {0}",
		"n’a pas été vérifié, car son hôte a fait défaut pour une autre adresse : {0}",
	],
	unfinished: ["could not be checked completely", "n’a pas pu être vérifié entièrement"],
	// The answer.
	status: ["answers with status {0}", "répond par le statut {0}"],
	"arcgis-error": ["answers with ArcGIS error {0}: {1}", "répond par l’erreur ArcGIS {0} : {1}"],
	exception: ["answers with an exception: {0}", "répond par une exception : {0}"],
	unlike: ["does not answer as {0} does", "ne répond pas comme un service {0}"],
	cut: ["answers with incomplete capabilities", "répond par des capacités incomplètes"],
	unread: ["sent a document that cannot be read: {0}", "a envoyé un document qui ne peut pas être lu : {0}"],
	// What is registered.
	"no-layer": ["has no layer {0} among its {1}", "n’a pas de couche {0} parmi ses {1}"],
	"no-layers": ["has no layers", "n’a pas de couches"],
	"many-layers": [
		"has more than {0} layers: name the ones to show",
		"a plus de {0} couches : nommez celles à afficher",
	],
	"no-field": ["has no field {0}", "n’a pas de champ {0}"],
	"large-layer": [
		"has more than {0} fields, {0} classes or {1} KiB of both, too many to be served",
		"a plus de {0} champs, de {0} classes ou de {1} Kio des deux, trop pour être offerts",
	],
	"other-kind": ["is of another kind: {0}", "est d’une autre sorte : {0}"],
	"whole-service": [
		"is a whole service: the address must end with the number of one layer",
		"est un service entier : l’adresse doit se terminer par le numéro d’une couche",
	],
	table: [
		"has a table or a group as {0}, which is not drawn",
		"a une table ou un groupe comme {0}, qui n’est pas dessiné",
	],
	"other-layer": [
		"answers for another layer, {0}: {1} is at {2} now",
		"répond pour une autre couche, {0} : {1} est maintenant à {2}",
	],
	"no-format": ["does not offer {0}, only: {1}", "n’offre pas {0}, seulement : {1}"],
	"no-query": ["cannot be queried for {0}", "ne peut pas être interrogé sur {0}"],
	// What is seen.
	"no-features": ["has no features", "n’a pas d’entités"],
	"no-queries": [
		"cannot be queried for its features, only for: {0}",
		"ne peut pas être interrogé pour ses entités, seulement pour : {0}",
	],
	"unseen-feature": [
		"could not be checked for features, since it {0}",
		"n’a pas pu être vérifié pour ses entités, puisqu’il {0}",
	],
	"empty-picture": ["draws an empty picture of {0}", "dessine une image vide de {0}"],
	"not-seen": [
		"draws no picture of {0} for this request, so that the layer could not be checked",
		"ne dessine pas d’image de {0} pour cette requête; la couche n’a donc pas pu être vérifiée",
	],
	"not-listed": [
		"draws {0}, which is not among its {1} listed layers",
		"dessine {0}, qui n’est pas parmi les {1} couches de sa liste",
	],
	"listed-as": ["lists {0} as {1}", "présente {0} dans sa liste sous le nom {1}"],
	"name-unreadable": [
		"has characters that cannot be read in the name of the layer: {0}",
		"a des caractères illisibles dans le nom de la couche : {0}",
	],
	needs: ["draws nothing without {0}", "ne dessine rien sans {0}"],
	"map-address": [
		"names {0} for its pictures, which sends none: {1}",
		"donne {0} comme adresse de ses images, qui n’en fournit pas : {1}",
	],
	"no-picture": ["answers with no picture", "ne répond pas par une image"],
	"no-picture-but": ["answers with no picture: {0}", "ne répond pas par une image : {0}"],
	nothing: ["draws nothing on the map", "ne dessine rien sur la carte"],
	"other-scales": ["is drawn at other scales only", "se dessine seulement à d’autres échelles"],
	reference: [
		"does not draw in the spatial reference system of the map: {0}",
		"ne dessine pas dans le système de référence spatiale de la carte : {0}",
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
		"could not be drawn completely by the browser: {0}",
		"n’a pas pu être dessiné entièrement par le navigateur : {0}",
	],
});
