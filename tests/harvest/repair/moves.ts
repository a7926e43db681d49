import type { LangEntry, Registration } from "../../../registry/registration.ts";
import {
	always,
	arcgis,
	type Host,
	host,
	page,
	redirect,
	stationFields,
	type WmsLayer,
	type World,
	type WorldLayer,
	wms,
} from "./world.ts";

/** What has to become of a layer after a move. */
export type Expected =
	/** Nothing is proposed. */
	| "nothing"
	/** One proposal: the members of each language that it changes. */
	| { sure: "same" | "perhaps"; en?: Record<string, string>; fr?: Record<string, string> }
	/** Candidates that agree alike: all are shown and none is chosen. */
	| { choose: string[] };

/** One move of a service, with what is to be proposed. */
export interface Move {
	name: string;
	/** The layer as it is registered. */
	registered: Registration;
	before: World;
	after: World;
	expected: Expected;
	/** Whether the last good description is missing. */
	isUnknown?: true;
	/** Most requests that the search may make. */
	maxRequests?: number;
	/** Other layers of the registry. */
	others?: Registration[];
	/** Whether the layer is well, so that it is never looked for. */
	isWell?: true;
}

/** Moves by their names. Each says what it has otherwise than the others; without `expected`, nothing is proposed. */
export function movesOf<T extends Partial<Move>>(
	common: T,
	moves: Record<string, Partial<Move> & Omit<Pick<Move, "registered" | "before" | "after">, keyof T>>,
): Move[] {
	return Object.entries(moves).map(
		([name, own]) => ({ name, expected: "nothing", ...common, ...own }) as Move,
	);
}

export const maps = "http://maps.example.ca";
export const secure = "https://maps.example.ca";
export const other = "https://geo.example.org";
export const rest = "/arcgis/rest/services";
/** A host alone. */
export const only = (part: Host): World => ({ [maps]: part });
/** The members of both languages that a move to an address changes. */
export const to = (service_url: string) => ({ en: { service_url }, fr: { service_url } });
export const air = `${maps}${rest}/Air/MapServer`;

/** A feature layer: in English and in French the same, where no other address is given. */
export function featureAt(en: string, fr = en): Registration {
	return { version: "1.0.0", payload_type: "feature", en: { service_url: en }, fr: { service_url: fr } };
}

/** A WMS layer: in English and in French the same, where no other name is given. */
export function wmsAt(service_url: string, en: string, fr = en): Registration {
	const [one, other] = [en, fr].map((layer) => ({ service_url, layer })) as [LangEntry, LangEntry];
	return { version: "1.0.0", payload_type: "wms", en: one, fr: other };
}

export const lakes: WorldLayer = {
	id: 0,
	name: "Lakes",
	geometryType: "esriGeometryPolygon",
	fields: ["OBJECTID", "LAKE", "DEPTH"],
};
export const stations: WorldLayer = { id: 3, name: "Stations" };
export const roads: WorldLayer = { id: 5, name: "Roads", fields: ["OBJECTID", "ROAD", "LANES"], colour: 90 };

function airWith(...layers: WorldLayer[]): World {
	return { [maps]: arcgis({ "Air/MapServer": layers }) };
}

const registered = featureAt(`${air}/3`);
const before = airWith(lakes, stations, roads);
const known = { registered, before };

