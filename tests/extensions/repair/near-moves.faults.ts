import {
	A,
	featureAt,
	type Move,
	maps,
	movesOf,
	other,
	ows,
	perhaps,
	rest,
	same,
	secure,
	services,
	W,
	wmsAt,
} from "./move.ts";
import { runMoves } from "./run-moves.ts";
import { always, arcgisError, at, type Host, host, page, redirect } from "./world.ts";

// Moves after which something is near that is not the layer, or that only some evidence leads to.

const copies = "Water/Hydro: lakes, stations | Sea/Hydro: lakes, stations";
const hydro = { registered: featureAt("Water/Hydro/MapServer/3"), before: A(copies) };
const air = { registered: featureAt("Air/MapServer/3"), before: A("Air: lakes, stations") };
const river = { registered: wmsAt(ows, "rivers"), before: W("/ows: rivers, woods") };
const notStarted = at(/Water.Hydro/, arcgisError(500, "Service Water/Hydro/MapServer not started"));
const failing3 = at(/MapServer.3/, arcgisError(500, "Error performing query"));
const twins = "stations, stations#7";
const large = "stations#7(scale=1000000)";
const front = (...links: string[]): Host => {
	return at(/^.$/, { type: "text/html", body: links.map((link) => `<a href="${link}">WMS</a>`).join(" ") });
};
const on = (origin: string, path = "Air/MapServer/3") => `${origin}${rest}/${path}`;

/** The place is down, or answers for itself. */
const down = [
	...movesOf(hydro, {
		"a service is not started and still in the list, and another folder has a copy": [
			host(notStarted, A(copies)),
		],
		"a service is not started and not in the list, and another folder has a copy": [
			host(notStarted, A("Sea/Hydro: stations")),
		],
		"a service answers 503 and is still in the list, and another folder has a copy": [
			host(at(/Water.Hydro/, { status: 503 }), A(copies)),
		],
		"a service answers 404 and is still in the list, and another folder has a copy": [
			host(at(/Water.Hydro/, { status: 404 }), A(copies)),
		],
		"a service and the list of its folder fail, and another folder has a copy": [
			host(at(/Water.Hydro/, { status: 404 }), at(/services.Water$/, { status: 500 }), A(copies)),
		],
		"http says that a service is not started, and https serves it": [
			{ [maps]: host(notStarted, A(copies)), [secure]: A(copies) },
		],
		"a layer is removed from a service that stays, and a service of that name elsewhere has it as before": [
			A("Water/Hydro: lakes | Sea/Hydro: lakes, stations"),
		],
		"a service lists no layers while it starts, and another folder has a copy": [
			A("Water/Hydro | Sea/Hydro: stations"),
		],
		"a service is gone, and a folder that was there before has one of that name": [
			A("Sea/Hydro: lakes, stations"),
			perhaps("Sea/Hydro/MapServer/3"),
		],
		...Object.fromEntries(
			"Staging Preprod Archive2024 TestServices OldData DEV2 Acceptance Essais Formation"
				.split(" ")
				.map((folder) => [
					`a service is gone, and the folder ${folder} has a copy`,
					[
						A(`${folder}/Hydro: lakes, stations`),
						"nothing",
						{ before: A(`${copies} | ${folder}/Hydro: stations`) },
					],
				]),
		),
	}),
	...movesOf(air, {
		"a layer answers error 500, and its twin for large scales is as before": [
			host(failing3, A(`Air: stations, ${large}`)),
			"nothing",
			{ before: A(`Air: stations, ${large}`) },
		],
		"a layer answers error 500, and a new one is exactly like it": [host(failing3, A(`Air: ${twins}`))],
		"a layer is gone, and a new one is drawn at large scales only": [A(`Air: lakes, ${large}`)],
		"a layer for large scales is gone, and a new one is drawn at all scales": [
			A("Air: stations#7"),
			perhaps("Air/MapServer/7"),
			{ before: A("Air: stations(scale=1000000)") },
		],
		"a layer has lost the field that is registered for display, and another folder has a copy with it": [
			A("Air: stations(fields=OBJECTID CLASS KIND OPENED) | New/Air: stations"),
			"nothing",
			{ registered: displaying("NAME") },
		],
		"a service wants a sign-in and is not in the public list, and another folder has its layers": [
			host(at(/services.Air/, arcgisError(499, "Token Required")), A("Open/Air: stations")),
		],
		"an address in other letters is down, and the list has the service in its own": [
			host(at(/services.AIR/, { status: 404 }), A("Air: lakes | New/AIR/mapserver: stations")),
			"nothing",
			{ registered: featureAt(`${services}/AIR/mapserver/3`), before: A("AIR/mapserver: stations") },
		],
		"a service of a folder with an accent is not started and still in the list": [
			decoded(host(at(/Qualité.Air/, { status: 404 }), A("Qualité/Air: stations | Air/Air: stations"))),
			"nothing",
			{ registered: featureAt("Qualit%C3%A9/Air/MapServer/3"), before: decoded(A("Qualité/Air: stations")) },
		],
		"the whole host is in maintenance with status 404, and https has a page": [
			{ [maps]: always({ status: 404 }), [secure]: always(page) },
		],
		"everything that was not moved is a page that says so": [always({ status: 410 })],
		"the number belongs to a group now, and the layer is in the group": [
			A("Air: stations(type=Group Layer), stations#4"),
			same("Air/MapServer/4"),
		],
	}),
	...movesOf(river, {
		"a WMS fails, and the host's front page links to another one with the layer": [
			host(at(/^.ows/, { status: 500 }), front("/test/wms"), W("/test/wms: rivers")),
		],
		"a layer of a WMS fails under a new title, and a new layer has its old one": [
			host(
				(url) => (/GetMap/i.test(url.search) && /rivers(?!_)/.test(url.search) ? { status: 500 } : null),
				W("/ows: rivers(title=Rivers and streams), rivers@rivers_b"),
			),
		],
	}),
];

