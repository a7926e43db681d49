import { A, featureAt, maps, movesOf, other, ows, perhaps, rest, same, W, wmsAt } from "./move.ts";
import { runMoves } from "./run-moves.ts";
import { arcgisError, at, type Host, host, page, redirect } from "./world.ts";

// Moves after which something near is not the layer, or only some evidence leads to it.

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
		"a layer is removed, and a service of the same name elsewhere has it as before": [
			A("Water/Hydro: lakes | Sea/Hydro: lakes, stations"),
		],
		"a service is gone, and an older folder has one of that name": [
			A("Sea/Hydro: lakes, stations"),
			perhaps("Sea/Hydro/MapServer/3"),
		],
		"a service is gone, and the folder of an archive has a copy": [
			A("Archive2024/Hydro: lakes, stations"),
			"nothing",
			{ before: A(`${copies} | Archive2024/Hydro: stations`) },
		],
	}),
	...movesOf(air, {
		"a layer fails, and a new one is exactly like it": [host(failing3, A(`Air: ${twins}`))],
		"a layer is gone, and a new one is drawn at large scales only": [A(`Air: lakes, ${large}`)],
		"a layer for large scales is gone, and a new one is drawn at all scales": [
			A("Air: stations#7"),
			perhaps("Air/MapServer/7"),
			{ before: A("Air: stations(scale=1000000)") },
		],
		"a service wants a sign-in, and another folder has its layers": [
			host(at(/services.Air/, arcgisError(499, "Token Required")), A("Open/Air: stations")),
		],
	}),
	...movesOf(river, {
		"a WMS fails, and the front page links to another one with the layer": [
			host(at(/^.ows/, { status: 500 }), front("/test/wms"), W("/test/wms: rivers")),
		],
		"a layer fails under a new title, and a new layer has its old one": [
			host(
				(url) => (/GetMap/i.test(url.search) && /rivers(?!_)/.test(url.search) ? { status: 500 } : null),
				W("/ows: rivers(title=Rivers and streams), rivers@rivers_b"),
			),
		],
	}),
];

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

const siblings = [
	...movesOf(fire, {
		"a layer of a WMS is removed, and one of an older year is new": [W(`/ows: ${fires(2024)}`)],
	}),
	...movesOf(river, {
		"a layer is removed, and its neighbour of the same title stays": [
			W("/ows: rivers@streams"),
			"nothing",
			{ before: W("/ows: rivers, rivers@streams") },
		],
		"the English layer is removed, and a new French one has the same texts": [
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
	}),
	...movesOf(air, {
		"a layer is removed, and its twin that was beside it stays": [
			A("Air: stations#7"),
			"nothing",
			{ before: A(`Air: ${twins}`) },
		],
		"a layer of one year gets the number of another year": [
			A("Air: stations#5(name=Stations 2025)"),
			perhaps("Air/MapServer/5"),
			{ before: A("Air: stations(name=Stations 2024)") },
		],
		"a layer is removed, and a new one has another year in other words": [
			A("Air: stations#5(name=2024 Stations)"),
			"nothing",
			{ before: A("Air: stations(name=Stations of 2025)") },
		],
		"a service is renamed to say that it is old": [A("Air_old: lakes, stations")],
		"a service is gone, and a new one for English has its layers": [A("Air_en: lakes, stations")],
	}),
	...movesOf(fires2025, {
		"a service gets the name of a new year": [A("Fire_2026: stations"), perhaps("Fire_2026/MapServer/3")],
		"a service is removed, and that of the new year was there before": [
			A("Fire_2026: stations"),
			"nothing",
			{ before: A("Fire_2025: stations | Fire_2026: stations") },
		],
		"a service is removed, and that of an older year is new": [A("Fire_2024: stations")],
	}),
	...movesOf(burnt, {
		"a service is gone, and the folder of another year has the same one": [
			A("Fires2024/Burnt: stations"),
			"nothing",
			{ before: A("Fires2025/Burnt: stations | Fires2024/Burnt: stations") },
		],
	}),
];

const toOther = (to: string, part: Host) => ({ [maps]: redirect(301, to), [other]: part });

/** One place by several ways, redirects, and other paths of an ArcGIS server. */
const ways = movesOf(air, {
	"an ArcGIS server gets another path": [
		A("Air: lakes, stations", "/server/rest/services"),
		same(`${maps}/server/rest/services/Air/MapServer/3`),
	],
	"a working layer is redirected permanently to a twin for large scales": [
		toOther(`${other}{path}{query}`, A("Air: lakes, stations(scale=50000)")),
		same(on(other)),
		{ isWell: true },
	],
	"a permanent redirect of everything leads to a front page": [
		toOther(`${other}/`, host(at(/^.$/, page), air.before)),
	],
	"a permanent redirect adds a token": [toOther(`${other}{path}?token=secret`, air.before), same(on(other))],
	"a permanent redirect leads to an address with a password": [
		toOther("https://user:secret@geo.example.org{path}", air.before),
	],
});

const mapserv = {
	registered: wmsAt(`${maps}/cgi-bin/mapserv?map=/srv/a.map`, "rivers"),
	before: W("/cgi-bin/mapserv: rivers"),
};
const pictures = [
	...movesOf(river, {
		"a WMS that still answers redirects to another host permanently": [
			{ [maps]: redirect(308, `${other}/wms{query}`), [other]: W("/wms: rivers, woods") },
			same(`${other}/wms`),
			{ isWell: true },
		],
		"a layer is removed, and a new one is drawn at large scales only": [
			W("/ows: rivers@rivers_large(scale=50000)"),
		],
		"a layer is removed, and the front page links to a WMS that has one like it": [
			host(front("/hydro/wms"), W("/ows: woods"), W("/hydro/wms: rivers")),
		],
	}),
	...movesOf(mapserv, {
		"a permanent redirect of a WMS loses the map in its query": [
			{ [maps]: redirect(301, `${other}/mapserv`), [other]: W("/mapserv: woods") },
		],
	}),
];

runMoves([...down, ...siblings, ...ways, ...pictures]);
