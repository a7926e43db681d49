import type { Entry } from "../../../site/data/entries.ts";
import { rowsOf } from "./catalogue.ts";

export const heldOutLayers = rowsOf(`
	q7x31b | Pipelines | Pipelines | Canada Energy Regulator | Régie de l’énergie du Canada
	canada | Land outline | Contour des terres | Statistics Canada | Statistique Canada
	maps | Index of sheets | Index des feuillets | Statistics Canada | Statistique Canada
	flood | Gauges of the Red River | Échelles de la rivière Rouge | Manitoba | Manitoba
	lk-009 | Lighthouses | Phares | Fisheries and Oceans Canada | Pêches et Océans Canada
	hv0001 | Harvest areas of kelp | Zones de récolte du varech | Parks Canada | Parcs Canada
	np-bounds | National parks | Parcs nationaux | Parks Canada | Parcs Canada
	cpcad | Protected and conserved areas | Aires protégées et de conservation | Parks Canada | Parcs Canada
	pa-only | Protected areas | Aires protégées | Parks Canada | Parcs Canada
	rlwy | Railway crossings | Passages à niveau | Transport Canada | Transports Canada
	cisfire | Feux actifs | Feux actifs | SOPFEU | SOPFEU
	dairy9 | Dairy farms | Fermes laitières | Agriculture and Agri-Food Canada | Agriculture et Agroalimentaire Canada
	bridge-7 | Covered bridges | Ponts couverts | New Brunswick | Nouveau-Brunswick
	lakes | Lakes | Lacs | Natural Resources Canada | Ressources naturelles Canada
	wells-z | Water wells | Puits d’eau | Alberta | Alberta
`).map(
	([smallkey = "", en = "", fr = "", senderEn = "", senderFr = ""]): Entry => ({
		smallkey,
		type: "wms",
		title: { en, fr },
		description: {
			en: `${en}, kept by ${senderEn}, in Canada.`,
			fr: `${fr}, tenus par ${senderFr}, au Canada.`,
		},
		address: { en: `https://maps.example.gc.ca/${smallkey}/wms` },
		sender: { en: senderEn, fr: senderFr },
	}),
);

export const heldOutQueries: [text: string, first: string | RegExp][] = [
	// Smallkeys that are words of many layers, or stop words.
	["canada", "canada"],
	["maps", "maps"],
	["FLOOD", "flood"],
	["q7x31b", "q7x31b"],
	// A whole title in the other number, also with a typing error.
	["pipeline", "q7x31b"],
	["pipelin", "q7x31b"],
	["piplines", "q7x31b"],
	["lighthouse", "lk-009"],
	["phare", "lk-009"],
	["lac", "lakes"],
	["national park", "np-bounds"],
	["parc national", "np-bounds"],
	["natoinal park", "np-bounds"],
	["covered bridge", "bridge-7"],
	["water well", "wells-z"],
	["aire protégée", "pa-only"],
	["aires protégées", "pa-only"],
	// One word is in every layer, or in most.
	["railroad canada", /railway/i],
	["kelp canada", "hv0001"],
	["canada lighthouses", "lk-009"],
	["dairy layer canada", "dairy9"],
	// Beginnings of two words.
	["nat par", "np-bounds"],
	["cov bri", "bridge-7"],
	["aer phot", /Aerial photographs/],
	["pop dens", /Population density/],
	// Provinces, territories and departments by their abbreviations.
	["bc", /British Columbia/],
	["QC", /Quebec|Québec/],
	["NWT permafrost", /Permafrost.*Northwest Territories|Northwest Territories.*Permafrost/],
	["tno pergélisol", /Permafrost.*Northwest Territories|Northwest Territories.*Permafrost/],
	["ipe", /Prince Edward Island/],
	["airports pei", /(?=.*Airports)(?=.*Prince Edward Island)/],
	["rncan", /Natural Resources Canada/],
	["eccc radar", /Weather radar.*Environment and Climate/],
	["mpo", /Fisheries and Oceans/],
	["aac", /Agriculture and Agri-Food/],
	// The same thing by another word, in either language.
	["incendies", /wildfires|feux/i],
	["wildfire québec", /(?=.*(?:wildfires|feux))(?=.*Quebec)/i],
	["crue", /flood|inondation/i],
	["railroad", /railway/i],
	["ferroviaire", /railway/i],
	["topography", /elevation/i],
	["séisme", /earthquake|seismic/i],
	["hydro lines", /transmission lines/i],
	["public transport", /transit/i],
	["tremblement de terre alberta", /(?=.*Earthquake)(?=.*Alberta)/],
	["arbres ontario", /(?=.*Forest cover)(?=.*Ontario)/],
	// Missed: `bike` is rare and in a short title of the same city. The network is second.
	["bike paths toronto", /(?=.*Cycling)(?=.*Toronto)/],
	["tours de refroidissement canada", /^$/],
	["hunting canada", /^$/],
	["marsh", /wetlands/i],
	["cities yukon", /(?=.*Municipal)(?=.*Yukon)/],
	["occupation du sol", /Land cover/],
	["roads on", /(?=.*Road)(?=.*Ontario)/],
	["ecole nb", /(?=.*School)(?=.*New Brunswick)/],
	["lighthose", "lk-009"],
	["wels water", "wells-z"],
	// Without accents, with a typing error, in the other language.
	["erablieres", "qc-erablieres"],
	["velos libre-service", "toBikeShareStations"],
	["grizly bear", "ab-grizzly-bear-zones"],
	["homard", "dfo-lobster-fishing-areas"],
	// Keys and parts of them, senders and hosts with a word.
	["23ax5t", "23ax5t"],
	["canvec_hydro", "nrcan_canvec_hydro"],
	["BikeShare", "toBikeShareStations"],
	["aci-2023", "aafc-aci-2023"],
	["parks canada dark sky", "pca-dark-sky"],
	["gis.toronto.ca ravine", "toRavines"],
	// The address of a service, a request, a fragment and the page.
	["https://gisp.dfo-mpo.gc.ca/beluga-whale-habitat-st-lawrence-estuary/wms", "dfo-beluga-st-lawrence"],
	[
		"https://maps-cartes.services.geo.ca/canvec-hydrographic-features/wms?SERVICE=WMS&REQUEST=GetCapabilities",
		"nrcan_canvec_hydro",
	],
	["https://rcs.example.ca/v0.9/doc/en/npri-inrp", "npri-inrp"],
	["https://rcs.example.ca/fr/?layer=toRavines", "toRavines"],
	["where are the oil sands leases in Alberta", "ab-oilsands-leases"],
];