function displaying(field: string): Move["registered"] {
	const entry = { service_url: `${services}/Air/MapServer/3`, display_field: field };
	return { version: "1.0.0", payload_type: "feature", en: entry, fr: entry };
}

/** A server that compares decoded paths, as ArcGIS does. */
function decoded(part: Host): Host {
	return (url) =>
		part({ pathname: decodeURI(url.pathname), search: url.search, searchParams: url.searchParams } as URL);
}

const fires = (year: number, title = `Fires of ${year}`) => `fires@fire_${year}(title=${title})`;
const fire = { registered: wmsAt(ows, "fire_2025"), before: W(`/ows: ${fires(2025)}`) };
const bilingual = {
	registered: wmsAt(ows, "roads", "routes"),
	before: W("/ows: rivers@roads, rivers@routes"),
};
const fires2025 = { registered: featureAt("Fire_2025/MapServer/3"), before: A("Fire_2025: stations") };
const burnt = {
	registered: featureAt("Fires2025/Burnt/MapServer/3"),
	before: A("Fires2025/Burnt: stations"),
};

/** What was beside the layer before, and series of years. */
const siblings = [
	...movesOf(fire, {
		"a layer of a WMS is removed, and last year's stays": [
			W(`/ows: ${fires(2024)}`),
			"nothing",
			{ before: W(`/ows: ${fires(2024)}, ${fires(2025)}`) },
		],
		"a layer of a WMS is removed, and one of an older year is new": [W(`/ows: ${fires(2024)}`)],
		"a layer of a WMS is replaced by that of a new year": [
			W(`/ows: ${fires(2026, "Fires of 2025")}`),
			perhaps("fire_2026"),
		],
	}),
	...movesOf(river, {
		"a layer of a WMS is removed, and its neighbour of the same title stays": [
			W("/ows: rivers@streams"),
			"nothing",
			{ before: W("/ows: rivers, rivers@streams") },
		],
		"the English layer of a WMS is removed, and a new French one has the same texts": [
			W("/ows: rivers@rivers_fr"),
			"nothing",
			{ registered: wmsAt(ows, "rivers_en"), before: W("/ows: rivers@rivers_en") },
		],
	}),
	...movesOf(bilingual, {
		"the French layer is removed, and the English one has the same title": [W("/ows: rivers@roads")],
		"a WMS moves without its French layer, and the English one has the same title": [
			{ [maps]: redirect(301, `${other}/wms`), [other]: W("/wms: rivers@roads") },
			same(`${other}/wms`, null),
		],
		"French and English layers of one title become one of a new name": [W("/ows: rivers@r1")],
	}),
	...movesOf(air, {
		"a layer is removed, and its twin that was beside it stays": [
			A("Air: stations#7"),
			"nothing",
			{ before: A(`Air: ${twins}`) },
		],
		"a layer is removed when its service moves to https, and its twin moves along": [
			{ [secure]: A("Air: stations#7") },
			"nothing",
			{ before: A(`Air: ${twins}`) },
		],
		"a layer of one year gets the number of another year": [
			A("Air: stations#5(name=Stations 2025)"),
			perhaps("Air/MapServer/5"),
			{ before: A("Air: stations(name=Stations 2024)") },
		],
		"a layer is removed, and a new one has a title with another year in other words": [
			A("Air: stations#5(name=2024 Stations)"),
			"nothing",
			{ before: A("Air: stations(name=Stations of 2025)") },
		],
		"a service is renamed to say that it is old": [A("Air_old: lakes, stations")],
		"a service for both languages is gone, and a new one for English has its layers": [
			A("Air_en: lakes, stations"),
		],
		"the English folder is gone, and the French one has the same untranslated layers": [
			A("fr/Air: stations"),
			"nothing",
			{ registered: featureAt("en/Air/MapServer/3"), before: A("en/Air: stations | fr/Air: stations") },
		],
		"layers for English and French lose their service, and one of their names is new": [
			A("Air_2: stations#0"),
			"nothing",
			{ registered: featureAt("Air/MapServer/3", "Air/MapServer/4"), before: A("Air: stations, stations#4") },
		],
		"a layer became empty, and a new one of its name has the features": [
			A("Air: stations(features=0), stations#5"),
			perhaps("Air/MapServer/5"),
		],
		"a layer became empty, and one of its name was there before": [
			A("Air: stations(features=0), stations#7"),
			"nothing",
			{ before: A(`Air: ${twins}`) },
		],
		"a layer became empty, and a new one of its name is drawn at large scales only": [
			A("Air: stations(features=0), stations#5(scale=50000)"),
		],
	}),
	...movesOf(fires2025, {
		"a service gets the name of a new year": [A("Fire_2026: stations"), perhaps("Fire_2026/MapServer/3")],
		"a service is removed, and that of the new year was there before": [
			A("Fire_2026: stations"),
			"nothing",
			{ before: A("Fire_2025: stations | Fire_2026: stations") },
		],
		"a service is removed, and that of an older year is new": [A("Fire_2024: stations")],
		"a server redirects one year to the next permanently": [
			host(
				at(/Fire_2025/, { status: 301, location: `${services}/Fire_2026/MapServer/3` }),
				A("Fire_2026: stations"),
			),
			perhaps("Fire_2026/MapServer/3"),
		],
	}),
	...movesOf(burnt, {
		"the service of one year is gone, and the same one is in the folder of another year": [
			A("Fires2024/Burnt: stations"),
			"nothing",
			{ before: A("Fires2025/Burnt: stations | Fires2024/Burnt: stations") },
		],
		"the service of one year is gone, and the same one is in the new folder of the next year": [
			A("Fires2026/Burnt: stations"),
			perhaps("Fires2026/Burnt/MapServer/3"),
		],
	}),
];

