import type { englishMaps } from "./english-maps.ts";

export const frenchMaps: Readonly<Record<keyof typeof englishMaps, string>> = {
	"map-of":
		"Carte de {0}. Les flèches la déplacent, plus et moins changent l’échelle, Entrée affiche ce qui se trouve au centre.",
	"map-of-canada": "Carte du Canada. Les flèches la déplacent, plus et moins changent l’échelle.",
	drawing: "Dessin en cours…",
	drawn: "Dessinée.",
	"features-drawn-one": "{0} entité dessinée.",
	"features-drawn": "{0} entités dessinées.",
	"some-features-drawn": "Seules {0} entités sont dessinées : agrandissez pour voir les autres.",
	"nothing-in-view": "Il n’y a rien dans cette vue.",
	"other-scales": "La couche n’est dessinée qu’à d’autres échelles : agrandissez ou réduisez.",
	"not-drawable": "Ce genre de couche ne peut pas être dessiné ici.",
	"drawn-by-service": "Dessinée par le service lui-même : ses symboles n’ont pas encore été lus.",
	reprojected:
		"Le service ne dessine pas dans la référence de la carte (EPSG:{0}) : son image a été reprojetée ici. Les visualiseurs qui ne le font pas ne montrent rien.",
	"zoom-in": "Agrandir",
	"zoom-out": "Réduire",
	"whole-layer": "Voir toute la couche",
	"zoom-to-drawn": "Aller à l’échelle où elle est dessinée",
	opacity: "Opacité",
	percent: "{0}\u00a0%",
	"draw-again": "Essayer de la dessiner de nouveau",
	legend: "Légende",
	others: "Autres",
	"what-is-here": "À cet endroit",
	"nothing-here": "Il n’y a rien à cet endroit.",
	"no-info-type":
		"L’inscription ne précise aucun type d’information : les visualiseurs n’interrogent pas cette couche.",
	"service-answer": "La réponse du service",
	"first-of": "Les {0} premières sur {1}.",
	close: "Fermer",
	"service-slow": "{0} n’a pas répondu en 10 secondes.",
	"service-unreachable":
		"{0} n’a pas pu être joint depuis cette page : il est en panne, ou ne permet pas aux pages d’autres sites de lire ses réponses.",
	"service-not-secure":
		"{0} est inscrit avec une adresse http. Une page reçue par https ne peut pas l’interroger : cela ne dit pas si le service fonctionne.",
	"service-status": "{0} a répondu avec le statut {1}.",
	"service-exception": "{0} répond : {1}",
	"service-no-map": "{0} a donné une réponse qui n’est pas une carte.",
	"service-protocol": "{0} n’est pas une adresse que l’on peut interroger.",
	"service-answers": "{0} répond.",
};
