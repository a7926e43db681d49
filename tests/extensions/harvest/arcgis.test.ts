import * as assert from "uvu/assert";
import { projectExtent } from "../../../extensions/harvest/arcgis/area.ts";
import { genericImageOf, symbolImage } from "../../../extensions/harvest/arcgis/symbol.ts";
import { descriptionText, isDescribed } from "../../../extensions/harvest/description.ts";
import {
	type Drawing,
	type FeatureDescription,
	parseDescription,
	type Renderer,
} from "../../../registry/description.ts";
import { renderAt } from "../../../registry/targets/table.ts";
import { test } from "../../helpers/suite.ts";
import { assertAccepted, factsOf, featureAt, nodeOf, renderV09 } from "../../viewer/viewer.ts";
import {
	entry,
	featureLayer,
	layerDocument,
	layerRoutes,
	legend,
	mapLayer,
	marker,
} from "./arcgis-server.ts";
import { harvestFrom, host, json, memoryHost, nodeAt, type Route } from "./memory.ts";
import { pngUri } from "./peer.ts";

const service = mapLayer.replace("/3", "");
type Answers = Parameters<typeof layerRoutes>[0];

const serve = (answers?: Answers) => memoryHost(layerRoutes(answers));

/** @returns also the description of the layer in English, whose fragment the viewer accepts */
async function harvest(answers?: Answers, stored: string | null = null, path = mapLayer) {
	const registration = featureAt(host + path);
	const result = await harvestFrom(registration, serve(answers), stored);
	assertAccepted(renderV09("en", "odd", registration, result.description));
	return { layer: result.description?.en as FeatureDescription, ...result };
}

const changed = (more: object) => json(layerDocument(more));
const rendered = (renderer: unknown, more: object = {}) => changed({ drawingInfo: { renderer }, ...more });

/** Entries in words: each a label, and the mark of its picture. */
const legendOf = (words: string) =>
	json(
		legend(
			...words.split(", ").flatMap((word) => {
				const [, label = "", mark] = /^(.*) (\d+)$/.exec(word) ?? [];
				return mark === undefined ? [] : [entry(label, Number(mark))];
			}),
		),
	);

const inBoth = (finding: string) => {
	const [, state, text] = /^(\w+): (.*)$/.exec(finding) ?? [];
	return ["en", "fr"].map((lang) => [state, `/${lang}/service_url`, text]);
};

type Unique = Extract<Renderer, { type: "unique" }>;

/** The mark of a png of the tests, or the red of a drawing. */
function imageOf({ image }: Drawing) {
	const [, type, data = ""] = /^data:image\/(png|svg\+xml);base64,(.*)$/.exec(image) ?? [];
	const bytes = Buffer.from(data, "base64");
	return type === "png" ? `png ${bytes.at(-1)}` : `drawn ${/rgb\((\d+)/.exec(String(bytes))?.[1]}`;
}

test("a layer has its name, fields, symbol, scales, count and extent", async () => {
	const description = "<div style='x'>Hourly&nbsp;ozone,<br>in ppb</div>";
	const { layer, findings } = await harvest({ layer: changed({ description }) });
	const { name, display_field, min_scale, count, fields, renderer, bounds, abstract } = layer;
	assert.equal([name, display_field, min_scale, count], ["Stations", "NAME", 4000000, 12]);
	assert.equal(fields[2], { name: "NAME", alias: "Station name", type: "esriFieldTypeString" });
	assert.equal(renderer, { type: "simple", label: "Station", image: pngUri(1) });
	assert.equal([bounds, abstract], [[-123, 45.4215, -60, 70], "Hourly ozone, in ppb"]);
	assert.equal(findings, []);
});

const other = { defaultSymbol: marker(9), defaultLabel: "Other" };
const classed = (...values: unknown[]) =>
	values.map((value) => ({ value, classMaxValue: value, label: `${value}`, symbol: marker(1) }));
const byValue = (infos: object[], more: object = {}) => ({
	type: "uniqueValue",
	field1: "KIND",
	uniqueValueInfos: infos,
	...more,
});
const byRange = (more: object = {}, ...ends: number[]) => ({
	type: "classBreaks",
	field: "CLASS",
	classBreakInfos: classed(...ends),
	...more,
});
const arcade = { field: null, field1: null, valueExpression: "$feature.CLASS * 2" };
const computed = byValue(classed("a", "b"), arcade);
const of2 = (fieldDelimiter: string) => ({ field2: "CLASS", fieldDelimiter });

