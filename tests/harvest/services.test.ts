import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { sketchLayer } from "../../harvest/arcgis/feature-layer.ts";
import type { Finding } from "../../harvest/finding.ts";
import { mergeDescription } from "../../harvest/finding.ts";
import { createHarvestLayer } from "../../harvest/layer.ts";
import { createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import { descriptionText } from "../../registry/description.ts";
import { test } from "../helpers/suite.ts";
import { assertAccepted, featureAt, nodeOf, renderV09 } from "../viewer/viewer.ts";
import {
	entry,
	featureLayer,
	layerDocument,
	legend,
	mapLayer,
	marker,
	oddRoutes,
	serveLayer,
} from "./arcgis-server.ts";
import { json, Peer, pngUri, text } from "./peer.ts";

let peer: Peer;
test.before.each(async () => {
	peer = await Peer.open();
});
test.after.each(() => peer.close());

const settings = { metadataUrl: "", catalogueUrl: "" };

/** Harvests one layer of the peer, and renders what comes of it; the fragment must be one that the viewer accepts. */
async function harvest(path = mapLayer, stored: string | null = null, timeoutMs = 10_000) {
	const registration = featureAt(peer.origin + path);
	const fetch = createFetch({ allowPrivate: true, timeoutMs });
	const ask = createAsk({ fetch, sleep: async () => {} });
	const harvested = await createHarvestLayer({ ask, mapWkid: 3978 })(registration);
	const description = mergeDescription(registration, harvested, stored);
	const fragment = renderV09("en", "odd", registration, description, settings);
	assertAccepted(fragment);
	const written = description && descriptionText(description);
	return { node: nodeOf(fragment), findings: harvested.findings, description, text: written };
}

function assertFault(findings: Finding[], state: Finding["state"], pattern: RegExp): void {
	assert.equal(
		findings.map((finding) => [finding.state, finding.lang, finding.pointer]),
		[
			[state, "en", "/en/service_url"],
			[state, "fr", "/fr/service_url"],
		],
	);
	for (const finding of findings) assert.match(finding.text, pattern);
}

/** A layer document whose classes are unique values of a field. */
function uniqueValues(field1: string, infos: object[], more: object = {}): Record<string, unknown> {
	const renderer = {
		type: "uniqueValue",
		field1,
		field2: null,
		field3: null,
		uniqueValueInfos: infos,
		...more,
	};
	return layerDocument({ drawingInfo: { renderer } });
}

test("an ordinary layer gets its name, fields, symbol, scales, count and projected extent", async () => {
	serveLayer(peer);
	const { node, findings } = await harvest();
	assert.equal(findings, []);
	assert.is(node.displayName, "Stations");
	assert.is(node.nameField, "NAME");
	assert.is(node.minScale, 4000000);
	assert.is(node.mode, "snapshot");
	assert.is(node.aliasMap.NAME, "Station name");
	assert.equal(node.symbology, { type: "simple", imageUrl: pngUri(1), label: "Station" });
	assert.is(node.datagrid.gridColumns.length, 6);
	// Both languages name one address: the layer, its legend, its count and what is beside it are asked for once.
	assert.is(peer.asked.length, new Set(peer.asked).size);
});

test("the same service gives the same text", async () => {
	serveLayer(peer);
	const first = (await harvest()).text;
	assert.is((await harvest()).text, first);
	assert.not.match(String(first), /20\d\d-/);
});

test("a renderer without a label has a symbol with an empty one", async () => {
	serveLayer(peer, {
		layer: json(layerDocument({ drawingInfo: { renderer: { type: "simple", symbol: marker(1) } } })),
	});
	assert.equal((await harvest()).node.symbology, { type: "simple", imageUrl: pngUri(1), label: "" });
});

test("a label that is not in the legend: its own symbol is drawn", async () => {
	const infos = [
		{ value: "a", label: "A", symbol: marker(10) },
		{ value: "b", label: "B", symbol: marker(20) },
	];
	serveLayer(peer, { layer: json(uniqueValues("KIND", infos)), legend: json(legend(entry("A", 1))) });
	const [first, second] = (await harvest()).node.symbology.valueMaps;
	assert.is(first.imageUrl, pngUri(1));
	assert.match(decode(second.imageUrl), 'fill="rgb(20,0,0)"');
});

test("the layer's id is not in the legend: no other layer's image is taken", async () => {
	serveLayer(peer, { legend: json({ layers: [{ layerId: 0, legend: [entry("Station", 99)] }] }) });
	const { imageUrl } = (await harvest()).node.symbology;
	assert.match(decode(imageUrl), 'fill="rgb(255,0,0)"');
});

test("classes with one label keep their own images", async () => {
	const infos = ["a", "b", "c"].map((value) => ({ value, label: "same", symbol: marker(1) }));
	const images = async (answer: object) => {
		serveLayer(peer, { layer: json(uniqueValues("KIND", infos)), legend: json(answer) });
		const { valueMaps } = (await harvest()).node.symbology;
		return valueMaps.map((one: { imageUrl: string }) => one.imageUrl);
	};
	const own = [1, 2, 3].map(pngUri);
	const byPosition = [entry("same", 1), entry("same", 2), entry("same", 3)];
	assert.equal(await images(legend(...byPosition)), own);
	// The legend has one entry more, and in another order: the values decide.
	const byValue = [
		entry("stray", 9),
		entry("same", 3, { values: ["c"] }),
		entry("same", 1, { values: ["a"] }),
		entry("same", 2, { values: ["b"] }),
	];
	assert.equal(await images(legend(...byValue)), own);
	// No values, and no place for each: the first of a label stands for the first class of that label.
	assert.equal(await images(legend(entry("stray", 9), ...byPosition)), own);
	// One entry for all of them, as newer servers group them.
	assert.equal(await images(legend(entry("same", 7, { values: ["a", "b", "c"] }))), [7, 7, 7].map(pngUri));
});

test("a legend in another order than the classes is paired by its labels", async () => {
	const infos = ["a", "b"].map((value) => ({ value, label: value.toUpperCase(), symbol: marker(1) }));
	serveLayer(peer, {
		layer: json(uniqueValues("KIND", infos)),
		legend: json(legend(entry("B", 2), entry("A", 1))),
	});
	const { valueMaps } = (await harvest()).node.symbology;
	assert.equal(valueMaps, [
		{ value: "a", imageUrl: pngUri(1), label: "A" },
		{ value: "b", imageUrl: pngUri(2), label: "B" },
	]);
});

test("the default symbol has its own image, first or last in the legend", async () => {
	const infos = [{ value: "a", label: "", symbol: marker(1) }];
	const more = { defaultSymbol: marker(7), defaultLabel: "Other" };
	for (const entries of [
		[entry("Other", 9), entry("", 1)],
		[entry("", 1), entry("Other", 9)],
		[entry("<all other values>", 9), entry("", 1)],
	]) {
		serveLayer(peer, { layer: json(uniqueValues("KIND", infos, more)), legend: json(legend(...entries)) });
		const { symbology } = (await harvest()).node;
		assert.is(symbology.defaultImageUrl, pngUri(9));
		assert.is(symbology.label, "Other");
		assert.is(symbology.valueMaps[0].imageUrl, pngUri(1));
	}
});

test("unique values of a number field are numbers, those of a text field texts", async () => {
	const infos = ["1", "2.5", "-3", "", "many"].map((value) => ({ value, label: value, symbol: marker(1) }));
	const values = async (field: string) => {
		serveLayer(peer, { layer: json(uniqueValues(field, infos)), legend: json(legend()) });
		const { symbology } = (await harvest()).node;
		return [symbology.field1, symbology.valueMaps.map((one: { value: unknown }) => one.value)];
	};
	assert.equal(await values("CLASS"), ["CLASS", [1, 2.5, -3, "", "many"]]);
	assert.equal(await values("class"), ["CLASS", [1, 2.5, -3, "", "many"]], "ArcGIS does not mind the case");
	assert.equal(await values("KIND"), ["KIND", ["1", "2.5", "-3", "", "many"]]);
});

test("the values of several fields are joined with a comma and a space", async () => {
	const infos = [{ value: "1;b", label: "1b", symbol: marker(1) }];
	const more = { field2: "KIND", fieldDelimiter: ";" };
	serveLayer(peer, { layer: json(uniqueValues("CLASS", infos, more)), legend: json(legend(entry("1b", 1))) });
	const { symbology } = (await harvest()).node;
	assert.equal([symbology.field1, symbology.field2], ["CLASS", "KIND"]);
	assert.is(symbology.valueMaps[0].value, "1, b");
});

test("class breaks are in ascending order, each with its own image", async () => {
	const infos = [
		{ classMaxValue: 20, label: "10 - 20", symbol: marker(1) },
		{ classMaxValue: 10, label: "0 - 10", symbol: marker(1) },
	];
	const renderer = { type: "classBreaks", field: "CLASS", minValue: 0, classBreakInfos: infos };
	serveLayer(peer, {
		layer: json(layerDocument({ drawingInfo: { renderer } })),
		legend: json(legend(entry("10 - 20", 20), entry("0 - 10", 10))),
	});
	assert.equal((await harvest()).node.symbology, {
		type: "classBreaks",
		field: "CLASS",
		minValue: 0,
		rangeMaps: [
			{ maxValue: 10, imageUrl: pngUri(10), label: "0 - 10" },
			{ maxValue: 20, imageUrl: pngUri(20), label: "10 - 20" },
		],
	});
});

test("a feature service has no legend: each class is drawn from its symbol", async () => {
	const line = (green: number) => ({
		type: "esriSLS",
		style: "esriSLSDash",
		color: [0, green, 0, 128],
		width: 3,
	});
	const infos = ["1", "2"].map((value) => ({ value, label: value, symbol: line(Number(value)) }));
	serveLayer(peer, { layer: json(uniqueValues("CLASS", infos)) });
	const { node, findings } = await harvest(featureLayer);
	assert.equal(findings, []);
	const [first, second] = node.symbology.valueMaps;
	assert.equal([first.value, second.value], [1, 2]);
	assert.match(decode(first.imageUrl), 'stroke="rgb(0,1,0)" stroke-opacity="0.5" stroke-width="4"');
	assert.match(decode(second.imageUrl), 'stroke="rgb(0,2,0)"');
	assert.not(peer.asked.some((target) => target.includes("legend")));
});

test("a picture marker's own image is used", async () => {
	const symbol = { type: "esriPMS", contentType: "image/png", imageData: pngUri(5).split(",")[1] };
	serveLayer(peer, { layer: json(layerDocument({ drawingInfo: { renderer: { type: "simple", symbol } } })) });
	assert.is((await harvest(featureLayer)).node.symbology.imageUrl, pngUri(5));
});

test("a group layer is a wrong registration", async () => {
	serveLayer(peer, { layer: json(layerDocument({ type: "Group Layer", geometryType: null, fields: null })) });
	const { node, findings } = await harvest();
	assertFault(findings, "wrong", /is a group layer/);
	assert.is(node.displayName, "odd");
});

test("a table, a raster layer, a whole service and a service's list are wrong registrations", async () => {
	for (const [document, pattern] of [
		[layerDocument({ type: "Table" }), /no feature layer, but: Table/],
		[layerDocument({ type: "Raster Layer" }), /no feature layer, but: Raster Layer/],
		[{ mapName: "Layers", layers: [{ id: 0 }] }, /whole service/],
		[{ folders: [], services: [] }, /whole service/],
		[{}, /does not answer as an ArcGIS layer/],
		[[], /does not answer as an ArcGIS layer/],
	] as const) {
		serveLayer(peer, { layer: json(document) });
		assertFault((await harvest()).findings, "wrong", pattern);
	}
});

test("a layer whose fields, drawing info and display field are null gets one symbol", async () => {
	const bare = { fields: null, drawingInfo: null, displayField: null, extent: null, minScale: null };
	serveLayer(peer, { layer: json(layerDocument(bare)), legend: json({ layers: null }) });
	const { node, findings } = await harvest();
	assert.equal(findings, []);
	assert.is(node.displayName, "Stations");
	assert.is(node.nameField, "");
	assert.is(node.datagrid.gridColumns.length, 2);
	assert.is(node.symbology.type, "simple");
});

test("an empty display field gives way to the first text field", async () => {
	serveLayer(peer, { layer: json(layerDocument({ displayField: "" })) });
	assert.is((await harvest()).node.nameField, "NAME");
});

test("an ArcGIS error with status 200: a layer that is not there, and a server in trouble", async () => {
	const failing = (code: number, message: string) => json({ error: { code, message, details: [] } });
	for (const [route, state] of [
		[failing(404, "Layer not found"), "wrong"],
		[failing(400, "Invalid or missing input parameters."), "wrong"],
		[failing(499, "Token Required"), "wrong"],
		[failing(500, "Service Odd/MapServer not found"), "wrong"],
		[failing(500, "Error performing query operation"), "down"],
		[json({ error: { code: { toString: 1 }, message: ["x"] } }), "down"],
	] as const) {
		serveLayer(peer, { layer: route });
		assertFault((await harvest()).findings, state, /answers with ArcGIS error/);
	}
});

test("an extent of NaN, and one in an unknown spatial reference: the generic extent", async () => {
	const canada = { xmin: -2681457, ymin: -883440, xmax: 3549492, ymax: 3482193 };
	for (const extent of [
		{ xmin: "NaN", ymin: "NaN", xmax: "NaN", ymax: "NaN", spatialReference: { wkid: 4269 } },
		{ xmin: 0, ymin: 0, xmax: 1, ymax: 1, spatialReference: { wkid: 102726 } },
		{ xmin: 0, ymin: 0, xmax: 1, ymax: 1, spatialReference: { wkt: "PROJCS[]" } },
		{ xmin: 0, ymin: 0, xmax: 1, ymax: 1 },
	]) {
		serveLayer(peer, { layer: json(layerDocument({ extent })) });
		assert.equal((await harvest()).node.layerExtent, canada);
	}
});

test("heatmaps and other renderers become one symbol", async () => {
	for (const renderer of [
		{ type: "heatmap", blurRadius: 10, colorStops: [] },
		{ type: "dotDensity", attributes: [] },
		{ type: "uniqueValue", valueExpression: "$feature.X", uniqueValueInfos: [{ value: 1 }] },
		{ type: "__proto__" },
		"simple",
		null,
	]) {
		serveLayer(peer, { layer: json(layerDocument({ drawingInfo: { renderer } })), legend: json(legend()) });
		const { node, findings } = await harvest();
		assert.is(node.symbology.type, "simple");
		assert.equal(findings, []);
	}
});

test("a trailing slash of the address is left out", async () => {
	serveLayer(peer);
	const { node, findings } = await harvest(`${mapLayer}/`);
	assert.equal(findings, []);
	assert.is(node.displayName, "Stations");
	assert.is(node.url, peer.origin + mapLayer);
});

test("a service that sends HTML instead of JSON is a wrong registration", async () => {
	serveLayer(peer, { layer: oddRoutes.page });
	assertFault((await harvest()).findings, "wrong", /does not answer as an ArcGIS layer/);
});

test("an answer with a byte order mark, and letters beyond ASCII, are read", async () => {
	const document = JSON.stringify(layerDocument({ name: "Réseau hydro 水" }));
	serveLayer(peer, { layer: text(`\ufeff${document}`, "text/plain") });
	const { node, findings } = await harvest();
	assert.equal(findings, []);
	assert.is(node.displayName, "Réseau hydro 水");
});

test("a legend image of another type, or with wrong base64, is not taken", async () => {
	for (const wrong of [
		{ contentType: "text/html" },
		{ contentType: "image/svg+xml" },
		{ contentType: 'image/png" onerror="alert(1)' },
		{ imageData: "PHNjcmlwdD4=<script>" },
		{ imageData: "abc" },
		{ imageData: "" },
		{ imageData: null },
		{ imageData: { length: 4 } },
	]) {
		serveLayer(peer, { legend: json(legend(entry("Station", 1, wrong))) });
		const { imageUrl } = (await harvest()).node.symbology;
		assert.match(decode(imageUrl), 'fill="rgb(255,0,0)"');
	}
});

test("a dead host, a layer that hangs and one that never ends: the last good description stays", async () => {
	serveLayer(peer);
	const good = await harvest();
	serveLayer(peer, { layer: oddRoutes.hang });
	const hanging = await harvest(mapLayer, good.text, 200);
	assertFault(hanging.findings, "down", /did not answer completely within 0.2 s/);
	assert.equal(hanging.node, good.node);
	serveLayer(peer, { layer: oddRoutes.streamForever });
	const endless = await harvest(mapLayer, good.text, 10_000);
	assertFault(endless.findings, "down", /more than 5,000,000 bytes/);
	assert.equal(endless.node, good.node);
	const { origin } = peer;
	await peer.close();
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }), sleep: async () => {} });
	const registration = featureAt(origin + mapLayer);
	const dead = await createHarvestLayer({ ask, mapWkid: 3978 })(registration);
	assertFault(dead.findings, "down", /refuses the connection/);
	assert.equal(mergeDescription(registration, dead, good.text), good.description);
	peer = await Peer.open();
});

