import type { Entry } from "../../../site/data/entries.ts";

export const rowsOf = (table: string) =>
	table
		.trim()
		.split("\n")
		.map((line) => line.trim().split(" | "));

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
`) as [en: string, fr: string, host: string, prefix: string][];

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

const variants: [en: (t: string, p: string) => string, fr: (t: string, p: string) => string][] = [
	[(t, p) => `${t}, ${p}`, (t, p) => `${t}, ${p}`],
	[(t, p) => `${t} of ${p}, 2021`, (t, p) => `${t} : ${p}, 2021`],
	[(t, p) => `${p} – ${t} (2016)`, (t, p) => `${p} – ${t} (2016)`],
	[(t, p) => `${t} – ${p} – 1:50 000`, (t, p) => `${t} – ${p} – 1/50 000`],
	[(t, p) => `${t}: changes 2000–2020, ${p}`, (t, p) => `${t} : changements 2000-2020, ${p}`],
];

function slug(text: string) {
	return text
		.normalize("NFKD")
		.replace(/\p{M}+/gu, "")
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "-")
		.replace(/^-|-$/g, "")
		.slice(0, 40);
}

const sought: Entry[] = rowsOf(`
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
`).map(([smallkey = "", sender, en = "", fr = "", layer = ""], at) =>
	entryOf(smallkey, Number(sender), [en, fr], layer, at),
);

function entryOf(smallkey: string, sender: number, [en, fr]: [string, string], layer: string, at: number) {
	const [nameEn, nameFr, host] = senders[sender] as (typeof senders)[number];
	const isFeature = at % 3 === 2;
	const path = `https://${host}/${isFeature ? "arcgis/rest/services/" : ""}${slug(en)}`;
	const year = 2015 + (at % 11);
	return {
		smallkey,
		type: isFeature ? "feature" : "wms",
		title: { en, fr },
		description: {
			en: `${en}. This layer is kept by ${nameEn} and is part of its open data. It was compiled from several sources and is brought up to date once a year.`,
			fr: `${fr}. Cette couche est tenue par ${nameFr} et fait partie de ses données ouvertes. Elle est compilée de plusieurs sources et mise à jour chaque année.`,
		},
		address: isFeature
			? { en: `${path}/MapServer/${at % 20}` }
			: { en: `${path}/wms`, fr: `${path}/wms?lang=fr` },
		...(!isFeature && { layers: { en: [layer] } }),
		sender: { en: nameEn, fr: nameFr },
		changed: { commit: String(at).padStart(12, "0"), date: `${year}-0${1 + (at % 9)}-1${at % 10}T12:00:00Z` },
		...(at % 50 === 7 && { health: { state: "down" as const, since: "2026-W09" } }),
		...(isFeature && { bounds: [-76, 45, -75, 46] as const }),
	};
}

/** Those that are sought lie spread among the others. Always the same. */
export function generateCatalogue(count: number): Entry[] {
	const entries: Entry[] = [];
	const keys = new Set(sought.map(({ smallkey }) => smallkey.toLowerCase()));
	// A stride that shares no factor with the number of combinations meets each of them once.
	const combinations = themes.length * places.length * variants.length;
	for (let at = 0; entries.length < count - sought.length; at += 1) {
		const combination = (at * 7_907) % combinations;
		const theme = themes[combination % themes.length] as (typeof themes)[number];
		const rest = Math.floor(combination / themes.length);
		const place = places[rest % places.length] as (typeof places)[number];
		const variant = variants[Math.floor(rest / places.length)] as (typeof variants)[number];
		const sender = (combination * 31 + (rest % 7)) % senders.length;
		const title: [string, string] = [
			variant[0](theme[0], place[0]),
			variant[1](theme[1], place[1] ?? place[0]),
		];
		const [, , , prefix] = senders[sender] as (typeof senders)[number];
		let smallkey = prefix + slug(title[0]);
		if (keys.has(smallkey.toLowerCase())) smallkey = `${smallkey}-${at}`;
		keys.add(smallkey.toLowerCase());
		entries.push(entryOf(smallkey, sender, title, slug(theme[0]), at));
	}
	const step = Math.floor(entries.length / sought.length);
	for (const [at, entry] of sought.entries()) entries.splice(at * (step + 1), 0, entry);
	return entries.slice(0, count);
}