test("each class has its image of the legend, by position, value or label, else its symbol's", async () => {
	const valued = json(legend(entry("same", 7, { values: ["a", "b", "c"] })));
	const rows: [labels: string, legend: Route, images: string, more?: object][] = [
		["A B", legendOf("A 1"), "png 1, drawn 98"],
		["A B", legendOf("B 2, A 1"), "png 1, png 2"],
		["A B C", legendOf("B 2, stray 9, C 3"), "drawn 97, png 2, png 3"],
		["same same same", legendOf("same 1, same 2, same 3"), "png 1, png 2, png 3"],
		["same same same", valued, "png 7, png 7, png 7"],
		["", legendOf("Other 9,  1"), "png 1, png 9", other],
		["A", legendOf(""), "drawn 97, drawn 9", other],
	];
	for (const [labels, images, expected, more = {}] of rows) {
		const infos = labels
			.split(" ")
			.map((label, at) => ({ value: "abc"[at], label, symbol: marker(97 + at) }));
		const { layer } = await harvest({ layer: rendered(byValue(infos, more)), legend: images });
		const { classes, default: otherwise } = layer.renderer as Unique;
		const drawings = [...classes, ...(otherwise ? [otherwise] : [])];
		assert.is(drawings.map(imageOf).join(", "), expected, labels);
	}
	const classOf = (label: string, ...values: unknown[]) => ({ label, values, symbol: marker(7) });
	const groups = {
		...byValue([], of2(";")),
		uniqueValueGroups: [
			{ classes: [classOf("Good", ["a", "1"], ["b", null]), classOf("Fair", ["c", "<Null>"])] },
			{ classes: [classOf("Good", ["d", "1"])] },
		],
	};
	const images = legendOf("Good 1, Fair 2, Good 3");
	const { layer } = await harvest({ layer: rendered(groups), legend: images });
	const shown = (layer.renderer as Unique).classes.map((symbol) => `${symbol.value}: ${imageOf(symbol)}`);
	assert.equal(shown, ["a, 1: png 1", "b, null: png 1", "c, null: png 2", "d, 1: png 3"]);
});

test("one picture: of the only entry of the legend, else of a symbol, else a generic one", async () => {
	const [symbol, none] = [marker(7), json({ layers: null })];
	const picture = { type: "esriPMS", contentType: "image/png", imageData: pngUri(5).split(",")[1] };
	const [simple, two] = [{ type: "simple", symbol }, legendOf("few 1, many 2")];
	const rows: [renderer: unknown, legend: Route, image: string, path?: string][] = [
		[simple, legendOf("Station 2"), "png 2"],
		[simple, json({ layers: [{ layerId: 0, legend: [entry("Station", 99)] }] }), "drawn 7"],
		[simple, two, "drawn 7"],
		[{ type: "simple", symbol: picture }, none, "png 5", featureLayer],
		...[{ contentType: "image/svg+xml" }, { imageData: "PHNjcmlwdD4=<script>" }].map(
			(wrong): (typeof rows)[number] => [simple, json(legend(entry("x", 1, wrong))), "drawn 7"],
		),
		[null, none, "drawn 136"],
		[{ type: "heatmap" }, two, "drawn 136"],
		[{ type: "pieChart", defaultSymbol: symbol }, two, "drawn 7"],
		[computed, two, "drawn 136"],
		[computed, legendOf("all 4"), "png 4"],
		[{ ...computed, ...other }, legendOf("a 1, b 2, Other 3"), "png 3"],
	];
	for (const [renderer, images, image, path] of rows) {
		const { layer, findings } = await harvest({ layer: rendered(renderer), legend: images }, null, path);
		const { type } = layer.renderer;
		const drawn = [type, imageOf(layer.renderer as Drawing), findings];
		assert.equal(drawn, ["simple", image, []], JSON.stringify(renderer));
	}
});

const classA = { label: "A", symbol: marker(1), values: [["a"], ["b"]] };
const startingAt = (...starts: number[]) =>
	classed(20, 10).map((info, at) => ({ ...info, classMinValue: starts[at] }));

