import type { Registration } from "../../../registry/registration.ts";
import {
	A,
	choose,
	featureAt,
	maps,
	movesOf,
	other,
	ows,
	perhaps,
	same,
	secure,
	services,
	stations,
	W,
	wmsAt,
} from "./move.ts";
import { runMoves } from "./run-moves.ts";
import { always, arcgis, at, type Host, host, page, redirect, type WorldLayer } from "./world.ts";

// Moves that are proposed or not; each was written down before the code.

const to = "Air/MapServer/5";
const whole = A("Air: lakes, stations");
const many = (make: (at: number) => WorldLayer) => Array.from({ length: 10_000 }, (_, at) => make(at));
const roads: WorldLayer = { id: 5, name: "Roads", fields: ["OBJECTID", "ROAD", "LANES"], colour: 90 };
/** Answers every address as another one. */
const alwaysAs = (part: Host, address: string): Host => {
	return ({ search }) => part(new URL(address + search));
};
const everywhere = (part: Host) => ({ [maps]: part, [secure]: part });
const login = "https://login.example.org";
const french = "stations#4(name=Stations FR)";
const series = "stations(name=Stations 2019), stations#5(name=Stations 2020)";

const features = movesOf(
	{ registered: featureAt("Air/MapServer/3"), before: A("Air: lakes, stations, roads") },
	{
		"a layer gets another number": [A("Air: lakes, stations#5"), same(to)],
		"two layers swap their numbers: the number answers, and is another layer": [
			A("Air: lakes, roads#3, stations#5"),
			same(to),
		],
		"two layers swap their numbers, and both have the same name": [
			A("Air: roads#3(name=Stations), stations#5"),
			same(to),
			{ before: A("Air: stations, roads(name=Stations)") },
		],
		"two layers of a series, alike but for their names, swap their numbers": [
			A("Air: stations(name=Stations 2020), stations#5(name=Stations 2019)"),
			same(to),
			{ before: A(`Air: ${series}`) },
		],
		"a layer of a series is removed, and its neighbour with the same fields is registered by another smallkey":
			[
				A("Air: stations#5(name=Stations 2020)"),
				"nothing",
				{ before: A(`Air: ${series}`), others: [featureAt(to)] },
			],
		"a layer gets another name in its place while its queries fail: it is where it was": [
			host(at(/query$/, { status: 500 }), A("Air: stations(name=Measuring stations)")),
		],
		"the queries of a layer fail, and it is also in another folder": [
			host(at(/3.query$/, { status: 500 }), A("Air: stations | Copy/Air: stations#4")),
		],
		"a number gets another layer, and the known one is nowhere: the layer itself was created again": [
			A("Air: lakes, roads#3"),
			"nothing",
			{ isWell: true },
		],
		"a layer gets another number and a new field": [A("Air: stations#5(fields=ALL CLOSED)"), perhaps(to)],
		"a layer gets another number, and one of five fields another name": [
			A("Air: stations#5(fields=OBJECTID NAME CLASS KIND BUILT)"),
			perhaps(to),
		],
		"a layer of the same name has other fields": [A("Air: stations#5(fields=OBJECTID NAME A B C)")],
		"a layer gets another number and another name; fields, geometry, extent and symbols stay": [
			A("Air: lakes, stations#5(name=Measuring stations)"),
			perhaps(to),
		],
		"a layer of another name and of other fields": [A("Air: lakes, roads")],
		"a layer gets another number and other symbols": [A("Air: lakes, stations#5(colour=10)"), perhaps(to)],
		"a layer of the same name and fields has another geometry": [
			A("Air: stations#5(geometry=esriGeometryPolygon)"),
		],
		"a layer of the same name and fields lies in another place": [A("Air: stations#5(extent=10 45 20 50)")],
		"a layer of the same name covers a part only": [
			A("Air: stations#5(extent=-123 45 -110 50)"),
			perhaps(to),
		],
		"the layer is there twice, all alike": [A("Air: stations#5, stations#7"), choose(to, "Air/MapServer/7")],
		"a layer that agrees in part is registered by another smallkey": [
			A("Air: stations#5(colour=10)"),
			"nothing",
			{ others: [featureAt(to)] },
		],
		"two layers have its name, and one of them its fields": [
			A("Air: roads(name=Stations), stations#7"),
			same("Air/MapServer/7"),
		],
		"two layers agree in part, alike": [
			A("Air: stations#5(colour=10), stations#7(colour=20)"),
			choose(to, "Air/MapServer/7"),
		],
		"the service moves into a folder": [
			A("Environment/Air: lakes, stations | Water: lakes"),
			same("Environment/Air/MapServer/3"),
		],
		"the service moves into a folder, and the layer gets another number": [
			A("Environment/Air: lakes, stations#1"),
			same("Environment/Air/MapServer/1"),
		],
		"the service is in two folders": [
			A("A/Air: stations | B/Air: stations"),
			choose("A/Air/MapServer/3", "B/Air/MapServer/3"),
		],
		"a service of the same name in another folder has other layers": [A("Trains/Air: lakes, roads")],
		"https in place of http": [
			{ [secure]: whole },
			same(`${services.replace(maps, secure)}/Air/MapServer/3`),
		],
		"https in place of http, and the layer gets another number": [
			{ [secure]: A("Air: stations#4") },
			same(`${services.replace(maps, secure)}/Air/MapServer/4`),
		],
		"http redirects to https and loses the query": [
			{ [maps]: redirect(301, `${secure}{path}`), [secure]: whole },
			same(`${services.replace(maps, secure)}/Air/MapServer/3`),
		],
		"a permanent redirect to another host loses the query": [
			{ [maps]: redirect(308, `${other}{path}`), [other]: whole },
			same(`${services.replace(maps, other)}/Air/MapServer/3`),
		],
		"a permanent redirect to another host, where the layer has another number": [
			{ [maps]: redirect(301, `${other}{path}{query}`), [other]: A("Air: stations#8") },
			same(`${services.replace(maps, other)}/Air/MapServer/8`),
		],
		"a permanent redirect keeps path and query: the layer works as it is registered": [
			{ [maps]: redirect(301, `${other}{path}{query}`), [other]: whole },
			same(`${services.replace(maps, other)}/Air/MapServer/3`),
			{ isWell: true },
		],
		"a temporary redirect to another host": [{ [maps]: redirect(302, `${other}{path}`), [other]: whole }],
		"a permanent redirect that leads to a temporary one": [
			{ [maps]: redirect(301, `${secure}{path}`), [secure]: redirect(307, `${other}{path}`), [other]: whole },
		],
		"another host has the same layer, and nothing leads there": [
			{ [maps]: always({ status: 404 }), [other]: A("Air: stations") },
		],
		"everything is redirected to a login page": [{ [maps]: redirect(302, login), [login]: always(page) }],
		"everything is redirected permanently to a login page": [
			{ [maps]: redirect(301, login), [login]: always(page) },
		],
		"a permanent redirect to a private address": [redirect(301, "http://10.0.0.7{path}")],
		"a redirect that leads to itself": [redirect(301, `${maps}{path}`)],
		"the host is down, for weeks": [{}],
		"the host was down for a day": [A("Air: lakes, stations, roads"), "nothing", { isWell: true }],
		"the server fails at every address": [always({ status: 500 }), "nothing", { maxRequests: 40 }],
		"the server sends a page with status 200 at every address": [
			everywhere(always(page)),
			"nothing",
			{ maxRequests: 40 },
		],
		"the server sends an empty object with status 200 at every address": [
			everywhere(always({ type: "application/json", body: "{}" })),
			"nothing",
			{ maxRequests: 40 },
		],
		"the server sends the document of another layer with status 200 at every address": [
			everywhere(alwaysAs(A("Air: roads"), `${services}/${to}`)),
			"nothing",
			{ isWell: true, maxRequests: 40 },
		],
		"the server lists 10,000 layers, and one of them is the layer": [
			arcgis({
				"Air/MapServer": [
					...many((at) => ({ ...roads, id: at + 100, name: `Roads ${at}` })),
					{ ...stations, id: 20_000 },
				],
			}),
			same("Air/MapServer/20000"),
			{ maxRequests: 40 },
		],
		"the server lists 10,000 layers, all of its name": [
			arcgis({ "Air/MapServer": many((at) => ({ ...roads, id: at + 100, name: "Stations" })) }),
			"nothing",
			{ maxRequests: 40 },
		],
		"the server lists 1,000 folders": [
			arcgis(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`F${at}/X/MapServer`, [roads]]))),
			"nothing",
			{ maxRequests: 80 },
		],
		"the last good description is not known": [A("Air: stations#5"), "nothing", { isUnknown: true }],
		"the layer is well": [A("Air: lakes, stations, roads"), "nothing", { isWell: true }],
		"the layer has no features any more": [A("Air: stations(features=0), stations#5"), perhaps(to)],
		"the languages move to different numbers": [
			A("Air: stations#8, stations#9(name=Stations FR)"),
			same("Air/MapServer/8", "Air/MapServer/9"),
			{ registered: featureAt("Air/MapServer/3", "Air/MapServer/4"), before: A(`Air: stations, ${french}`) },
		],
		"one language moves, and the other one stays": [
			A("Air: stations, stations#9(name=Stations FR)"),
			same(null, "Air/MapServer/9"),
			{ registered: featureAt("Air/MapServer/3", "Air/MapServer/4"), before: A(`Air: stations, ${french}`) },
		],
		"both languages fail, and one of them is found": [
			A("Air: stations#9"),
			same("Air/MapServer/9", null),
			{
				registered: featureAt("Air/MapServer/3", "Air/MapServer/4"),
				before: A("Air: stations, roads#4(name=Routes)"),
			},
		],
	},
);

