import {
	type Move,
	maps,
	movesOf,
	named,
	only,
	other,
	ows,
	rivers,
	secure,
	to,
	wmsAt,
	woods,
} from "./moves.ts";
import { at, type Host, host, redirect, type WmsLayer, wms } from "./world.ts";

// Further moves of WMS, of versions 1.1.1 and 1.3.0, thought of after the code was written.

const river = { registered: wmsAt(ows, "rivers"), before: only(wms("/ows", [rivers, woods])) };
const newer = (...layers: WmsLayer[]) => only(wms("/ows", layers, "1.3.0"));
const front = (...links: string[]): Host =>
	at(/^\/$/, { type: "text/html", body: links.map((link) => `<a href="${link}">WMS</a>`).join(" ") });
const world = [-180, -90, 180, 90] as [number, number, number, number];

export const furtherWmsMoves: readonly Move[] = [
	...movesOf(river, {
		"a WMS answers in version 1.3.0 only, and renames its layers": {
			after: newer({ ...rivers, name: "hydro:rivers" }, woods),
			expected: { sure: "same", ...named("hydro:rivers") },
		},
		"a WMS 1.3.0 has nothing but titles and the whole world, and another layer has the same title": {
			registered: wmsAt(ows, "a"),
			before: newer({ name: "a", title: "Layer", box: world }),
			after: newer({ name: "b", title: "Layer", box: world }),
			expected: { sure: "perhaps", ...named("b") },
		},
		"a layer of a WMS is withdrawn, and a new one of the same texts is drawn at large scales only": {
			after: only(wms("/ows", [{ ...rivers, name: "rivers_large", maxDenominator: 50_000 }])),
		},
		"a layer of a WMS 1.3.0 is withdrawn, and a new one of the same texts is drawn at large scales only": {
			after: newer({ ...rivers, name: "rivers_large", maxDenominator: 50_000 }),
		},
		"a layer of a WMS fails under a new title, and a new layer has its old one": {
			after: only(
				host(
					(url) => (/GetMap/i.test(url.search) && /rivers(?!_)/.test(url.search) ? { status: 500 } : null),
					wms("/ows", [
						{ ...rivers, title: "Rivers and streams" },
						{ ...rivers, name: "rivers_b" },
					]),
				),
			),
		},
		"a layer of a WMS is withdrawn, and the front page links to another WMS that has one like it": {
			after: only(host(front("/hydro/wms"), wms("/ows", [woods]), wms("/hydro/wms", [rivers]))),
		},
		"a WMS is gone, and the front page links to its new place with the identifier of a session": {
			after: only(host(front("/geo/wms;jsessionid=8F3?service=WMS"), wms("/geo/wms", [rivers]))),
			expected: { sure: "same", ...to(`${maps}/geo/wms`) },
		},
		"the WMS of one year is gone, and the front page links to that of an older year": {
			registered: wmsAt(`${maps}/2025/wms`, "rivers"),
			before: only(wms("/2025/wms", [rivers])),
			after: only(host(front("/2024/wms"), wms("/2024/wms", [rivers]))),
		},
		"the WMS for English is gone, and the front page links to the one for French with the same texts": {
			registered: wmsAt(`${maps}/en/wms`, "rivers"),
			before: only(wms("/en/wms", [rivers])),
			after: only(host(front("/fr/wms"), wms("/fr/wms", [rivers]))),
		},
		"the English layer of a WMS is withdrawn, and a new French one has the same texts": {
			registered: wmsAt(ows, "rivers_en"),
			before: only(wms("/ows", [{ ...rivers, name: "rivers_en" }])),
			after: only(wms("/ows", [{ ...rivers, name: "rivers_fr" }])),
		},
		"a server with a map in the query answers https only": {
			registered: wmsAt(`${maps}/cgi-bin/mapserv?map=/srv/a.map`, "rivers"),
			before: only(wms("/cgi-bin/mapserv", [rivers])),
			after: { [secure]: wms("/cgi-bin/mapserv", [rivers]) },
			expected: { sure: "same", ...to(`${secure}/cgi-bin/mapserv?map=/srv/a.map`) },
		},
		"a permanent redirect of a WMS loses the map in its query, and the default map has other layers": {
			registered: wmsAt(`${maps}/cgi-bin/mapserv?map=/srv/a.map`, "rivers"),
			before: only(wms("/cgi-bin/mapserv", [rivers])),
			after: { [maps]: redirect(301, `${other}/mapserv`), [other]: wms("/mapserv", [woods]) },
		},
		"the numbers of the WMS of an ArcGIS server shift by one": {
			registered: wmsAt(`${maps}/arcgis/services/Air/MapServer/WMSServer`, "0"),
			before: only(
				wms("/arcgis/services/Air/MapServer/WMSServer", [
					{ ...rivers, name: "0" },
					{ ...woods, name: "1" },
				]),
			),
			after: only(
				wms("/arcgis/services/Air/MapServer/WMSServer", [
					{ name: "0", title: "New" },
					{ ...rivers, name: "1" },
					{ ...woods, name: "2" },
				]),
			),
			expected: { sure: "same", ...named("1") },
		},
	}),
	...["/staging/wms", "/archive/wms", "/test-maps/wms"].map(
		(path): Move => ({
			name: `a WMS is gone, and the front page links to ${path}`,
			...{ ...river, after: only(host(front(path), wms(path, [rivers]))) },
			expected: "nothing",
		}),
	),
];