/** A renderer, and what it becomes: the type, and the values of the classes. */
const renderers: [renderer: object, expected: string][] = [
	[byValue(classed("a", "b"), { valueExpression: "" }), 'KIND "a" "b"'],
	[byValue(classed("1", "2.5", "-3", "", "many"), { field1: "class" }), 'CLASS 1 2.5 -3 "" "many"'],
	[byValue(classed("a;1", "b;2"), of2(";")), 'KIND,CLASS "a, 1" "b, 2"'],
	[byValue(classed("a, 1", "b, 2"), of2(",")), 'KIND,CLASS "a, 1" "b, 2"'],
	[byValue(classed(" , ", "Yes,No"), of2(",")), 'KIND,CLASS " ,  " "Yes, No"'],
	[byValue(classed("a, <Null>", "<Null>, <Null>"), of2(", ")), 'KIND,CLASS "a, null" "null, null"'],
	[byValue(classed("a", "<Null>")), 'KIND "a" null'],
	[byValue([], { uniqueValueGroups: [{ classes: [classA] }] }), 'KIND "a" "b"'],
	[byValue([], other), "simple default"],
	[byValue([]), "simple grey"],
	[{ ...computed, field1: "KIND", ...other }, "simple default"],
	[byRange({ minValue: 0, normalizationType: "esriNormalizeNone" }, 20, 10), "CLASS 0 10 20"],
	[byRange({ classBreakInfos: startingAt(10, 5) }), "CLASS 5 10 20"],
	[byRange({}, 10, 20), "CLASS lowest 10 20"],
	[byRange({ ...arcade, minValue: 0 }, 10, 20), "simple grey"],
	[byRange({ normalizationType: "esriNormalizeByLog" }, 10), "simple grey"],
	[byRange({ normalizationField: "OBJECTID", ...other }, 10), "simple default"],
];

/** In the words of these rows. */
function rendererText(renderer: Renderer) {
	const colourOf = (drawing: Drawing) =>
		({ 136: "grey", 9: "default", 1: "red" })[imageOf(drawing).replace("drawn ", "")];
	if (renderer.type === "simple") return `simple ${colourOf(renderer)}`;
	for (const drawing of renderer.classes) assert.is(colourOf(drawing), "red");
	if (renderer.type === "unique")
		return [renderer.fields, ...renderer.classes.map(({ value }) => JSON.stringify(value))].join(" ");
	const { field, min, classes } = renderer;
	return [field, min === -Number.MAX_VALUE ? "lowest" : min, ...classes.map(({ max }) => max)].join(" ");
}

test("what each renderer becomes", async () => {
	for (const [renderer, expected] of renderers) {
		const { layer, findings } = await harvest({ layer: rendered(renderer) }, null, featureLayer);
		assert.equal([rendererText(layer.renderer), findings], [expected, []], JSON.stringify(renderer));
	}
});

test("a field is found without case, and served as the features have it", async () => {
	for (const [displayField, display_field, expected] of [
		["name", undefined, "NAME"],
		["gone", undefined, "NAME"],
		["KIND", "class", "CLASS"],
	] as const) {
		const registration = featureAt(host + mapLayer, display_field ? { display_field } : {});
		const { description } = await harvestFrom(registration, serve({ layer: changed({ displayField }) }));
		const facts = factsOf("en", "odd", registration, description);
		const { nameField } = nodeOf(renderAt("v0.9", facts) ?? "");
		assert.equal([nameField, JSON.parse(renderAt("ramp4", facts) ?? "").nameField], [expected, expected]);
	}
});

const error = (code: unknown, message = "No") => json({ error: { code, message, details: [] } });

test("no feature layer is wrong, a server in trouble is down; what was known stays", async () => {
	const { text: good } = await harvest();
	const noLayer = "wrong: does not answer as ArcGIS does";
	for (const [layer, finding] of [
		[changed({ type: "Group Layer" }), "wrong: is of another kind: Group Layer"],
		[json({ pixelType: "U8", fields: [] }), "wrong: is of another kind: ImageServer"],
		[json({ fields: [], features: [] }), "wrong: is of another kind: FeatureSet"],
		[
			json({ mapName: "Layers", layers: [{ id: 0 }] }),
			"wrong: is a whole service: the address must end with the number of one layer",
		],
		[json({}), noLayer],
		["<html>Maintenance</html>", noLayer],
		[{ body: "[".repeat(4_000_000) }, noLayer],
		[error(404, "Layer not found"), "wrong: answers with ArcGIS error 404: Layer not found"],
		[error(499, "Token Required"), "wrong: answers with ArcGIS error 499: Token Required"],
		[error(500, "Service not found"), "wrong: answers with ArcGIS error 500: Service not found"],
		[error(500, "Error performing query"), "down: answers with ArcGIS error 500: Error performing query"],
		[
			json({ error: { code: 400, message: " ", details: ["", "No layer 99"] } }),
			"wrong: answers with ArcGIS error 400: No layer 99",
		],
		[json({ status: "error", messages: ["No machine"] }), "down: answers with ArcGIS error ?: No machine"],
		[json({ status: "error", messages: ["No"], code: 404 }), "wrong: answers with ArcGIS error 404: No"],
		[
			rendered(byValue(Array(1_001).fill({}))),
			"down: has more than 1000 fields, 1000 classes or 512 KiB of both, too many to be served",
		],
	] as [Route, string][]) {
		assert.equal((await harvest({ layer })).findings, inBoth(finding));
		assert.is((await harvest({ layer }, good)).text, good, finding);
	}
});

