/** English text → French text, of maps and drafts. */
export const frenchOfMaps = {
	Map: "Carte",
	"Map of {0}. Arrow keys move it, plus and minus zoom, Enter asks what is in its middle.":
		"Carte de {0}. Les flèches la déplacent, plus et moins changent l’échelle, Entrée affiche ce qui se trouve au centre.",
	"Map of Canada. Arrow keys move it, plus and minus zoom.":
		"Carte du Canada. Les flèches la déplacent, plus et moins changent l’échelle.",
	"Drawing…": "Dessin en cours…",
	"Drawn.": "Dessinée.",
	"{0} feature drawn.": "{0} entité dessinée.",
	"{0} features drawn.": "{0} entités dessinées.",
	"Only {0} features are drawn: zoom in for the others.":
		"Seules {0} entités sont dessinées : agrandissez pour voir les autres.",
	"There is nothing in this view.": "Il n’y a rien dans cette vue.",
	"What viewers read of this layer could not be read, so there is nothing to draw.":
		"Les fragments de cette couche n’ont pas pu être lus : il n’y a rien à dessiner.",
	"The layer is drawn at other scales only: zoom in or out.":
		"La couche n’est dessinée qu’à d’autres échelles : agrandissez ou réduisez.",
	"The map could not be loaded. Everything else on this page works.":
		"La carte n’a pas pu être chargée. Tout le reste de cette page fonctionne.",
	"This kind of layer cannot be drawn here.": "Ce genre de couche ne peut pas être dessiné ici.",
	"Drawn by the service itself: its symbols were not read yet.":
		"Dessinée par le service lui-même : ses symboles n’ont pas encore été lus.",
	"The service does not draw in the map’s reference (EPSG:{0}): its picture was reprojected here. Viewers that do not reproject pictures show nothing.":
		"Le service ne dessine pas dans la référence de la carte (EPSG:{0}) : son image a été reprojetée ici. Les visualiseurs qui ne le font pas ne montrent rien.",
	"Zoom in": "Agrandir",
	"Zoom out": "Réduire",
	"To the whole layer": "Voir toute la couche",
	"Zoom to where it is drawn": "Aller à l’échelle où elle est dessinée",
	Opacity: "Opacité",
	"{0} %": "{0} %",
	"Try to draw it again": "Essayer de la dessiner de nouveau",
	"Service of": "Service en",
	Legend: "Légende",
	Others: "Autres",
	"What is here": "À cet endroit",
	"There is nothing here.": "Il n’y a rien à cet endroit.",
	"The registration names no type of information: viewers ask nothing of this layer.":
		"L’inscription ne précise aucun type d’information : les visualiseurs n’interrogent pas cette couche.",
	"Asking the service…": "Interrogation du service…",
	"The service’s answer": "La réponse du service",
	"The first {0} of {1}.": "Les {0} premières sur {1}.",
	Close: "Fermer",
	"{0} did not answer within 10 seconds.": "{0} n’a pas répondu en 10 secondes.",
	"{0} could not be reached from this page: it is down, or does not let pages of other sites read its answers.":
		"{0} n’a pas pu être joint depuis cette page : il est en panne, ou ne permet pas aux pages d’autres sites de lire ses réponses.",
	"{0} is registered with an http address. A page that came over https cannot ask it: this says nothing about whether the service works.":
		"{0} est inscrit avec une adresse http. Une page reçue par https ne peut pas l’interroger : cela ne dit pas si le service fonctionne.",
	"{0} answered with status {1}.": "{0} a répondu avec le statut {1}.",
	"{0} says: {1}": "{0} répond : {1}",
	"{0} answered with something that is no map.": "{0} a donné une réponse qui n’est pas une carte.",
	"{0} is no address that can be asked.": "{0} n’est pas une adresse que l’on peut interroger.",

	"A draft stays in this page and in its address: nothing is sent anywhere until you send it. Fill the form, or paste or drop a file.":
		"Une ébauche reste dans cette page et dans son adresse : rien n’est transmis tant que vous ne l’envoyez pas. Remplissez le formulaire, ou collez ou déposez un fichier.",
	"The registration (JSON)": "L’inscription (JSON)",
	Form: "Formulaire",
	"Drop a JSON file here, or": "Déposez un fichier JSON ici, ou",
	"choose one": "choisissez-en un",
	"1 to 64 of A-Z a-z 0-9 _ - + =": "1 à 64 caractères parmi A-Z a-z 0-9 _ - + =",
	"The smallkey must be {0}": "La clé doit avoir {0}",
	"This smallkey is registered: sending the draft changes that layer.":
		"Cette clé est inscrite : envoyer l’ébauche modifie cette couche.",
	"This smallkey is free.": "Cette clé est libre.",
	"Kind of service": "Type de service",
	"Address (English)": "Adresse (anglais)",
	"Address (French)": "Adresse (français)",
	"Layer in the service (English)": "Couche dans le service (anglais)",
	"Layer in the service (French)": "Couche dans le service (français)",
	"Title (English)": "Titre (anglais)",
	"Title (French)": "Titre (français)",
	"What viewers show; without it, what the service says":
		"Le titre qu’affichent les visualiseurs; sinon, celui du service",
	"The form shows the members of version 1.0.0 that most layers need; every other member stays as it is in the text.":
		"Le formulaire montre les membres de la version 1.0.0 dont la plupart des couches ont besoin; tout autre membre reste tel quel dans le texte.",
	"Load an example": "Charger un exemple",
	"List the layers of the service (English)": "Lister les couches du service (anglais)",
	"List the layers of the service (French)": "Lister les couches du service (français)",
	"Choose one of {0}": "Choisissez parmi {0}",
	"The registration is in order.": "L’inscription est valide.",
	"One thing to correct:": "Un problème à corriger :",
	"{0} things to correct:": "{0} problèmes à corriger :",
	"The draft in the address could not be read: it is cut off, or no draft.":
		"L’ébauche dans l’adresse n’a pas pu être lue : l’adresse est tronquée, ou ne contient pas d’ébauche.",
	"The file is larger than {0} bytes, which no registration may be.":
		"Le fichier dépasse {0} octets, la taille maximale d’une inscription.",
	"The file could not be read.": "Le fichier n’a pas pu être lu.",
	"What viewers would read": "Ce que liraient les visualiseurs",
	"This layer cannot be expressed here.": "Cette cible ne peut pas exprimer la couche.",
	"Symbols and fields are read from the service once the layer is registered.":
		"Les symboles et les champs sont lus auprès du service une fois la couche inscrite.",
	"Copy the draft’s address": "Copier l’adresse de l’ébauche",
	"Register it": "L’inscrire",
	"Signed curl command": "Commande curl signée",
	"The command signs on your machine: put the secret into the variable SECRET first. Its signature is valid for two minutes.":
		"La commande signe sur votre machine : mettez d’abord le secret dans la variable SECRET. La signature est valide deux minutes après le lancement.",
	"Send it signed": "L’envoyer signée",
	"The secret stays in this page: only the signature is sent, and nothing is kept.":
		"Le secret reste dans cette page : seule la signature est envoyée, et rien n’est conservé.",
	"Sender id": "Identifiant de l’expéditeur",
	Secret: "Secret",
	"Sign and send": "Signer et envoyer",
	"Sending…": "Envoi en cours…",
	"Accepted ({0}).": "Acceptée ({0}).",
	"A reviewer has to agree before it is served.":
		"Un réviseur doit l’approuver avant qu’elle soit offerte aux visualiseurs.",
	"Refused ({0}):": "Refusée ({0}) :",
	"The service did not answer.": "Le service n’a pas répondu.",
	"Open the layer": "Ouvrir la couche",
	"Propose it as a pull request": "La proposer par une demande de tirage",
	"Open GitHub with the file filled in": "Ouvrir GitHub avec le fichier rempli",
	"The registration is too long for an address: copy the text into a new file there.":
		"L’inscription est trop longue pour une adresse : copiez le texte dans un nouveau fichier sur GitHub.",
	"Worth knowing:": "Bon à savoir :",
};
