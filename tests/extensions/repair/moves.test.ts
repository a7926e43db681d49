import type { Registration } from "../../../registry/registration.ts";
import {
	A,
	featureAt,
	maps,
	movesOf,
	other,
	ows,
	perhaps,
	same,
	secure,
	services,
	W,
	wmsAt,
} from "./move.ts";
import { runMoves } from "./run-moves.ts";
import { always, at, host, page, redirect } from "./world.ts";

const to = "Air/MapServer/5";
const whole = A("Air: lakes, stations");
const french = "stations#4(name=Stations FR)";
const features = movesOf(
	{ registered: featureAt("Air/MapServer/3"), before: A("Air: lakes, stations, roads") },
	{
		"a layer gets another number": [A("Air: lakes, stations#5"), same(to)],
		"two layers swap their numbers": [A("Air: lakes, roads#3, stations#5"), same(to)],
		"two layers of one name swap their numbers": [
			A("Air: roads#3(name=Stations), stations#5"),
			same(to),
			{ before: A("Air: stations, roads(name=Stations)") },
		],
		"a number gets another layer, and the known one is nowhere": [
			A("Air: lakes, roads#3"),
			"nothing",
			{ isWell: true },
		],
		"a group gets a layer's name and number": [
			A("Air: roads#3(name=Stations;type=Group Layer), stations#5"),
			same(to),
		],
		"a layer gets another number and a new field": [A("Air: stations#5(fields=ALL CLOSED)"), perhaps(to)],
		"a layer gets another number and another name": [
			A("Air: lakes, stations#5(name=Measuring stations)"),
			perhaps(to),
		],
		"a layer gets another number and other symbols": [A("Air: lakes, stations#5(colour=10)"), perhaps(to)],
		"a namesake has another geometry": [A("Air: stations#5(geometry=esriGeometryPolygon)")],
		"a namesake lies in another place": [A("Air: stations#5(extent=10 45 20 50)")],
		"the layer is there twice, all alike": [A("Air: stations#5, stations#7")],
		"a layer that agrees in part is registered by another smallkey": [
			A("Air: stations#5(colour=10)"),
			"nothing",
			{ others: [featureAt(to)] },
		],
		"the service moves into a folder": [
			A("Environment/Air: lakes, stations | Water: lakes"),
			same("Environment/Air/MapServer/3"),
		],
		"the service is in two folders": [A("A/Air: stations | B/Air: stations")],
		"a service of the same name has other layers": [A("Trains/Air: lakes, roads")],
		"https in place of http": [
			{ [secure]: whole },
			same(`${services.replace(maps, secure)}/Air/MapServer/3`),
		],
		"a permanent redirect to another host loses the query": [
			{ [maps]: redirect(308, `${other}{path}`), [other]: whole },
			same(`${services.replace(maps, other)}/Air/MapServer/3`),
		],
		"a permanent redirect keeps path and query": [
			{ [maps]: redirect(301, `${other}{path}{query}`), [other]: whole },
			same(`${services.replace(maps, other)}/Air/MapServer/3`),
			{ isWell: true },
		],
		"a temporary redirect to another host": [{ [maps]: redirect(302, `${other}{path}`), [other]: whole }],
		"a permanent redirect to a private address": [redirect(301, "http://10.0.0.7{path}")],
		"the host is down, for weeks": [{}],
		"the server fails at every address": [always({ status: 500 }), "nothing", { maxRequests: 40 }],
		"the server sends a page at every address": [
			{ [maps]: always(page), [secure]: always(page) },
			"nothing",
			{ maxRequests: 40 },
		],
		"the last good description is not known": [A("Air: stations#5"), "nothing", { isUnknown: true }],
		"the layer is well": [A("Air: lakes, stations, roads"), "nothing", { isWell: true }],
		"the layer has no features any more": [A("Air: stations(features=0), stations#5"), perhaps(to)],
		"one language moves, and the other one stays": [
			A("Air: stations, stations#9(name=Stations FR)"),
			same(null, "Air/MapServer/9"),
			{ registered: featureAt("Air/MapServer/3", "Air/MapServer/4"), before: A(`Air: stations, ${french}`) },
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
		"a layer of the same title has another abstract": [
			W("/ows: rivers@rivers_2(abstract=Version 2.), woods"),
			perhaps("rivers_2"),
		],
		"two layers of a WMS swap their titles and abstracts": [
			W("/ows: woods@rivers, rivers@woods"),
			same("woods"),
			{ others: [wmsAt(ows, "woods")] },
		],
		"a layer has an empty title, as many have": [
			W("/ows: plain@b, plain@c"),
			"nothing",
			{ registered: wmsAt(ows, "a"), before: W("/ows: plain@a") },
		],
		"https in place of http, for a WMS": [{ [secure]: W("/ows: rivers, woods") }, same(`${secure}/ows`)],
		"a WMS is redirected to another host, and its layer renamed": [
			{ [maps]: redirect(301, `${other}/geoserver/wms`), [other]: W("/geoserver/wms: rivers@hydro:rivers") },
			{ sure: "same", en: onHost, fr: onHost },
		],
		"the front page links to the new place of a WMS": [
			linked(
				'<a href="https://elsewhere.example.org/wms">x</a> <a href="/geo/wms?service=WMS&amp;request=GetCapabilities">WMS</a>',
			),
			same(`${maps}/geo/wms`),
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
		"the layers of both languages are renamed": [
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