const server = `${maps}/arcgis/services/Air/MapServer/WMSServer`;
const node = { service_type: "ogcWms", service_url: ows, scrape_only: ["rivers"] };
const linked = (body: string) => host(W("/geo/wms: rivers"), at(/^.$/, { type: "text/html", body }));
const onHost = { service_url: `${other}/geoserver/wms`, layer: "hydro:rivers" };

const pictures = movesOf(
	{ registered: wmsAt(ows, "rivers"), before: W("/ows: rivers, woods") },
	{
		"a WMS renames its layers": [W("/ows: rivers@hydro:rivers, woods@hydro:woods"), same("hydro:rivers")],
		"a WMS has a layer of the same title with another abstract": [
			W("/ows: rivers@rivers_2(abstract=Version 2.), woods"),
			perhaps("rivers_2"),
		],
		"a WMS has a layer of another title with the same abstract and box": [
			W("/ows: rivers@rivers_2(title=Watercourses), woods"),
			perhaps("rivers_2"),
		],
		"a WMS has a layer of the same title in another place": [
			W("/ows: rivers@rivers_2(box=0 40 10 50), woods"),
		],
		"two layers of a WMS swap their titles and abstracts": [
			W("/ows: woods@rivers, rivers@woods"),
			same("woods"),
			{ others: [wmsAt(ows, "woods")] },
		],
		"a layer of a WMS gets other texts, and no other layer has its own": [
			W("/ows: woods@rivers, woods"),
			"nothing",
			{ isWell: true },
		],
		"a WMS has two layers that are alike": [W("/ows: rivers@a, rivers@b"), choose("a", "b")],
		"a WMS has other layers only": [W("/ows: woods")],
		"a WMS said of its layer nothing but an empty title that many have": [
			W("/ows: plain@b, plain@c"),
			"nothing",
			{ registered: wmsAt(ows, "a"), before: W("/ows: plain@a") },
		],
		"a WMS says nothing but titles, and another layer has the same one": [
			W("/ows: plain@b(title=Data;box=none)"),
			"nothing",
			{ registered: wmsAt(ows, "a"), before: W("/ows: plain@a(title=Data;box=none)") },
		],
		"a WMS with 10,000 layers renames one": [
			W(
				`/ows: ${Array.from({ length: 10_000 }, (_, at) => `plain@n${at}(title=Title ${at})`).join(", ")}, rivers@last`,
			),
			same("last"),
			{ maxRequests: 40 },
		],
		"a WMS lists 10,000 layers, all of its title": [
			W(`/ows: ${Array.from({ length: 10_000 }, (_, at) => `rivers@n${at}`).join(", ")}`),
			"nothing",
			{ maxRequests: 40 },
		],
		"the server of a WMS sends a page with status 200 at every address": [
			everywhere(always(page)),
			"nothing",
			{ maxRequests: 40 },
		],
		"the server of a WMS sends capabilities of other layers with status 200 at every address": [
			everywhere(() => W("/: woods")(new URL(`${maps}/?REQUEST=GetCapabilities`))),
			"nothing",
			{ maxRequests: 40 },
		],
		"https in place of http, for a WMS": [{ [secure]: W("/ows: rivers, woods") }, same(`${secure}/ows`)],
		"a permanent redirect of a WMS to another host loses the query, and the layer is renamed": [
			{ [maps]: redirect(301, `${other}/geoserver/wms`), [other]: W("/geoserver/wms: rivers@hydro:rivers") },
			{ sure: "same", en: onHost, fr: onHost },
		],
		"the host's front page links to the new place of its WMS": [
			linked(
				'<a href="https://elsewhere.example.org/wms">x</a> <a href="/geo/wms?service=WMS&amp;request=GetCapabilities">WMS</a>',
			),
			same(`${maps}/geo/wms`),
		],
		"of a front page 200 links are read, and none that no address could be": [
			linked(`${'<a href="/x">'.repeat(200)}<a href="/geo/wms">`),
		],
		"the WMS of an ArcGIS server moves into a folder": [
			host(
				A("Environment/Air: stations"),
				W("/arcgis/services/Environment/Air/MapServer/WMSServer: rivers@0"),
			),
			same(server.replace("Air", "Environment/Air")),
			{
				registered: wmsAt(server, "0"),
				before: host(A("Air: stations"), W("/arcgis/services/Air/MapServer/WMSServer: rivers@0")),
			},
		],
		"the languages have layers of their own, and both are renamed": [
			W("/ows: rivers@r_en, rivers@r_fr(title=Rivières du Canada)"),
			same("r_en", "r_fr"),
			{
				registered: wmsAt(ows, "rivers", "rivieres"),
				before: W("/ows: rivers, rivers@rivieres(title=Rivières du Canada)"),
			},
		],
		"a layer of a node of version 2.0 is renamed": [
			W("/ows: rivers@hydro:rivers"),
			same("hydro:rivers"),
			{
				registered: { version: "2.0", en: node, fr: node } as Registration,
				before: W("/ows: rivers, woods"),
			},
		],
	},
);

runMoves([...features, ...pictures]);