test("a gzip bomb, deep nesting, 10,000 fields, 10,000 classes, long names: named, and the last good stays", async () => {
	serveLayer(peer);
	const good = await harvest();
	const bomb = gzipSync(Buffer.alloc(200_000_000, " "));
	const many = (count: number, make: (index: number) => object) =>
		Array.from({ length: count }, (_, i) => make(i));
	const field = (index: number) => ({ name: `F${index}`, alias: "", type: "esriFieldTypeString" });
	const info = (index: number) => ({ value: String(index), label: "", symbol: marker(1) });
	const long = (index: number) => ({ ...field(index), alias: "x".repeat(600) });
	const nested = JSON.stringify(layerDocument()).replace(
		"{",
		`{"deep":${"[".repeat(500_000)}${"]".repeat(500_000)},`,
	);
	const heap = process.memoryUsage().rss;
	for (const [route, pattern] of [
		[zipped(bomb), /more than 5,000,000 bytes/],
		[text("[".repeat(4_000_000)), /does not answer as an ArcGIS layer/],
		[text(nested), /does not answer as an ArcGIS layer/],
		[json(layerDocument({ fields: many(10_000, field) })), /more than 1000 fields/],
		[json(uniqueValues("KIND", many(10_000, info))), /more than 1000 classes/],
		[json(layerDocument({ fields: many(1000, long) })), /more than 512 KiB/],
	] as const) {
		serveLayer(peer, { layer: route });
		const odd = await harvest(mapLayer, good.text);
		assert.is(odd.findings.length, 2);
		assert.match(odd.findings[0]?.text ?? "", pattern);
		assert.equal(odd.node, good.node);
	}
	assert.ok(process.memoryUsage().rss - heap < 300_000_000, "memory stays bounded");
});

