import type { Entry } from "../../../site/data/entries.ts";

export function rowsOf(table: string): string[][] {
	const lines = table.trim().split("\n");
	return lines.map((line) => line.trim().split(" | "));
}

type Sender = [en: string, fr: string, host: string, prefix: string];

const senders = rowsOf(`
	Statistics Canada | Statistique Canada | geo.statcan.gc.ca | statcan-
	Natural Resources Canada | Ressources naturelles Canada | maps-cartes.services.geo.ca | nrcan_
	Environment and Climate Change Canada | Environnement et Changement climatique Canada | maps-cartes.ec.gc.ca | ec
	Fisheries and Oceans Canada | Pêches et Océans Canada | gisp.dfo-mpo.gc.ca | dfo-
	Canada Energy Regulator | Régie de l’énergie du Canada | gis.cer-rec.gc.ca | cer-
	Government of Alberta | Gouvernement de l’Alberta | geospatial.alberta.ca | ab-
	Province of British Columbia | Province de la Colombie-Britannique | maps.gov.bc.ca | bcgw-
	Données Québec | Données Québec | servicescarto.mern.gouv.qc.ca | qc-
	City of Toronto | Ville de Toronto | gis.toronto.ca | to
	Parks Canada | Parcs Canada | opendata.parks-parcs.ca | pca-
`) as Sender[];

const themes = rowsOf(`
	Census divisions | Divisions de recensement
	Census tracts | Secteurs de recensement
	Dissemination areas | Aires de diffusion
	Population density | Densité de population
	Median household income | Revenu médian des ménages
	Flood hazard areas | Zones inondables
	Historical floods | Inondations historiques
	Floodplain mapping | Cartographie des plaines inondables
	Oil pipelines | Oléoducs
	Natural gas pipelines | Gazoducs
	Power transmission lines | Lignes de transport d’électricité
	Wind farms | Parcs éoliens
	Active wildfires | Feux de forêt actifs
	Burned areas | Superficies brûlées
	Forest cover | Couverture forestière
	Critical habitat of species at risk | Habitat essentiel des espèces en péril
	Migratory bird sanctuaries | Refuges d’oiseaux migrateurs
	Caribou ranges | Aires de répartition du caribou
	Salmon spawning grounds | Frayères à saumon
	Aquatic species at risk | Espèces aquatiques en péril
	Rivers and lakes | Cours d’eau et lacs
	Watersheds | Bassins versants
	Hydrometric stations | Stations hydrométriques
	Groundwater wells | Puits d’eau souterraine
	Water quality monitoring | Suivi de la qualité de l’eau
	Air quality health index | Cote air santé
	Weather radar | Radar météorologique
	Climate normals | Normales climatiques
	Permafrost | Pergélisol
	Sea ice concentration | Concentration de glace de mer
	Municipal boundaries | Limites municipales
	Electoral districts | Circonscriptions électorales
	School districts | Districts scolaires
	Hospitals and clinics | Hôpitaux et cliniques
	Road network | Réseau routier
	Railways | Chemins de fer
	Airports | Aéroports
	Cycling network | Réseau cyclable
	Public transit stops | Arrêts de transport en commun
	Land cover | Couverture du sol
	Soil survey | Inventaire des sols
	Crop inventory | Inventaire des cultures
	Mineral claims | Claims miniers
	Abandoned mines | Mines abandonnées
	Bedrock geology | Géologie du substratum rocheux
	Earthquake epicentres | Épicentres des séismes
	National parks | Parcs nationaux
	Protected areas | Aires protégées
	Indigenous communities | Communautés autochtones
	Treaty boundaries | Limites des traités
	Digital elevation model | Modèle numérique d’élévation
	Satellite imagery mosaic | Mosaïque d’images satellites
	Aerial photographs | Photographies aériennes
	Noise exposure | Exposition au bruit
	Heritage buildings | Bâtiments patrimoniaux
	Building footprints | Empreintes de bâtiments
	Marine charts | Cartes marines
	Shipping lanes | Voies de navigation
	Invasive species | Espèces envahissantes
	Wetlands | Milieux humides
`) as [en: string, fr: string][];

const places = `
	Canada, Alberta, British Columbia | Colombie-Britannique, Manitoba, New Brunswick | Nouveau-Brunswick,
	Newfoundland and Labrador | Terre-Neuve-et-Labrador,
	Northwest Territories | Territoires du Nord-Ouest, Nova Scotia | Nouvelle-Écosse, Nunavut, Ontario,
	Prince Edward Island | Île-du-Prince-Édouard, Quebec | Québec, Saskatchewan, Yukon, Toronto, Montréal,
	Vancouver, Calgary, Edmonton, Ottawa, Winnipeg, Québec City | Ville de Québec, Hamilton, Halifax,
	Saint John | Saint-Jean, Fredericton, Regina, Saskatoon, Whitehorse, Yellowknife, Iqaluit,
	Trois-Rivières`
	.split(",")
	.map((place) => place.trim().split(" | ")) as [en: string, fr?: string][];

