import {
	air,
	featureAt,
	lakes,
	type Move,
	maps,
	movesOf,
	only,
	other,
	ows,
	rest,
	rivers,
	roads,
	secure,
	stations,
	to,
	wmsAt,
	woods,
} from "./moves.ts";
import {
	always,
	arcgis,
	arcgisError,
	at,
	host,
	redirect,
	type WmsLayer,
	type WorldLayer,
	wms,
} from "./world.ts";

// Moves after which something is near that is not the layer, or that only some evidence leads to.

const hydro = `${maps}${rest}/Water/Hydro/MapServer`;
const notStarted = arcgisError(500, "Service Water/Hydro/MapServer not started");

const registered = featureAt(`${hydro}/3`);
const copies = { "Water/Hydro/MapServer": [lakes, stations], "Sea/Hydro/MapServer": [lakes, stations] };
const before = only(arcgis(copies));
const known = { registered, before };
const airBefore = only(arcgis({ "Air/MapServer": [lakes, stations] }));
const airLayer = { registered: featureAt(`${air}/3`), before: airBefore };
const withScales = { ...stations, scales: [1_000_000, 0] } as WorldLayer;

/** The place is down, or answers for itself. */
const down = movesOf(known, {
	"a service is not started and still in the list, and another folder has a copy": {
		after: only(host(at(/Water\/Hydro/, notStarted), arcgis(copies))),
	},
	"a service is not started and out of the list, and another folder has a copy": {
		after: only(host(at(/Water\/Hydro/, notStarted), arcgis({ "Sea/Hydro/MapServer": [stations] }))),
	},
	"a service answers 503 and is still in the list, and another folder has a copy": {
		after: only(host(at(/Water\/Hydro/, { status: 503 }), arcgis(copies))),
	},
	"a service answers 404 and is still in the list, and another folder has a copy": {
		after: only(host(at(/Water\/Hydro/, { status: 404 }), arcgis(copies))),
	},
	"a service and the list of its folder fail, and another folder has a copy": {
		after: only(
			host(at(/Water\/Hydro/, { status: 404 }), at(/services\/Water$/, { status: 500 }), arcgis(copies)),
		),
	},
	"a service is gone, and a folder for tests has a copy": {
		before: only(arcgis({ ...copies, "Staging/Hydro/MapServer": [stations] })),
		after: only(arcgis({ "Staging/Hydro/MapServer": [stations] })),
	},
	"http says that a service is not started, and https serves it": {
		after: {
			[maps]: host(at(/Water\/Hydro/, notStarted), arcgis(copies)),
			[secure]: arcgis(copies),
		},
	},
	"a layer answers error 500, and its twin for large scales is as before": {
		registered: airLayer.registered,
		before: only(arcgis({ "Air/MapServer": [stations, { ...withScales, id: 7 }] })),
		after: only(
			host(
				at(/MapServer\/3/, arcgisError(500, "Error performing query")),
				arcgis({ "Air/MapServer": [stations, { ...withScales, id: 7 }] }),
			),
		),
	},
	"a layer answers error 500, and a new one is exactly like it": {
		...airLayer,
		after: only(
			host(
				at(/MapServer\/3/, arcgisError(500, "Error performing query")),
				arcgis({ "Air/MapServer": [stations, { ...stations, id: 7 }] }),
			),
		),
	},
	"a layer is gone, and a new one is drawn at large scales only": {
		...airLayer,
		after: only(arcgis({ "Air/MapServer": [lakes, { ...withScales, id: 7 }] })),
	},
	"a layer for large scales is gone, and a new one is drawn at all scales": {
		registered: airLayer.registered,
		before: only(arcgis({ "Air/MapServer": [withScales] })),
		after: only(arcgis({ "Air/MapServer": [{ ...stations, id: 7 }] })),
		expected: { sure: "perhaps", ...to(`${air}/7`) },
	},
	"a WMS fails, and the host's front page links to another one with the layer": {
		registered: wmsAt(ows, "rivers"),
		before: only(wms("/ows", [rivers, woods])),
		after: only(
			host(
				at(/^\/ows/, { status: 500 }),
				at(/^\/$/, { type: "text/html", body: '<a href="/test/wms">' }),
				wms("/test/wms", [rivers]),
			),
		),
	},
});

const fires = (year: number): WmsLayer => ({
	name: `fire_${year}`,
	title: `Fires of ${year}`,
	abstract: "Where a fire burnt more than ten hectares of forest.",
});
const routes: WmsLayer = { ...rivers, name: "routes" };
const english: WmsLayer = { ...rivers, name: "roads" };
const twins = [stations, { ...stations, id: 7 }];