test("a sketch reads no renderer of too many classes", () => {
	let read = 0;
	const typeOf = (classes: number) => {
		const one = {
			get value() {
				read += 1;
				return undefined;
			},
		};
		read = 0;
		return sketchLayer(mapLayer, uniqueValues("KIND", new Array(classes).fill(one))).renderer.type;
	};
	assert.is(typeOf(1_000), "unique");
	assert.ok(read >= 1_000, `${read} classes were read`);
	assert.is(typeOf(100_000), "simple");
	assert.is(read, 0, "none of the classes is read");
});

test("pictures that are too large together become plain ones, the default symbol's last", async () => {
	const picture = { type: "esriPMS", contentType: "image/png", imageData: "A".repeat(80_000) };
	const infos = Array.from({ length: 20 }, (_, index) => ({
		value: String(index),
		label: `class ${index}`,
		symbol: picture,
	}));
	const layer = uniqueValues("KIND", infos, { defaultSymbol: picture, defaultLabel: "other" });
	serveLayer(peer, { layer: json(layer), legend: json(legend()) });
	const { node, findings, text: written } = await harvest();
	assert.equal(findings, []);
	const { defaultImageUrl, valueMaps } = node.symbology;
	const own = `data:image/png;base64,${picture.imageData}`;
	assert.is(defaultImageUrl, own);
	assert.equal(
		valueMaps.map(({ imageUrl }: { imageUrl: string }) => imageUrl === own),
		infos.map((_, index) => index < 2),
	);
	assert.match(decode(valueMaps[2].imageUrl), "rgb(136,136,136)");
	assert.is(valueMaps[19].label, "class 19");
	assert.ok(String(written).length < 600_000, "both languages");
});