test("a legend or a count that fails now keeps the fuller description", async () => {
	const { text: good } = await harvest();
	const layer = changed({ name: "Renamed" });
	for (const part of ["legend", "query"])
		for (const [route, finding] of [
			[404],
			[error(499)],
			[429, "down: answers with status 429"],
			[error(500), "down: answers with ArcGIS error 500: No"],
		] as const) {
			const { layer: found, text, findings } = await harvest({ layer, [part]: route }, good);
			assert.equal(findings, finding ? inBoth(finding) : []);
			assert.ok(finding ? text === good : found.name === "Renamed");
		}
	const registration = { ...featureAt(host + mapLayer), fr: { service_url: `${host}/gone/MapServer/1` } };
	const half = await harvestFrom(registration, serve(), good);
	assert.equal(Object.keys(half.description ?? {}), ["en"], "the earlier French one is of another service");
	assert.equal(half.findings, [["wrong", "/fr/service_url", "answers with status 404"]]);
});

test("null members and hostile texts make a layer that the viewer accepts", async () => {
	const bare = changed({ fields: null, drawingInfo: null, displayField: null, extent: null, minScale: null });
	const { layer, findings } = await harvest({ layer: bare, legend: json({ layers: null }) });
	assert.equal([layer.display_field, layer.fields, findings], ["", [], []]);
	const document = JSON.stringify(
		layerDocument({ name: 'NaN, "NaN"', extent: { xmin: "@" }, minScale: "@" }),
	);
	const read = await harvest({ layer: { body: document.replace('"@"', "NaN").replace('"@"', "-Infinity") } });
	assert.equal([read.layer.name, read.layer.min_scale, read.findings], ['NaN, "NaN"', 0, []]);
	const hostile = '"}]}</script>\u2028\\';
	const fields = [{ name: hostile, alias: hostile, type: "esriFieldTypeString" }, { name: { a: 1 } }, null];
	const symbol = { type: "esriSMS", color: ['"/>', 1, 1, 1], size: '9"/>' };
	const more = { name: hostile, fields, displayField: hostile };
	const odd = rendered({ type: "simple", label: hostile, symbol }, more);
	const { name, display_field, renderer } = (await harvest({ layer: odd }, null, featureLayer)).layer;
	assert.equal([name, display_field, (renderer as Drawing).label], Array(3).fill(hostile));
});

const svgStart = '<svg xmlns="http://www.w3.org/2000/svg" width=';

/** The drawing of a symbol; fails where it has a wrong number. */
function drawing(uri: string | null) {
	const svg = Buffer.from(uri?.replace(/^data:image\/svg\+xml;base64,/, "") ?? "", "base64").toString();
	assert.ok(svg.startsWith(svgStart));
	assert.match(svg.slice(svgStart.length), /^"\d+" height="\d+">(?:<[^<>]+\/>)+<\/svg>$/);
	assert.not.match(svg, /NaN|undefined|null|Infinity|script/);
	return svg;
}

