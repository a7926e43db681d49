/** What a user types, and the layer that is meant. Written before the search was run for the first time. */
export const queries: [text: string, smallkey: string][] = [
	// Exact titles, in either language.
	["Population centres", "statcan-pop-centres"],
	["Lobster fishing areas", "dfo-lobster-fishing-areas"],
	["Érablières", "qc-erablieres"],
	["National historic sites", "pca-national-historic-sites"],
	["Trajectoires des tornades", "ec-tornado-tracks"],
	// Beginnings of words.
	["lobst", "dfo-lobster-fishing-areas"],
	["torna", "ec-tornado-tracks"],
	["pollut rel", "npri-inrp"],
	["shaded rel", "nrcan_cdem_hillshade"],
	// Several words in any order.
	["areas fishing lobster", "dfo-lobster-fishing-areas"],
	["2021 cartographic census boundaries", "statcan-cd-2021"],
	["habitat beluga lawrence", "dfo-beluga-st-lawrence"],
	["zones grizzly", "ab-grizzly-bear-zones"],
	// Without accents.
	["erablieres", "qc-erablieres"],
	["emissions de gaz a effet de serre", "eccc-ghg-facilities"],
	["reserves de ciel etoile", "pca-dark-sky"],
	["velos libre-service", "toBikeShareStations"],
	// The singular for a plural, and the other way round.
	["hiking trail banff", "pca-banff-trails"],
	["old growths deferral", "bcgw-old-growth"],
	["avalanche path", "bcgw-avalanche-paths"],
	["sugar bush", "qc-erablieres"],
	["lieu historique national", "pca-national-historic-sites"],
	// Typing errors.
	["grizly bear", "ab-grizzly-bear-zones"],
	["avalanch paths highwys", "bcgw-avalanche-paths"],
	["neigbourhoods 158", "toNeighbourhoods158"],
	["greenhose gas emissions", "eccc-ghg-facilities"],
	["trans montain pipeline", "cer-trans-mountain"],
	// French words on the English page.
	["homard", "dfo-lobster-fishing-areas"],
	["sables bitumineux", "ab-oilsands-leases"],
	["quartiers", "toNeighbourhoods158"],
	["premières nations", "first-nations-reserves"],
	["feux points chauds", "cwfis-hotspots"],
	// Keys and parts of them.
	["23ax5t", "23ax5t"],
	["canvec_hydro", "nrcan_canvec_hydro"],
	["cwfis", "cwfis-hotspots"],
	["BikeShare", "toBikeShareStations"],
	["aci-2023", "aafc-aci-2023"],
	// Sender and word.
	["parks canada dark sky", "pca-dark-sky"],
	["energy regulator incidents", "cer-incidents"],
	["données québec centrales hydroélectriques", "qc-reseau-hydro"],
	// A host, with a word.
	["gis.toronto.ca ravine", "toRavines"],
	["geo.statcan.gc.ca population centres", "statcan-pop-centres"],
	// The service's address, a fragment's, the page's.
	["https://gisp.dfo-mpo.gc.ca/beluga-whale-habitat-st-lawrence-estuary/wms", "dfo-beluga-st-lawrence"],
	[
		"https://maps-cartes.services.geo.ca/canvec-hydrographic-features/wms?SERVICE=WMS&REQUEST=GetCapabilities",
		"nrcan_canvec_hydro",
	],
	["https://rcs.example.ca/v0.9/doc/en/npri-inrp", "npri-inrp"],
	["https://rcs.example.ca/fr/?layer=toRavines", "toRavines"],
	// As one would say it.
	["where are the oil sands leases in Alberta", "ab-oilsands-leases"],
	["map of the 2013 flood in southern Alberta", "nrcan_flood_2013_calgary"],
	["seismic hazard for the building code", "seismic-hazard-2020"],
	["carte des zones d’inondation 2017 et 2019 au Québec", "qc-zis-2019"],
];
