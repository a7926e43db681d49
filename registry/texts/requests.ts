import { mustBe, type TextPair } from "./pairs.ts";

export const requestTexts = {
	// Requests.
	method: mustBe,
	"body-empty": ["the body must be empty", "le corps doit être vide"],
	"not-registered": ["{0} is not registered", "{0} n’est pas inscrite"],
	"waits-of-other": [
		"a change of the sender {0} waits for a reviewer: send yours after the decision",
		"une modification de l’expéditeur {0} attend un réviseur : envoyez la vôtre après la décision",
	],
	"not-feature": ["{0} is not a feature layer", "{0} n’est pas une couche d’entités"],
	"stored-invalid": [
		"{0} is stored in an invalid form: register the layer again",
		"{0} est conservée sous une forme non valide : inscrivez la couche de nouveau",
	],
	header: ["the header is missing", "l’en-tête est absent"],
	"review-name": [
		"must be 1 to 64 of A-Z a-z 0-9 . _ -, as in the name of a git branch, not {0}",
		"doit avoir de 1 à 64 caractères A-Z a-z 0-9 . _ -, comme dans le nom d’une branche de git, et non {0}",
	],
	encoding: [
		"must be left out, not {0}: the body is sent as it was signed, not compressed",
		"doit être omis, et non {0} : le corps est envoyé tel qu’il a été signé, sans compression",
	],
	condition: ["is {0}, and the ETag of {1} is {2}", "est {0}, et l’ETag de {1} est {2}"],
	signature: [
		"is not the signature of this path, sender, timestamp and body",
		"n’est pas la signature de ce chemin, de cet expéditeur, de cet horodatage et de ce corps",
	],
	"signature-shape": [
		"must be the signature alone: 43 of A-Z a-z 0-9 - _ (URL-safe base64 without padding)",
		"doit être la signature seule : 43 caractères A-Z a-z 0-9 - _ (base64 pour URL, sans remplissage)",
	],
	"signature-used": [
		"this signature was used before, and the answer would differ now: sign with a new TimeStamp",
		"cette signature a déjà servi, et la réponse serait autre maintenant : signez avec un nouveau TimeStamp",
	],
	clock: [
		"this server's clock was wrong, and it may have received this request before: sign it again",
		"l’horloge de ce serveur était fausse, et il a peut-être déjà reçu cette requête : signez-la de nouveau",
	],
	"signature-word": [
		"must be the signature alone, without the word {0} before it",
		"doit être la signature seule, sans le mot {0} devant",
	],
	"header-twice": [
		"was sent twice, as {0}: send it once",
		"a été envoyé deux fois, comme {0} : envoyez-le une seule fois",
	],
	timestamp: [
		"must be an ISO 8601 time within two minutes of this server's, which is {0}, not {1}",
		"doit être une heure ISO 8601 à moins de deux minutes de celle de ce serveur, qui est {0}, et non {1}",
	],
	hint: [
		"check the sender's id and secret, without a line break at its end; the body, signed as it is sent (curl -d drops line breaks, --data-binary does not); the whole path, such as {0}; npx fragment-publisher sign --explain shows what is signed",
		"vérifiez l’identifiant et le secret de l’expéditeur, sans saut de ligne à la fin; le corps, signé tel qu’il est envoyé (curl -d enlève les sauts de ligne, --data-binary non); le chemin entier, comme {0}; npx fragment-publisher sign --explain montre ce qui est signé",
	],
	"path-refresh": [
		"must end with all or a number of days; at v2 a number of layers may follow",
		"doit se terminer par all ou par un nombre de jours, suivi en v2 d’un nombre de couches",
	],
	path: ["must be {0}/register/<smallkey>, not {1}", "doit être {0}/register/<smallkey>, et non {1}"],
	"no-harvest": [
		"this service does not harvest: its operator, or the weekly workflow, does",
		"ce service ne moissonne pas : son exploitant ou le flux de travail hebdomadaire s’en charge",
	],
	limit: ["too many requests: try again after {0} seconds", "trop de requêtes : réessayez dans {0} secondes"],
	failed: [
		"the service failed, and the change may not be stored: send the same again",
		"le service a échoué, et la modification n’est peut-être pas conservée : renvoyez la même requête",
	],
	"no-file": ["there is no such file", "il n’y a pas de tel fichier"],
	"status-elsewhere": [
		"is in the catalogue, since the layers are not on this machine",
		"il est dans le catalogue, car les couches ne sont pas sur cette machine",
	],
	"harvest-failed": [
		"this catalogue could not read or store it now; it tries again by itself",
		"ce catalogue n’a pas pu le lire ou l’enregistrer; il réessaiera de lui-même",
	],
	"no-form": [
		"no target can show this layer, or not before its harvest",
		"aucune cible ne peut présenter cette couche, ou pas avant son moissonnage",
	],
	"files-behind": [
		"the files of the web server in front do not have this registration yet",
		"les fichiers du serveur Web placé devant le service n’ont pas encore cette inscription",
	],
	"no-layer": "is stored, but is not a layer: layers are in layers/",
	// Searches of the catalogue's records.
	parameter: ["has no parameter {0}", "n’a pas de paramètre {0}"],
	phrases: [
		"must have at most {0} phrases, and {1} characters",
		"doit avoir au plus {0} expressions, et {1} caractères",
	],
	"a-box": ["four or six numbers, south before north", "quatre ou six nombres, le sud avant le nord"],
	"a-time": ["a time or an interval", "un moment ou un intervalle"],
	// Why layers cannot be changed now.
	busy: [
		"the service is busy: try again in a few seconds",
		"le service est occupé : réessayez dans quelques secondes",
	],
	"read-only": [
		"this service cannot do that now: tell its operator, whose log says why",
		"ce service ne peut pas le faire en ce moment : avisez son exploitant, dont le journal dit pourquoi",
	],
	"disk-full": [
		"the disk of this service is full: tell its operator",
		"le disque de ce service est plein : avisez son exploitant",
	],
	github: [
		"GitHub does not answer this service: send the same again in a minute",
		"GitHub ne répond pas à ce service : renvoyez la même requête dans une minute",
	],
	"branch-moved": [
		"others changed the layers at the same moment: send the same again",
		"d’autres ont modifié les couches au même moment : renvoyez la même requête",
	],
} satisfies Readonly<Record<string, TextPair | string>>;