test("markers, lines and areas have their shape, colours, width and dashes", () => {
	const red = [255, 0, 0, 255];
	const outline = { type: "esriSLS", style: "esriSLSSolid", color: [0, 0, 255, 255], width: 0.75 };
	const marked = { type: "esriSMS", style: "esriSMSCircle", color: [255, 0, 0, 64], size: 9, outline };
	assert.is(
		drawing(symbolImage(marked)).replace(svgStart, ""),
		'"15" height="15"><circle cx="7.5" cy="7.5" r="6" fill="rgb(255,0,0)" fill-opacity="0.25" stroke="rgb(0,0,255)" stroke-width="1"/></svg>',
	);
	for (const [style, expected] of [
		["esriSLSSolid", 'd="M1 10H19" fill="none" stroke="rgb(255,0,0)" stroke-width="2"/>'],
		["esriSLSDash", 'stroke-dasharray="8 6"'],
		["esriSFSSolid", 'fill="rgb(255,0,0)" stroke="rgb(0,0,255)"'],
		["esriSFSNull", 'fill="none" stroke="rgb(0,0,255)"'],
	] as const) {
		const symbol = { type: style.slice(0, 7), style, color: red, width: 1.5, outline };
		assert.match(drawing(symbolImage(symbol)), expected);
	}
	const shapes = ["Square", "Diamond", "X"].map((name) =>
		symbolImage({ ...marked, style: `esriSMS${name}` }),
	);
	const generic = ["Polygon", "Polyline", "Point"].map((name) => genericImageOf(`esriGeometry${name}`));
	for (const all of [shapes, generic]) assert.is(new Set(all.map(drawing)).size, all.length);
	for (const type of ["esriSMS", "esriSLS", "esriSFS"])
		for (const odd of [null, 1e300, '"/><script>'])
			drawing(
				symbolImage({ type, style: odd, color: Array(4).fill(odd), size: odd, width: odd, outline: odd }),
			);
	for (const unknown of [null, { type: "CIMSymbolReference" }]) assert.is(symbolImage(unknown), null);
});

const extent = (spatialReference: object, [xmin, ymin, xmax, ymax]: number[]) => {
	return { xmin, ymin, xmax, ymax, spatialReference };
};

/** Fails unless the extent's sides are at most `tolerance` units from the expected ones. */
function assertSides(found: ReturnType<typeof projectExtent>, expected: number[], tolerance: number) {
	const { xmin = NaN, ymin = NaN, xmax = NaN, ymax = NaN } = found ?? {};
	const isNear = [xmin, ymin, xmax, ymax].every(
		(side, at) => Math.abs(side - (expected[at] as number)) <= tolerance,
	);
	assert.ok(isNear, `${JSON.stringify(found)} and ${expected}`);
}

// 55° N 100° W by PROJ 9.1.1: echo "55 -100" | cs2cs -f %.3f EPSG:4269 EPSG:3978
const proj: [wkids: number[], x: number, y: number][] = [
	[[3857, 102100], -11131949.079, 7361866.113],
	[[3978, 3979], -313590.934, 673133.942],
	[[3347, 3348], 5690756.755, 2122393.089],
	[[32198], -1937765.041, 1651990.692],
	[[26910], 1956826.085, 6339768.454],
];

test("an extent is projected as PROJ does it, and holds the curves of its sides", () => {
	for (const [wkids, x, y] of proj)
		for (const wkid of wkids) {
			for (const from of [4269, 4326, 4617])
				assertSides(projectExtent(extent({ wkid: from }, [-100, 55, -100, 55]), wkid), [x, y, x, y], 1);
			assertSides(projectExtent(extent({ wkid }, [x, y, x, y]), 4269), [-100, 55, -100, 55], 0.00002);
		}
	// Bounds of 8,000 points on the edge, each projected by PROJ 9.1.1.
	for (const [wkid, from, sides] of [
		[4269, [-141.01, 41.67, -52.61, 83.12], [-3628670.2, -827983.1, 3389046.5, 3980791]],
		[26910, [300000, 5400000, 700000, 6200000], [-2175841.5, 334166.6, -1480412, 1218634.1]],
	] as [number, number[], number[]][])
		assertSides(projectExtent(extent({ wkid }, from), 3978), sides, 500);
});

// By proj4 2.22 from the definitions of EPSG; the first three are also those of the towns' own maps.
const utm14 =
	'PROJCS["NAD_1983_UTM_Zone_14N",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-99.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]';

test("the references of Canada, and those in well-known text, are known", () => {
	for (const [references, sides, degrees] of [
		[[{ wkid: 3157 }], [465142, 5364233, 480386, 5378423], [-123.4724, 48.4303, -123.2652, 48.5586]],
		[
			[{ wkid: 2950 }, { wkid: 999999, latestWkid: 2950 }],
			[267500, 5029000, 306700, 5062600],
			[-73.979, 45.3999, -73.4756, 45.7033],
		],
		[
			[{ wkid: 102187 }, { wkid: 3776 }],
			[77000, 5499000, 92000, 5518000],
			[-112.9342, 49.6217, -112.7221, 49.7946],
		],
		[
			[{ wkid: 4140 }, { wkid: 4267 }, { wkid: 8255 }],
			[-64.32, 46.07, -61.95, 46.98],
			[-64.32, 46.07, -61.95, 46.98],
		],
		[[{ wkt: utm14 }], [612000, 5510000, 655000, 5545000], [-97.4458, 49.7225, -96.8355, 50.0467]],
	] as [object[], number[], number[]][])
		for (const reference of references)
			assertSides(projectExtent(extent(reference, sides), 4326), degrees, 0.0002);
	for (const wkt of ["PROJCS[", "LOCAL_CS[]"])
		assert.is(projectExtent(extent({ wkt }, [1, 1, 2, 2]), 3978), null);
});