/** What was beside the layer before. */
const siblings = movesOf(
	{},
	{
		"a layer of a WMS is withdrawn, and last year's stays": {
			registered: wmsAt(ows, "fire_2025"),
			before: only(wms("/ows", [fires(2024), fires(2025)])),
			after: only(wms("/ows", [fires(2024)])),
		},
		"a layer of a WMS is withdrawn, and one of an older year is new": {
			registered: wmsAt(ows, "fire_2025"),
			before: only(wms("/ows", [fires(2025)])),
			after: only(wms("/ows", [fires(2024)])),
		},
		"a layer of a WMS is replaced by that of a new year": {
			registered: wmsAt(ows, "fire_2025"),
			before: only(wms("/ows", [fires(2025)])),
			after: only(wms("/ows", [{ ...fires(2026), title: "Fires of 2025" }])),
			expected: { sure: "perhaps", en: { layer: "fire_2026" }, fr: { layer: "fire_2026" } },
		},
		"a layer of a WMS is withdrawn, and its neighbour of the same title stays": {
			registered: wmsAt(ows, "rivers"),
			before: only(wms("/ows", [rivers, { ...rivers, name: "streams" }])),
			after: only(wms("/ows", [{ ...rivers, name: "streams" }])),
		},
		"a layer is withdrawn, and its twin that was beside it stays": {
			registered: airLayer.registered,
			before: only(arcgis({ "Air/MapServer": twins })),
			after: only(arcgis({ "Air/MapServer": twins.slice(1) })),
		},
		"a layer is withdrawn when its service moves to https, and its twin moves along": {
			registered: airLayer.registered,
			before: only(arcgis({ "Air/MapServer": twins })),
			after: { [secure]: arcgis({ "Air/MapServer": twins.slice(1) }) },
		},
		"a layer of one year gets the number of another year": {
			registered: airLayer.registered,
			before: only(arcgis({ "Air/MapServer": [{ ...stations, name: "Stations 2024" }] })),
			after: only(arcgis({ "Air/MapServer": [{ ...stations, id: 5, name: "Stations 2025" }] })),
			expected: { sure: "perhaps", ...to(`${air}/5`) },
		},
		"the French layer is withdrawn, and the English one has the same title": {
			registered: wmsAt(ows, "roads", "routes"),
			before: only(wms("/ows", [english, routes])),
			after: only(wms("/ows", [english])),
		},
		"a WMS moves without its French layer, and the English one has the same title": {
			registered: wmsAt(ows, "roads", "routes"),
			before: only(wms("/ows", [english, routes])),
			after: {
				[maps]: redirect(301, `${other}/wms`),
				[other]: wms("/wms", [english]),
			},
			expected: { sure: "same", en: { service_url: `${other}/wms` } },
		},
		"two French and English layers of one title become one of a new name": {
			registered: wmsAt(ows, "roads", "routes"),
			before: only(wms("/ows", [english, routes])),
			after: only(wms("/ows", [{ ...english, name: "r1" }])),
		},
	},
);

const moved = arcgis({ "Air/MapServer": [lakes, { ...stations, id: 5, colour: 10 }] });
const link = (href: string) => ({ type: "text/html", body: `<a href="${href}?service=WMS">WMS</a>` });

/** One place by several ways. */
const ways = movesOf(airLayer, {
	"a layer gets another number and other symbols, where http and https both answer": {
		after: { [maps]: moved, [secure]: moved },
		expected: { sure: "perhaps", ...to(`${secure}${rest}/Air/MapServer/5`) },
	},
	"a front page links to http and https of one WMS": {
		registered: wmsAt(ows, "rivers"),
		before: only(wms("/ows", [rivers, woods])),
		after: {
			[maps]: host(
				at(/^\/$/, {
					type: "text/html",
					body: `<a href="/geo/wms"> <a href="${secure}/geo/wms">`,
				}),
				wms("/geo/wms", [rivers]),
			),
			[secure]: wms("/geo/wms", [rivers]),
		},
		expected: { sure: "same", ...to(`${secure}/geo/wms`) },
	},
	"a front page redirects, and has a relative link to its WMS": {
		registered: wmsAt(ows, "rivers"),
		before: only(wms("/ows", [rivers, woods])),
		after: only(
			host(
				at(/^\/$/, { status: 302, location: "/geoserver/web/" }),
				at(/^\/geoserver\/web\/$/, link("../wms")),
				wms("/geoserver/wms", [rivers]),
			),
		),
		expected: { sure: "same", ...to(`${maps}/geoserver/wms`) },
	},
});

const folders = Object.fromEntries(
	Array.from({ length: 40 }, (_, number) => [`Folder${number}/Other/MapServer`, [roads]]),
);
const fire = `${maps}${rest}/Fire_2025/MapServer`;