test("a legend or a count that is down now does not replace a fuller description", async () => {
	serveLayer(peer);
	const good = await harvest();
	serveLayer(peer, { legend: (_request, response) => response.writeHead(503).end() });
	const odd = await harvest(mapLayer, good.text);
	assertFault(odd.findings, "down", /status 503/);
	assert.equal(odd.node, good.node);
	// Nothing better is known: the layer is drawn from its symbol.
	assert.match(decode((await harvest()).node.symbology.imageUrl), 'fill="rgb(255,0,0)"');
});

test("a legend or a count in trouble with status 200 does not replace a fuller description", async () => {
	serveLayer(peer);
	const good = await harvest();
	const failing = json({ error: { code: 500, message: "Error performing query operation", details: [] } });
	for (const [route, pattern] of [
		[failing, /answers with ArcGIS error 500/],
		[oddRoutes.page, /does not answer as an ArcGIS service/],
		[json([]), /does not answer as an ArcGIS service/],
	] as const) {
		for (const answers of [{ legend: route }, { count: route }]) {
			serveLayer(peer, answers);
			const odd = await harvest(mapLayer, good.text);
			assertFault(odd.findings, "down", pattern);
			assert.is(odd.text, good.text);
		}
	}
});

test("a legend or a count that is refused for good does not keep the rest from being refreshed", async () => {
	serveLayer(peer);
	const good = await harvest();
	const layer = json(layerDocument({ name: "Renamed" }));
	const refusals = [400, 401, 403, 404, 405, 501].map((code) => text("no", "text/plain", code));
	const inBody = [400, 401, 403, 499, 501].map((code) => json({ error: { code, message: "No" } }));
	for (const route of [...refusals, ...inBody]) {
		for (const answers of [{ legend: route }, { count: route }]) {
			serveLayer(peer, { layer, ...answers });
			const { node, findings } = await harvest(mapLayer, good.text);
			assert.equal(findings, []);
			assert.is(node.displayName, "Renamed");
		}
	}
	for (const code of [408, 429, 500, 503]) {
		serveLayer(peer, { layer, legend: text("later", "text/plain", code) });
		const { text: kept, findings } = await harvest(mapLayer, good.text);
		assertFault(findings, "down", new RegExp(`status ${code}`));
		assert.is(kept, good.text);
	}
});

