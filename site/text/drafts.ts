import { textsByLang } from "../../registry/texts/pairs.ts";

/** Texts of the draft page: English, French. */
export const draftTexts = textsByLang({
	"draft-stays": [
		"A draft stays in this page and in its address: nothing is sent anywhere until you send it.",
		"Une ébauche reste dans cette page et dans son adresse : rien n’est transmis tant que vous ne l’envoyez pas.",
	],
	"registration-json": ["The registration (JSON)", "L’inscription (JSON)"],
	"key-taken": [
		"This smallkey is registered: sending the draft changes that layer.",
		"Cette clé est inscrite : envoyer l’ébauche modifie cette couche.",
	],
	"key-free": ["This smallkey is not registered yet.", "Cette clé n’est pas encore inscrite."],
	"in-en": ["{0} (English)", "{0} (anglais)"],
	"in-fr": ["{0} (French)", "{0} (français)"],
	"title-hint": [
		"What viewers show; without it, the layer's name in a WMS, or the ArcGIS service's own",
		"Le titre qu’affichent les visualiseurs; sinon, le nom de la couche WMS ou celui du service ArcGIS",
	],
	"choose-of": ["Choose one of {0}", "Choisissez parmi {0}"],
	"registration-good": ["The registration is in order.", "L’inscription est valide."],
	"to-correct-one": ["One thing to correct:", "Un problème à corriger :"],
	"to-correct": ["{0} things to correct:", "{0} problèmes à corriger :"],
	"draft-unread": [
		"The draft in the address could not be read: it is cut off, or is not a draft.",
		"L’ébauche dans l’adresse n’a pas pu être lue : l’adresse est tronquée, ou ne contient pas d’ébauche.",
	],
	"viewers-would-read": ["What viewers would read", "Ce que liraient les visualiseurs"],
	"no-form-here": ["This target cannot express the layer.", "Cette cible ne peut pas exprimer la couche."],
	register: ["Register it", "L’inscrire"],
	"secret-hint": [
		"The secret stays in this page: only the signature is sent, and nothing is kept.",
		"Le secret reste dans cette page : seule la signature est envoyée, et rien n’est conservé.",
	],
	"sender-id": ["Sender id", "Identifiant de l’expéditeur"],
	secret: ["Secret", "Secret"],
	"sign-and-send": ["Sign and send", "Signer et envoyer"],
	accepted: ["Accepted ({0}).", "Acceptée ({0})."],
	"needs-review": [
		"A reviewer must approve it before it is served.",
		"Un réviseur doit l’approuver avant qu’elle soit offerte aux visualiseurs.",
	],
	refused: ["Refused ({0}):", "Refusée ({0}) :"],
	"open-layer": ["Open the layer", "Ouvrir la couche"],
	"save-file": [
		"Save the file, for a pull request or the operator of this service",
		"Enregistrer le fichier, pour une demande de tirage ou l’exploitant de ce service",
	],
	"open-github": [
		"Propose it as a pull request on GitHub",
		"La proposer par une demande de tirage sur GitHub",
	],
	"worth-knowing": ["Worth knowing:", "Bon à savoir :"],
	"source-address": ["The address of a service or a layer", "L’adresse d’un service ou d’une couche"],
	"read-source": ["Read it", "Lire"],
	"source-hint": [
		"ArcGIS or WMS; or the text of a registration (JSON).",
		"ArcGIS ou WMS; ou le texte d’une inscription (JSON).",
	],
	"no-address": ["This is not an http or https address.", "Ce n’est pas une adresse http ou https."],
	incomplete: [
		"To be sent, it needs a registration that is in order, and a valid smallkey.",
		"Pour être envoyée, l’inscription doit être en ordre, et la clé valide.",
	],
	"twin-search": [
		"Looking for the layer in the other language…",
		"Recherche de la couche dans l’autre langue…",
	],
	"twin-found": [
		"The layer in the other language is {0} ({1}): check it, and correct it below.",
		"La couche dans l’autre langue est {0} ({1}) : vérifiez-la, et corrigez-la plus bas.",
	],
	"no-twin": [
		"No service in the other language was found: this one is used for both.",
		"Aucun service dans l’autre langue n’a été trouvé : celui-ci sert aux deux.",
	],
	west: ["W", "O"],
	titles: ["Titles", "Titres"],
	"addresses-and-layers": ["Addresses and layers", "Adresses et couches"],
	"whole-registration": ["The whole registration", "Toute l’inscription"],
	"without-secret": ["Without a secret", "Sans secret"],
});