/** Moves for which something can be proposed. */
const possible = movesOf(airLayer, {
	"an ArcGIS server gets another path": {
		after: only(arcgis({ "Air/MapServer": [lakes, stations] }, "/server/rest/services")),
		expected: { sure: "same", ...to(`${maps}/server/rest/services/Air/MapServer/3`) },
	},
	"a server that still answers redirects to https for good": {
		isWell: true,
		after: {
			[maps]: redirect(301, `${secure}{path}{query}`),
			[secure]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${secure}${rest}/Air/MapServer/3`) },
	},
	"a permanent redirect leads to a place where the layer was created again, which viewers see already": {
		isWell: true,
		after: {
			[maps]: redirect(301, `${other}{path}{query}`),
			[other]: arcgis({ "Air/MapServer": [lakes, { ...stations, extent: [10, 45, 20, 50] }] }),
		},
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"a WMS that still answers redirects to another host for good": {
		registered: wmsAt(ows, "rivers"),
		before: only(wms("/ows", [rivers, woods])),
		isWell: true,
		after: {
			[maps]: redirect(308, `${other}/wms{query}`),
			[other]: wms("/wms", [rivers, woods]),
		},
		expected: { sure: "same", ...to(`${other}/wms`) },
	},
	"http redirects to https, and that to another host, both for good": {
		after: {
			[maps]: redirect(301, `${secure}{path}`),
			[secure]: redirect(301, `${other}{path}`),
			[other]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"http is off, and https redirects to another host for good": {
		after: {
			[secure]: redirect(301, `${other}{path}`),
			[other]: arcgis({ "Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"a service is split in two": {
		after: only(
			arcgis({ "Air_Stations/MapServer": [{ ...stations, id: 0 }], "Air_Lakes/MapServer": [lakes] }),
		),
		expected: { sure: "perhaps", ...to(`${maps}${rest}/Air_Stations/MapServer/0`) },
	},
	"a service is gone, and one of a longer name was there before": {
		registered: airLayer.registered,
		before: only(arcgis({ "Air/MapServer": [stations], "Air_Archive/MapServer": [stations] })),
		after: only(arcgis({ "Air_Archive/MapServer": [stations] })),
	},
	"a service gets the name of a new year": {
		registered: featureAt(`${fire}/3`),
		before: only(arcgis({ "Fire_2025/MapServer": [stations] })),
		after: only(arcgis({ "Fire_2026/MapServer": [stations] })),
		expected: { sure: "perhaps", ...to(`${maps}${rest}/Fire_2026/MapServer/3`) },
	},
	"a service is withdrawn, and that of the new year was there before": {
		registered: featureAt(`${fire}/3`),
		before: only(arcgis({ "Fire_2025/MapServer": [stations], "Fire_2026/MapServer": [stations] })),
		after: only(arcgis({ "Fire_2026/MapServer": [stations] })),
	},
	"a service is withdrawn, and that of an older year is new": {
		registered: featureAt(`${fire}/3`),
		before: only(arcgis({ "Fire_2025/MapServer": [stations] })),
		after: only(arcgis({ "Fire_2024/MapServer": [stations] })),
	},
	"a layer became empty, and a new one of its name has the features": {
		after: only(
			arcgis({
				"Air/MapServer": [
					{ ...stations, features: 0 },
					{ ...stations, id: 5 },
				],
			}),
		),
		expected: { sure: "perhaps", ...to(`${air}/5`) },
	},
	"a layer became empty, and one of its name was there before": {
		registered: airLayer.registered,
		before: only(arcgis({ "Air/MapServer": twins })),
		after: only(arcgis({ "Air/MapServer": [{ ...stations, features: 0 }, ...twins.slice(1)] })),
	},
	"a FeatureServer is gone, and the MapServer of its name stays": {
		registered: featureAt(`${maps}${rest}/Air/FeatureServer/3`),
		before: only(arcgis({ "Air/FeatureServer": [stations], "Air/MapServer": [stations] })),
		after: only(arcgis({ "Air/MapServer": [stations] })),
		expected: { sure: "perhaps", ...to(`${air}/3`) },
	},
	"a service moves into the last of many folders": {
		maxRequests: 80,
		after: only(arcgis({ ...folders, "Last/Air/MapServer": [stations] })),
		expected: { sure: "same", ...to(`${maps}${rest}/Last/Air/MapServer/3`) },
	},
	"everything that was not moved is a page that says so": { after: only(always({ status: 410 })) },
});

export const nearMoves: readonly Move[] = [...down, ...siblings, ...ways, ...possible];