test("one language whose service is down keeps what it had; the other is refreshed", async () => {
	serveLayer(peer);
	const good = await harvest();
	const registration = {
		...featureAt(peer.origin + mapLayer),
		fr: { service_url: `${peer.origin}/gone/MapServer/1` },
	};
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }), sleep: async () => {} });
	const harvested = await createHarvestLayer({ ask, mapWkid: 3978 })(registration);
	assert.equal(
		harvested.findings.map((finding) => [finding.state, finding.pointer]),
		[["wrong", "/fr/service_url"]],
	);
	const merged = mergeDescription(registration, harvested, good.text);
	assert.match(JSON.stringify(merged?.en), '"name":"Stations"');
	assert.is(merged?.fr, undefined, "the earlier one is of another service");
});

test("hostile texts of a service stay inside their strings", async () => {
	const hostile = '"}]}</script>\u2028\\';
	const fields = [
		{ name: hostile, alias: hostile, type: "esriFieldTypeString" },
		{ name: { a: 1 } },
		null,
		7,
	];
	const renderer = {
		type: "simple",
		label: hostile,
		symbol: { type: "esriSMS", color: ['"/>', 1, 1, 1], size: '9"/>' },
	};
	serveLayer(peer, {
		layer: json(layerDocument({ name: hostile, fields, displayField: hostile, drawingInfo: { renderer } })),
	});
	const { node } = await harvest(featureLayer);
	const shown = '"}]}‹/script>\u2028\\';
	assert.is(node.displayName, shown);
	assert.is(node.nameField, shown);
	assert.is(node.aliasMap[shown], shown);
	assert.not.match(decode(node.symbology.imageUrl), /"\/>.*"\/>.*"\/>/);
});

function zipped(bytes: Uint8Array) {
	return (_request: unknown, response: import("node:http").ServerResponse) => {
		response.writeHead(200, { "Content-Encoding": "gzip", "Content-Type": "application/json" }).end(bytes);
	};
}

/** The text of an SVG data URI. */
function decode(uri: string): string {
	const match = /^data:image\/svg\+xml;base64,(.*)$/.exec(uri);
	assert.ok(match, `is no drawing: ${uri}`);
	return Buffer.from(match?.[1] ?? "", "base64").toString();
}

test.run();
