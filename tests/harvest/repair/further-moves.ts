import {
	featureAt,
	lakes,
	type Move,
	maps,
	movesOf,
	only,
	other,
	rest,
	roads,
	secure,
	stations,
	to,
} from "./moves.ts";
import {
	always,
	arcgis,
	arcgisError,
	at,
	type Host,
	host,
	page,
	redirect,
	type WorldLayer,
} from "./world.ts";

// Further moves of ArcGIS services, thought of after the code was written.

const services = `${maps}${rest}`;
const airLayer = {
	registered: featureAt(`${services}/Air/MapServer/3`),
	before: only(arcgis({ "Air/MapServer": [lakes, stations] })),
};
const inFolders = (...folders: string[]) =>
	only(arcgis(Object.fromEntries(folders.map((folder) => [`${folder}/Hydro/MapServer`, [lakes, stations]]))));
const hydro = featureAt(`${services}/Water/Hydro/MapServer/3`);

/** A copy or a relative that was there before, or that is made for something else. */
const copies: Move[] = [
	...movesOf(airLayer, {
		"a layer is withdrawn from a service that stays, and a service of that name elsewhere has it as before": {
			registered: hydro,
			before: inFolders("Water", "Sea"),
			after: only(arcgis({ "Water/Hydro/MapServer": [lakes], "Sea/Hydro/MapServer": [lakes, stations] })),
		},
		"a service lists no layers while it starts, and another folder has a copy": {
			registered: hydro,
			before: inFolders("Water", "Sea"),
			after: only(arcgis({ "Water/Hydro/MapServer": [], "Sea/Hydro/MapServer": [stations] })),
		},
		"a service is gone, and a folder that was there before has one of that name": {
			registered: hydro,
			before: inFolders("Water", "Sea"),
			after: inFolders("Sea"),
			expected: { sure: "perhaps", ...to(`${services}/Sea/Hydro/MapServer/3`) },
		},
		"a service is renamed to say that it is old": {
			after: only(arcgis({ "Air_old/MapServer": [lakes, stations] })),
		},
		"the service of one year is gone, and the same one is in the folder of another year": {
			registered: featureAt(`${services}/Fires2025/Burnt/MapServer/3`),
			before: only(
				arcgis({ "Fires2025/Burnt/MapServer": [stations], "Fires2024/Burnt/MapServer": [stations] }),
			),
			after: only(arcgis({ "Fires2024/Burnt/MapServer": [stations] })),
		},
		"the service of one year is gone, and the same one is in the new folder of the next year": {
			registered: featureAt(`${services}/Fires2025/Burnt/MapServer/3`),
			before: only(arcgis({ "Fires2025/Burnt/MapServer": [stations] })),
			after: only(arcgis({ "Fires2026/Burnt/MapServer": [stations] })),
			expected: { sure: "perhaps", ...to(`${services}/Fires2026/Burnt/MapServer/3`) },
		},
		"a server redirects one year to the next for good": {
			registered: featureAt(`${services}/Fires2025/MapServer/3`),
			before: only(arcgis({ "Fires2025/MapServer": [stations] })),
			after: only(
				host(
					at(/Fires2025/, { status: 301, location: `${services}/Fires2026/MapServer/3` }),
					arcgis({ "Fires2026/MapServer": [stations] }),
				),
			),
			expected: { sure: "perhaps", ...to(`${services}/Fires2026/MapServer/3`) },
		},
		"a layer is withdrawn, and a new one has a title with another year in other words": {
			registered: featureAt(`${services}/Air/MapServer/3`),
			before: only(arcgis({ "Air/MapServer": [{ ...stations, name: "Stations of 2025" }] })),
			after: only(arcgis({ "Air/MapServer": [{ ...stations, id: 5, name: "2024 Stations" }] })),
		},
		"the English folder is gone, and the French one has the same untranslated layers": {
			registered: featureAt(`${services}/en/Air/MapServer/3`),
			before: only(arcgis({ "en/Air/MapServer": [stations], "fr/Air/MapServer": [stations] })),
			after: only(arcgis({ "fr/Air/MapServer": [stations] })),
		},
		"a service for both languages is gone, and a new one for English has its layers": {
			after: only(arcgis({ "Air_en/MapServer": [lakes, stations] })),
		},
		"layers for English and French lose their service, and one of their names is new": {
			registered: featureAt(`${services}/Air/MapServer/3`, `${services}/Air/MapServer/4`),
			before: only(arcgis({ "Air/MapServer": [stations, { ...stations, id: 4 }] })),
			after: only(arcgis({ "Air_2/MapServer": [{ ...stations, id: 0 }] })),
		},
		"a layer became empty, and a new one of its name is drawn at large scales only": {
			after: only(
				arcgis({
					"Air/MapServer": [
						{ ...stations, features: 0 },
						{ ...stations, id: 5, scales: [50_000, 0] },
					],
				}),
			),
		},
	}),
	...["Preprod", "Archive2024", "TestServices", "OldData", "DEV2", "Acceptance", "Essais", "Formation"].map(
		(folder): Move => ({
			name: `a service is gone, and the folder ${folder} has a copy`,
			registered: hydro,
			before: inFolders("Water", folder),
			after: inFolders(folder),
			expected: "nothing",
		}),
	),
];