const features = movesOf(known, {
	"a layer gets another number": {
		after: airWith(lakes, { ...stations, id: 5 }),
		expected: { sure: "same", ...to(`${air}/5`) },
	},
	"two layers swap their numbers: the number answers, and is another layer": {
		after: airWith(lakes, { ...roads, id: 3 }, { ...stations, id: 5 }),
		expected: { sure: "same", ...to(`${air}/5`) },
	},
	"two layers swap their numbers, and both have the same name": {
		before: airWith(stations, { ...roads, name: "Stations" }),
		after: airWith({ ...roads, name: "Stations", id: 3 }, { ...stations, id: 5 }),
		expected: { sure: "same", ...to(`${air}/5`) },
	},
	"two layers of a row, alike but for their names, swap their numbers": {
		registered: featureAt(`${air}/3`),
		before: airWith({ ...stations, name: "Stations 2019" }, { ...stations, id: 5, name: "Stations 2020" }),
		after: airWith({ ...stations, name: "Stations 2020" }, { ...stations, id: 5, name: "Stations 2019" }),
		expected: { sure: "same", ...to(`${air}/5`) },
	},
	"a layer of a row goes, and its neighbour with the same fields is registered by another smallkey": {
		registered: featureAt(`${air}/3`),
		before: airWith({ ...stations, name: "Stations 2019" }, { ...stations, id: 5, name: "Stations 2020" }),
		after: airWith({ ...stations, id: 5, name: "Stations 2020" }),
		others: [featureAt(`${air}/5`)],
	},
	"a layer gets another name in its place while its queries fail: it is where it was": {
		after: {
			[maps]: host(
				({ pathname }) => (pathname.endsWith("/query") ? { status: 500 } : null),
				arcgis({ "Air/MapServer": [{ ...stations, name: "Measuring stations" }] }),
			),
		},
	},
	"the queries of a layer fail, and it is also in another folder": {
		after: {
			[maps]: host(
				({ pathname }) => (pathname.endsWith("/3/query") ? { status: 500 } : null),
				arcgis({ "Air/MapServer": [stations], "Copy/Air/MapServer": [{ ...stations, id: 4 }] }),
			),
		},
	},
	"a number gets another layer, and the known one is nowhere: the layer itself was created again": {
		after: airWith(lakes, { ...roads, id: 3 }),
		isWell: true,
	},
	"a layer gets another number and a new field": {
		after: airWith({ ...stations, id: 5, fields: [...stationFields, "CLOSED"] }),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"a layer gets another number, and one of five fields another name": {
		after: airWith({ ...stations, id: 5, fields: ["OBJECTID", "NAME", "CLASS", "KIND", "BUILT"] }),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"a layer of the same name has other fields": {
		after: airWith({ ...stations, id: 5, fields: ["OBJECTID", "NAME", "A", "B", "C"] }),
	},
	"a layer gets another number and another name; fields, geometry, extent and symbols stay": {
		after: airWith(lakes, { ...stations, id: 5, name: "Measuring stations" }),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"a layer of another name and of other fields": { after: airWith(lakes, roads) },
	"a layer gets another number and other symbols": {
		after: airWith(lakes, { ...stations, id: 5, colour: 10 }),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"a layer of the same name and fields has another geometry": {
		after: airWith({ ...stations, id: 5, geometryType: "esriGeometryPolygon" }),
	},
	"a layer of the same name and fields lies in another place": {
		after: airWith({ ...stations, id: 5, extent: [10, 45, 20, 50] }),
	},
	"a layer of the same name covers a part only": {
		after: airWith({ ...stations, id: 5, extent: [-123, 45, -110, 50] }),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"the layer is there twice, all alike": {
		after: airWith({ ...stations, id: 5 }, { ...stations, id: 7 }),
		expected: { choose: [`${air}/5`, `${air}/7`] },
	},
	"two layers have its name, and one of them its fields": {
		after: airWith({ ...roads, name: "Stations" }, { ...stations, id: 7 }),
		expected: { sure: "same", ...to(`${air}/7`) },
	},
	"two layers agree in part, alike": {
		after: airWith({ ...stations, id: 5, colour: 10 }, { ...stations, id: 7, colour: 20 }),
		expected: { choose: [`${air}/5`, `${air}/7`] },
	},
	"the service moves into a folder": {
		after: {
			[maps]: arcgis({ "Environment/Air/MapServer": [lakes, stations], "Water/MapServer": [lakes] }),
		},
		expected: { sure: "same", ...to(`${maps}${rest}/Environment/Air/MapServer/3`) },
	},
	"the service moves into a folder, and the layer gets another number": {
		after: { [maps]: arcgis({ "Environment/Air/MapServer": [lakes, { ...stations, id: 1 }] }) },
		expected: { sure: "same", ...to(`${maps}${rest}/Environment/Air/MapServer/1`) },
	},
	"the service is in two folders": {
		after: { [maps]: arcgis({ "A/Air/MapServer": [stations], "B/Air/MapServer": [stations] }) },
		expected: { choose: [`${maps}${rest}/A/Air/MapServer/3`, `${maps}${rest}/B/Air/MapServer/3`] },
	},
	"a service of the same name in another folder has other layers": {
		after: { [maps]: arcgis({ "Trains/Air/MapServer": [lakes, roads] }) },
	},
	"https in place of http": {
		after: { [secure]: arcgis({ "Air/MapServer": [lakes, stations] }) },
		expected: { sure: "same", ...to(`${secure}${rest}/Air/MapServer/3`) },
	},
	"https in place of http, and the layer gets another number": {
		after: { [secure]: arcgis({ "Air/MapServer": [{ ...stations, id: 4 }] }) },
		expected: { sure: "same", ...to(`${secure}${rest}/Air/MapServer/4`) },
	},
	"http redirects to https and loses the query": {
		after: {
			[maps]: redirect(301, `${secure}{path}`),
			[secure]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${secure}${rest}/Air/MapServer/3`) },
	},
	"a permanent redirect to another host loses the query": {
		after: {
			[maps]: redirect(308, `${other}{path}`),
			[other]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"a permanent redirect to another host, where the layer has another number": {
		after: {
			[maps]: redirect(301, `${other}{path}{query}`),
			[other]: arcgis({ "Air/MapServer": [{ ...stations, id: 8 }] }),
		},
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/8`) },
	},
	"a permanent redirect keeps path and query: the layer works as it is registered": {
		isWell: true,
		after: {
			[maps]: redirect(301, `${other}{path}{query}`),
			[other]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"a temporary redirect to another host": {
		after: {
			[maps]: redirect(302, `${other}{path}`),
			[other]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
	},
	"a permanent redirect that leads to a temporary one": {
		after: {
			[maps]: redirect(301, `${secure}{path}`),
			[secure]: redirect(307, `${other}{path}`),
			[other]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
	},
	"another host has the same layer, and nothing leads there": {
		after: { [maps]: always({ status: 404 }), [other]: arcgis({ "Air/MapServer": [stations] }) },
	},
	"everything is redirected to a login page": {
		after: {
			[maps]: redirect(302, "https://login.example.org/"),
			"https://login.example.org": always(page),
		},
	},
	"everything is redirected to a login page for good": {
		after: {
			[maps]: redirect(301, "https://login.example.org/"),
			"https://login.example.org": always(page),
		},
	},
	"a permanent redirect to a private address": {
		after: { [maps]: redirect(301, "http://10.0.0.7{path}") },
	},
	"a redirect that leads to itself": { after: { [maps]: redirect(301, `${maps}{path}`) } },
	"the host is down, for weeks": { after: {} },
	"the host was down for a day": { after: before, isWell: true },
	"the server fails at every address": { after: { [maps]: always({ status: 500 }) }, maxRequests: 40 },
	"the server sends a page with status 200 at every address": {
		after: { [maps]: always(page), [secure]: always(page) },
		maxRequests: 40,
	},
	"the server sends an empty object with status 200 at every address": {
		after: {
			[maps]: always({ type: "application/json", body: "{}" }),
			[secure]: always({ type: "application/json", body: "{}" }),
		},
		maxRequests: 40,
	},
	"the server sends the document of another layer with status 200 at every address": {
		after: {
			[maps]: (url) => arcgis({ "Air/MapServer": [roads] })(new URL(`${air}/5${url.search}`)),
			[secure]: (url) => arcgis({ "Air/MapServer": [roads] })(new URL(`${air}/5${url.search}`)),
		},
		isWell: true,
		maxRequests: 40,
	},
	"the server lists 10,000 layers, and one of them is the layer": {
		after: airWith(
			...Array.from(
				{ length: 10_000 },
				(_, at): WorldLayer => ({ ...roads, id: at + 100, name: `Roads ${at}` }),
			),
			{ ...stations, id: 20_000 },
		),
		expected: { sure: "same", ...to(`${air}/20000`) },
		maxRequests: 40,
	},
	"the server lists 10,000 layers, all of its name": {
		after: airWith(
			...Array.from(
				{ length: 10_000 },
				(_, at): WorldLayer => ({ ...roads, id: at + 100, name: "Stations" }),
			),
		),
		maxRequests: 40,
	},
	"the server lists 1,000 folders": {
		after: {
			[maps]: arcgis(
				Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`F${at}/X/MapServer`, [roads]])),
			),
		},
		maxRequests: 80,
	},
	"the last good description is not known": { after: airWith({ ...stations, id: 5 }), isUnknown: true },
	"the layer is well": { after: before, isWell: true },
	"the layer has no features any more": {
		after: airWith({ ...stations, features: 0 }, { ...stations, id: 5 }),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"the languages move to different numbers": {
		registered: featureAt(`${air}/3`, `${air}/4`),
		before: airWith(stations, { ...stations, id: 4, name: "Stations FR" }),
		after: airWith({ ...stations, id: 8 }, { ...stations, id: 9, name: "Stations FR" }),
		expected: { sure: "same", en: { service_url: `${air}/8` }, fr: { service_url: `${air}/9` } },
	},
	"one language moves, and the other one stays": {
		registered: featureAt(`${air}/3`, `${air}/4`),
		before: airWith(stations, { ...stations, id: 4, name: "Stations FR" }),
		after: airWith(stations, { ...stations, id: 9, name: "Stations FR" }),
		expected: { sure: "same", fr: { service_url: `${air}/9` } },
	},
	"both languages fail, and one of them is found": {
		registered: featureAt(`${air}/3`, `${air}/4`),
		before: airWith(stations, { ...roads, id: 4, name: "Routes" }),
		after: airWith({ ...stations, id: 9 }),
		expected: { sure: "same", en: { service_url: `${air}/9` } },
	},
});

export const ows = `${maps}/ows`;
export const rivers: WmsLayer = {
	name: "rivers",
	title: "Rivers of Canada",
	abstract: "All rivers that are longer than ten kilometres.",
	box: [-141, 41, -52, 84],
};
export const woods: WmsLayer = { name: "woods", title: "Woods", abstract: "Where trees stand." };
const wmsBefore = only(wms("/ows", [rivers, woods]));
const river = { registered: wmsAt(ows, "rivers"), before: wmsBefore };
export const named = (layer: string) => ({ en: { layer }, fr: { layer } });

const pictures = movesOf(river, {
	"a WMS renames its layers": {
		after: {
			[maps]: wms("/ows", [
				{ ...rivers, name: "hydro:rivers" },
				{ ...woods, name: "hydro:woods" },
			]),
		},
		expected: { sure: "same", ...named("hydro:rivers") },
	},
	"a WMS has a layer of the same title with another abstract": {
		after: { [maps]: wms("/ows", [{ ...rivers, name: "rivers_2", abstract: "Version 2." }, woods]) },
		expected: { sure: "perhaps", ...named("rivers_2") },
	},
	"a WMS has a layer of another title with the same abstract and box": {
		after: { [maps]: wms("/ows", [{ ...rivers, name: "rivers_2", title: "Watercourses" }, woods]) },
		expected: { sure: "perhaps", ...named("rivers_2") },
	},
	"a WMS has a layer of the same title in another place": {
		after: { [maps]: wms("/ows", [{ ...rivers, name: "rivers_2", box: [0, 40, 10, 50] }, woods]) },
	},
	"a WMS has two layers that are alike": {
		after: {
			[maps]: wms("/ows", [
				{ ...rivers, name: "a" },
				{ ...rivers, name: "b" },
			]),
		},
		expected: { choose: ["a", "b"] },
	},
	"a WMS has other layers only": {
		after: { [maps]: wms("/ows", [woods]) },
	},
	"a WMS said of its layer nothing but a title that many have": {
		registered: wmsAt(ows, "a"),
		before: { [maps]: wms("/ows", [{ name: "a", title: "" }]) },
		after: {
			[maps]: wms("/ows", [
				{ name: "b", title: "" },
				{ name: "c", title: "" },
			]),
		},
	},
	"a WMS says nothing but titles, and another layer has the same one": {
		registered: wmsAt(ows, "a"),
		before: { [maps]: wms("/ows", [{ name: "a", title: "Data", box: null }]) },
		after: { [maps]: wms("/ows", [{ name: "b", title: "Data", box: null }]) },
	},
	"a WMS with 10,000 layers renames one": {
		after: {
			[maps]: wms("/ows", [
				...Array.from({ length: 10_000 }, (_, at) => ({ name: `n${at}`, title: `Title ${at}` })),
				{ ...rivers, name: "last" },
			]),
		},
		expected: { sure: "same", ...named("last") },
		maxRequests: 40,
	},
	"a WMS lists 10,000 layers, all of its title": {
		after: {
			[maps]: wms(
				"/ows",
				Array.from({ length: 10_000 }, (_, at) => ({ ...rivers, name: `n${at}` })),
			),
		},
		maxRequests: 40,
	},
	"the server of a WMS sends a page with status 200 at every address": {
		after: { [maps]: always(page), [secure]: always(page) },
		maxRequests: 40,
	},
	"the server of a WMS sends capabilities of other layers with status 200 at every address": {
		after: {
			[maps]: () => wms("/", [woods])(new URL(`${maps}/?REQUEST=GetCapabilities`)),
			[secure]: () => wms("/", [woods])(new URL(`${maps}/?REQUEST=GetCapabilities`)),
		},
		maxRequests: 40,
	},
	"https in place of http, for a WMS": {
		after: { [secure]: wms("/ows", [rivers, woods]) },
		expected: { sure: "same", ...to(`${secure}/ows`) },
	},
	"a permanent redirect of a WMS to another host loses the query, and the layer is renamed": {
		after: {
			[maps]: redirect(301, `${other}/geoserver/wms`),
			[other]: wms("/geoserver/wms", [{ ...rivers, name: "hydro:rivers" }]),
		},
		expected: {
			sure: "same",
			en: { service_url: `${other}/geoserver/wms`, layer: "hydro:rivers" },
			fr: { service_url: `${other}/geoserver/wms`, layer: "hydro:rivers" },
		},
	},
	"the host's front page links to the new place of its WMS": {
		after: {
			[maps]: host(wms("/geo/wms", [rivers]), (url) =>
				url.pathname === "/"
					? {
							type: "text/html",
							body: '<a href="https://elsewhere.example.org/wms">x</a> <a href="/geo/wms?service=WMS&amp;request=GetCapabilities">WMS</a>',
						}
					: null,
			),
		},
		expected: { sure: "same", ...to(`${maps}/geo/wms`) },
	},
	"of a front page 200 links are read, and none that no address could be": {
		after: {
			[maps]: host(wms("/geo/wms", [rivers]), (url) =>
				url.pathname === "/"
					? { type: "text/html", body: `${'<a href="/x">'.repeat(200)}<a href="/geo/wms">` }
					: null,
			),
		},
	},
	"the WMS of an ArcGIS server moves into a folder": {
		registered: wmsAt(`${maps}/arcgis/services/Air/MapServer/WMSServer`, "0"),
		before: {
			[maps]: host(
				arcgis({ "Air/MapServer": [stations] }),
				wms("/arcgis/services/Air/MapServer/WMSServer", [{ ...rivers, name: "0" }]),
			),
		},
		after: {
			[maps]: host(
				arcgis({ "Environment/Air/MapServer": [stations] }),
				wms("/arcgis/services/Environment/Air/MapServer/WMSServer", [{ ...rivers, name: "0" }]),
			),
		},
		expected: { sure: "same", ...to(`${maps}/arcgis/services/Environment/Air/MapServer/WMSServer`) },
	},
	"the languages have layers of their own, and both are renamed": {
		registered: wmsAt(ows, "rivers", "rivieres"),
		before: { [maps]: wms("/ows", [rivers, { ...rivers, name: "rivieres", title: "Rivières du Canada" }]) },
		after: {
			[maps]: wms("/ows", [
				{ ...rivers, name: "r_en" },
				{ ...rivers, name: "r_fr", title: "Rivières du Canada" },
			]),
		},
		expected: { sure: "same", en: { layer: "r_en" }, fr: { layer: "r_fr" } },
	},
	"a layer of a node of version 2.0 is renamed": {
		registered: {
			version: "2.0",
			en: { service_type: "ogcWms", service_url: ows, scrape_only: ["rivers"] },
			fr: { service_type: "ogcWms", service_url: ows, scrape_only: ["rivers"] },
		} as Registration,
		before: wmsBefore,
		after: { [maps]: wms("/ows", [{ ...rivers, name: "hydro:rivers" }]) },
		expected: { sure: "same", ...named("hydro:rivers") },
	},
});

/** Every move; each was written down before the code. */
export const moves: readonly Move[] = [...features, ...pictures];

/** A service with five layers of the registry that moves as a whole. */
export const together = {
	smallkeys: ["five1", "five2", "five3", "five4", "five5"],
	layers: Array.from(
		{ length: 5 },
		(_, at): WorldLayer => ({
			...stations,
			id: at,
			name: `Stations ${at}`,
			fields: [...stationFields, `F${at}`],
		}),
	),
	from: `${maps}${rest}/Five/MapServer`,
	to: `${maps}${rest}/Moved/Five/MapServer`,
	before: (layers: readonly WorldLayer[]): World => ({ [maps]: arcgis({ "Five/MapServer": layers }) }),
	after: (layers: readonly WorldLayer[]): World => ({ [maps]: arcgis({ "Moved/Five/MapServer": layers }) }),
};