const renumbered = A("Air: lakes, stations#5(colour=10)");
const folders = Array.from({ length: 40 }, (_, at) => `Folder${at}/Other: roads`).join(" | ");
const toOther = (to: string, part: Host) => ({ [maps]: redirect(301, to), [other]: part });

/** One place by several ways, redirects, and other paths of an ArcGIS server. */
const ways = movesOf(air, {
	"a layer gets another number and other symbols, where http and https both answer": [
		{ [maps]: renumbered, [secure]: renumbered },
		perhaps(on(secure, "Air/MapServer/5")),
	],
	"an ArcGIS server gets another path": [
		A("Air: lakes, stations", "/server/rest/services"),
		same(`${maps}/server/rest/services/Air/MapServer/3`),
	],
	"a server that still answers redirects to https permanently": [
		{ [maps]: redirect(301, `${secure}{path}{query}`), [secure]: air.before },
		same(on(secure)),
		{ isWell: true },
	],
	"a permanent redirect leads to a place where the layer was created again, which viewers see already": [
		toOther(`${other}{path}{query}`, A("Air: lakes, stations(extent=10 45 20 50)")),
		same(on(other)),
		{ isWell: true },
	],
	"a working layer is redirected permanently to a twin for large scales, which viewers see already": [
		toOther(`${other}{path}{query}`, A("Air: lakes, stations(scale=50000)")),
		same(on(other)),
		{ isWell: true },
	],
	"http redirects to https, and that to another host, both permanently": [
		{
			[maps]: redirect(301, `${secure}{path}`),
			[secure]: redirect(301, `${other}{path}`),
			[other]: air.before,
		},
		same(on(other)),
	],
	"http is off, and https redirects to another host permanently": [
		{ [secure]: redirect(301, `${other}{path}`), [other]: air.before },
		same(on(other)),
	],
	"http redirects to https permanently, where the service is in another folder": [
		{ [maps]: redirect(301, `${secure}{path}{query}`), [secure]: A("Environment/Air: lakes, stations") },
		same(on(secure, "Environment/Air/MapServer/3")),
	],
	"a permanent redirect of everything leads to the front page of a new server": [
		toOther(`${other}/`, host(at(/^.$/, page), air.before)),
	],
	"a permanent redirect drops the number of the layer": [
		toOther(`${other}${rest}/Air/MapServer`, A("Air: lakes, stations#8")),
		same(on(other, "Air/MapServer/8")),
	],
	"a permanent redirect leads to another layer of the same name far away": [
		toOther(`${other}{path}`, A("Air: lakes, stations(extent=10 45 20 50)")),
	],
	"a permanent redirect adds a token": [toOther(`${other}{path}?token=secret`, air.before), same(on(other))],
	"a permanent redirect leads to an address with a password": [
		toOther("https://user:secret@geo.example.org{path}", air.before),
	],
	"everything is redirected permanently to one layer of another service": [
		toOther(`${other}${rest}/Roads/MapServer/5`, A("Roads: roads, lakes#3")),
	],
	"a service is split in two": [
		A("Air_Stations: stations#0 | Air_Lakes: lakes"),
		perhaps("Air_Stations/MapServer/0"),
	],
	"a service is gone, and one of a longer name was there before": [
		A("Air_Archive: stations"),
		"nothing",
		{ before: A("Air: stations | Air_Archive: stations") },
	],
	"a FeatureServer is gone, and the MapServer of its name stays": [
		A("Air: stations"),
		perhaps("Air/MapServer/3"),
		{
			registered: featureAt("Air/FeatureServer/3"),
			before: A("Air/FeatureServer: stations | Air: stations"),
		},
	],
	"a service moves into the last of many folders": [
		A(`${folders} | Last/Air: stations`),
		same("Last/Air/MapServer/3"),
		{ maxRequests: 80 },
	],
});