/** The place answers, or says that something else is wrong. */
const here = movesOf(airLayer, {
	"a layer has lost the field that is registered for display, and another folder has a copy with it": {
		registered: {
			...airLayer.registered,
			en: { service_url: `${services}/Air/MapServer/3`, display_field: "NAME" },
			fr: { service_url: `${services}/Air/MapServer/3`, display_field: "NAME" },
		} as Move["registered"],
		before: airLayer.before,
		after: only(
			arcgis({
				"Air/MapServer": [{ ...stations, fields: ["OBJECTID", "CLASS", "KIND", "OPENED"] }],
				"New/Air/MapServer": [stations],
			}),
		),
	},
	"a service wants a sign-in and is out of the public list, and another folder has its layers": {
		after: only(
			host(
				at(/services\/Air/, arcgisError(499, "Token Required")),
				arcgis({ "Open/Air/MapServer": [stations] }),
			),
		),
	},
	"an address in other letters is down, and the list has the service in its own": {
		registered: featureAt(`${services}/AIR/mapserver/3`),
		before: only(host(at(/none/, {}), (url) => arcgis({ "AIR/mapserver": [stations] })(url))),
		after: only(
			host(
				at(/services\/AIR/, { status: 404 }),
				arcgis({ "Air/MapServer": [lakes], "New/AIR/mapserver": [stations] }),
			),
		),
	},
	"a service of a folder with an accent is not started and still in the list": {
		registered: featureAt(`${services}/Qualit%C3%A9/Air/MapServer/3`),
		before: only(decoded(arcgis({ "Qualité/Air/MapServer": [stations] }))),
		after: only(
			decoded(
				host(
					at(/Qualité\/Air/, { status: 404 }),
					arcgis({ "Qualité/Air/MapServer": [stations], "Air/Air/MapServer": [stations] }),
				),
			),
		),
	},
	"the whole host is in maintenance with status 404, and https has a page": {
		after: { [maps]: always({ status: 404 }), [secure]: always(page) },
	},
	"the number belongs to a group now, and the layer is in the group": {
		after: only(
			arcgis({
				"Air/MapServer": [
					{ ...stations, type: "Group Layer" },
					{ ...stations, id: 4 },
				],
			}),
		),
		expected: { sure: "same", ...to(`${services}/Air/MapServer/4`) },
	},
});

const moved = (more: Partial<WorldLayer> = {}) =>
	arcgis({ "Air/MapServer": [lakes, { ...stations, ...more }] });

/** Redirects. */
const redirects = movesOf(airLayer, {
	"a permanent redirect of everything leads to the front page of a new server": {
		after: { [maps]: redirect(301, `${other}/`), [other]: host(at(/^\/$/, page), moved()) },
	},
	"a permanent redirect drops the number of the layer": {
		after: { [maps]: redirect(301, `${other}${rest}/Air/MapServer`), [other]: moved({ id: 8 }) },
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/8`) },
	},
	"a permanent redirect leads to another layer of the same name far away": {
		after: { [maps]: redirect(301, `${other}{path}`), [other]: moved({ extent: [10, 45, 20, 50] }) },
	},
	"a permanent redirect adds a token": {
		after: { [maps]: redirect(301, `${other}{path}?token=secret`), [other]: moved() },
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"a permanent redirect leads to an address with a password": {
		after: { [maps]: redirect(301, "https://user:secret@geo.example.org{path}"), [other]: moved() },
	},
	"a working layer is redirected for good to a twin for large scales, which viewers see already": {
		isWell: true,
		after: { [maps]: redirect(301, `${other}{path}{query}`), [other]: moved({ scales: [50_000, 0] }) },
		expected: { sure: "same", ...to(`${other}${rest}/Air/MapServer/3`) },
	},
	"everything is redirected for good to one layer of another service": {
		after: {
			[maps]: redirect(301, `${other}${rest}/Roads/MapServer/5`),
			[other]: arcgis({ "Roads/MapServer": [roads, { ...lakes, id: 3 }] }),
		},
	},
	"http redirects to https for good, where the service is in another folder": {
		after: {
			[maps]: redirect(301, `${secure}{path}{query}`),
			[secure]: arcgis({ "Environment/Air/MapServer": [lakes, stations] }),
		},
		expected: { sure: "same", ...to(`${secure}${rest}/Environment/Air/MapServer/3`) },
	},
});

/** A server that compares decoded paths, as ArcGIS does. */
function decoded(part: Host): Host {
	return (url) =>
		part({ pathname: decodeURI(url.pathname), search: url.search, searchParams: url.searchParams } as URL);
}

export const furtherMoves: readonly Move[] = [...copies, ...here, ...redirects];