const titles = rowsOf(`
	THEME, PLACE | THEME, PLACE
	THEME of PLACE, 2021 | THEME : PLACE, 2021
	PLACE – THEME (2016) | PLACE – THEME (2016)
	THEME – PLACE – 1:50 000 | THEME – PLACE – 1/50 000
	THEME: changes 2000–2020, PLACE | THEME : changements 2000-2020, PLACE
`) as [en: string, fr: string][];

function slug(text: string) {
	return text
		.normalize("NFKD")
		.replace(/\p{M}+/gu, "")
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "")
		.slice(0, 40);
}

const uniqueLayers: Entry[] = rowsOf(`
	nrcan_canvec_hydro | 1 | CanVec – Hydrographic features | CanVec – Entités hydrographiques | hydro
	23ax5t | 2 | Ozone monitoring stations | Stations de surveillance de l’ozone | ozone
	npri-inrp | 2 | National Pollutant Release Inventory | Inventaire national des rejets de polluants | NPRI
	dfo-lobster-fishing-areas | 3 | Lobster fishing areas | Zones de pêche du homard | LFA
	dfo-beluga-st-lawrence | 3 | Beluga whale habitat, St. Lawrence Estuary | Habitat du béluga, estuaire du Saint-Laurent | beluga
	ab-oilsands-leases | 5 | Oil sands leases | Concessions de sables bitumineux | leases
	ab-grizzly-bear-zones | 5 | Grizzly bear recovery zones | Zones de rétablissement du grizzli | grizzly
	qc-erablieres | 7 | Sugar bushes | Érablières | erablieres
	toBikeShareStations | 8 | Bike share stations | Stations de vélos en libre-service | bikeshare
	toRavines | 8 | Ravine and natural feature protection | Protection des ravins et des éléments naturels | ravines
	pca-dark-sky | 9 | Dark sky preserves | Réserves de ciel étoilé | darksky
	aafc-aci-2023 | 1 | Annual crop inventory 2023 | Inventaire annuel des cultures 2023 | aci2023
`).map(([smallkey = "", sender, en = "", fr = "", layer = ""], index) =>
	entryOf(smallkey, pick(senders, Number(sender)), [en, fr], layer, index),
);

function pick<T>(list: readonly T[], index: number): T {
	return list[index % list.length] as T;
}

function entryOf(smallkey: string, sender: Sender, [en, fr]: [string, string], layer: string, index: number) {
	const [nameEn, nameFr, host] = sender;
	const isFeature = index % 3 === 2;
	const path = `https://${host}/${isFeature ? "arcgis/rest/services/" : ""}${slug(en)}`;
	const year = 2015 + (index % 11);
	return {
		smallkey,
		type: isFeature ? "feature" : "wms",
		title: { en, fr },
		description: {
			en: `${en}. This layer is kept by ${nameEn} and is part of its open data. It was compiled from several sources and is brought up to date once a year.`,
			fr: `${fr}. Cette couche est tenue par ${nameFr} et fait partie de ses données ouvertes. Elle est compilée de plusieurs sources et mise à jour chaque année.`,
		},
		address: isFeature
			? { en: `${path}/MapServer/${index % 20}` }
			: { en: `${path}/wms`, fr: `${path}/wms?lang=fr` },
		...(!isFeature && { layers: { en: [layer] } }),
		sender: { en: nameEn, fr: nameFr },
		changed: {
			commit: String(index).padStart(12, "0"),
			date: `${year}-0${1 + (index % 9)}-1${index % 10}T12:00:00Z`,
		},
		...(index % 50 === 7 && { health: { state: "down" as const, since: "2026-W09" } }),
		...(isFeature && { bounds: [-76, 45, -75, 46] as const }),
	};
}

/** The unique layers at even distances among others, always the same. */
export function generateCatalogue(count: number): Entry[] {
	const entries = generateEntries(count - uniqueLayers.length);
	const step = Math.floor(entries.length / uniqueLayers.length);
	for (const [index, entry] of uniqueLayers.entries()) entries.splice(index * (step + 1), 0, entry);
	return entries.slice(0, count);
}

function generateEntries(count: number): Entry[] {
	const entries: Entry[] = [];
	const keys = new Set(uniqueLayers.map(({ smallkey }) => smallkey.toLowerCase()));
	for (let index = 0; entries.length < count; index += 1) {
		const { sender, theme, title } = combinationAt(index);
		let smallkey = sender[3] + slug(title[0]);
		if (keys.has(smallkey.toLowerCase())) smallkey = `${smallkey}-${index}`;
		keys.add(smallkey.toLowerCase());
		entries.push(entryOf(smallkey, sender, title, slug(theme), index));
	}
	return entries;
}

function combinationAt(index: number) {
	// A stride that shares no factor with the number of combinations meets each of them once.
	const combination = (index * 7_907) % (themes.length * places.length * titles.length);
	const rest = Math.floor(combination / themes.length);
	const sender = pick(senders, combination * 31 + (rest % 7));
	const [theme, themeFr] = pick(themes, combination);
	const [place, placeFr = place] = pick(places, rest);
	const [en, fr] = pick(titles, Math.floor(rest / places.length));
	const title: [string, string] = [
		en.replace("THEME", theme).replace("PLACE", place),
		fr.replace("THEME", themeFr).replace("PLACE", placeFr),
	];
	return { sender, theme, title };
}