const server = "/arcgis/services/Air/MapServer/WMSServer";
const mapserv = {
	registered: wmsAt(`${maps}/cgi-bin/mapserv?map=/srv/a.map`, "rivers"),
	before: W("/cgi-bin/mapserv: rivers"),
};
const world = "title=Layer;box=-180 -90 180 90";

/** Moves of a WMS, of versions 1.1.1 and 1.3.0. */
const pictures = [
	...movesOf(river, {
		"a WMS that still answers redirects to another host permanently": [
			{ [maps]: redirect(308, `${other}/wms{query}`), [other]: W("/wms: rivers, woods") },
			same(`${other}/wms`),
			{ isWell: true },
		],
		"a front page links to http and https of one WMS": [
			{
				[maps]: host(front("/geo/wms", `${secure}/geo/wms`), W("/geo/wms: rivers")),
				[secure]: W("/geo/wms: rivers"),
			},
			same(`${secure}/geo/wms`),
		],
		"a front page redirects, and has a relative link to its WMS": [
			host(
				at(/^.$/, { status: 302, location: "/geoserver/web/" }),
				at(/web.$/, { type: "text/html", body: '<a href="../wms?service=WMS">' }),
				W("/geoserver/wms: rivers"),
			),
			same(`${maps}/geoserver/wms`),
		],
		"a WMS answers in version 1.3.0 only, and renames its layers": [
			W("/ows: rivers@hydro:rivers, woods", "1.3.0"),
			same("hydro:rivers"),
		],
		"a WMS 1.3.0 has nothing but titles and the whole world, and another layer has the same title": [
			W(`/ows: plain@b(${world})`, "1.3.0"),
			perhaps("b"),
			{ registered: wmsAt(ows, "a"), before: W(`/ows: plain@a(${world})`, "1.3.0") },
		],
		"a layer of a WMS is removed, and a new one of the same texts is drawn at large scales only": [
			W("/ows: rivers@rivers_large(scale=50000)"),
		],
		"a layer of a WMS 1.3.0 is removed, and a new one of the same texts is drawn at large scales only": [
			W("/ows: rivers@rivers_large(scale=50000)", "1.3.0"),
		],
		"a layer of a WMS is removed, and the front page links to another WMS that has one like it": [
			host(front("/hydro/wms"), W("/ows: woods"), W("/hydro/wms: rivers")),
		],
		"a WMS is gone, and the front page links to its new place with the identifier of a session": [
			host(front("/geo/wms;jsessionid=8F3?service=WMS"), W("/geo/wms: rivers")),
			same(`${maps}/geo/wms`),
		],
		"the WMS of one year is gone, and the front page links to that of an older year": [
			host(front("/2024/wms"), W("/2024/wms: rivers")),
			"nothing",
			{ registered: wmsAt(`${maps}/2025/wms`, "rivers"), before: W("/2025/wms: rivers") },
		],
		"the WMS for English is gone, and the front page links to the one for French with the same texts": [
			host(front("/fr/wms"), W("/fr/wms: rivers")),
			"nothing",
			{ registered: wmsAt(`${maps}/en/wms`, "rivers"), before: W("/en/wms: rivers") },
		],
		"the numbers of the WMS of an ArcGIS server shift by one": [
			W(`${server}: plain@0(title=New), rivers@1, woods@2`),
			same("1"),
			{ registered: wmsAt(maps + server, "0"), before: W(`${server}: rivers@0, woods@1`) },
		],
		...Object.fromEntries(
			["/staging/wms", "/archive/wms", "/test-maps/wms"].map((path) => [
				`a WMS is gone, and the front page links to ${path}`,
				[host(front(path), W(`${path}: rivers`))],
			]),
		),
	}),
	...movesOf(mapserv, {
		"a server with a map in the query answers https only": [
			{ [secure]: mapserv.before },
			same(`${secure}/cgi-bin/mapserv?map=/srv/a.map`),
		],
		"a permanent redirect of a WMS loses the map in its query, and the default map has other layers": [
			{ [maps]: redirect(301, `${other}/mapserv`), [other]: W("/mapserv: woods") },
		],
	}),
];

runMoves([...down, ...siblings, ...ways, ...pictures]);