test("an extent without a reference has the service's, else the source's", async () => {
	const [wkid4326, wkid3978] = [{ wkid: 4326 }, { wkid: 3978 }];
	const bare = { xmin: -80.2, ymin: 43.1, xmax: -79.1, ymax: 44 };
	for (const [spatialReference, root, source, bounds] of [
		[undefined, wkid4326, wkid3978, [-80.2, 43.1, -79.1, 44]],
		[{}, null, wkid4326, [-80.2, 43.1, -79.1, 44]],
		[{ wkid: 999999 }, wkid4326, wkid4326, undefined],
	] as const) {
		const layer = changed({ extent: { ...bare, spatialReference }, sourceSpatialReference: source });
		const server = serve({ layer });
		server.routes[service] = json({ layers: [], spatialReference: root });
		const { description } = await harvestFrom(featureAt(host + mapLayer), server);
		assert.equal(description?.en?.bounds, bounds, JSON.stringify([spatialReference, root, source]));
	}
});

test("a whole service has its layers in its order, and in place of a group its layers", async () => {
	const groups = [
		{ id: 0, parentLayerId: -1, subLayerIds: [4, 1] },
		{ id: 1, parentLayerId: 0, subLayerIds: [3, 2] },
		...[2, 3].map((id) => ({ id, parentLayerId: 1 })),
		{ id: 4, parentLayerId: 0, type: "Group Layer", subLayerIds: [0] },
		{ id: 5, parentLayerId: -1, type: "Group Layer", subLayerIds: null },
		{ id: 6, parentLayerId: 99 },
		{ id: 7, parentLayerId: -1 },
		{ id: 8, parentLayerId: 7 },
	];
	for (const [layers, entries] of [
		[
			[{ id: 3 }, { id: 0 }, { id: 3 }, { id: "4" }, null],
			[3, 0],
		],
		[groups, [3, 2, 6, 8]],
	] as const)
		for (const type of ["esriMapServer", "esriFeatureServer"]) {
			const server = memoryHost({ [service]: json({ mapName: "Layers", layers }) });
			const { description, findings } = await harvestFrom(nodeAt(type, service), server);
			assert.equal([description?.en, findings], [{ service_url: host + service, entries, title: "Odd" }, []]);
		}
});

test("without a registered name a service has its title, its map's name or its address's", async () => {
	const layers = [{ id: 0 }];
	for (const [document, type, name] of [
		[{ layers, documentInfo: { Title: " Plan " }, mapName: "Roads" }, "esriMapServer", "Plan"],
		[{ layers, documentInfo: { Title: "" }, mapName: "Roads & parks" }, "esriMapServer", "Roads & parks"],
		[{ layers, mapName: "Layers" }, "esriFeatureServer", "Odd"],
	] as const) {
		const registration = nodeAt(type, service, type.endsWith("Server") ? { scrape_only: [0] } : {});
		const { description } = await harvestFrom(registration, memoryHost({ [service]: json(document) }));
		const fragment = renderAt("v2", factsOf("en", "odd", registration, description));
		assert.is(JSON.parse(fragment ?? "").layers[0].name, name);
	}
});

test("what was imported stays until a harvest succeeds", async () => {
	const layer = nodeAt("esriFeature", mapLayer, {});
	const { text: harvested } = await harvestFrom(layer, serve());
	const imported = JSON.parse(String(harvested));
	for (const lang of ["en", "fr"]) Object.assign(imported[lang], { from: "import", name: "Imported" });
	const stored = descriptionText(imported);
	assert.not(isDescribed(layer, parseDescription(stored)), "it is still to be harvested");
	for (const failing of [{ layer: 503 }, { legend: 503 }])
		assert.is((await harvestFrom(layer, serve(failing), stored)).text, stored);
	assert.is((await harvestFrom(layer, serve(), stored)).text, harvested);
});

test.run();
