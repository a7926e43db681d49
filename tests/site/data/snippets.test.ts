import { parse } from "acorn";
import * as assert from "uvu/assert";
import { type SnippetLayer, snippetsOf } from "../../../site/data/snippets.ts";
import { test } from "../../helpers/suite.ts";

const root = "https://layers.example.ca/rcs/";
const all = ["v0.9", "v1", "v2", "ramp4", "terria"];

function layerOf(type: string, url: string, layers?: string[]): SnippetLayer {
	const title = { en: `Say "hi" </script><b>'x'`, fr: "L’été" };
	return { smallkey: "a+b=", type, title, address: { en: url }, ...(layers && { layers: { en: layers } }) };
}

function textOf(layer: SnippetLayer, name: string, lang: "en" | "fr" = "en"): string | undefined {
	return snippetsOf(layer, lang, root, all).find((one) => one.name === name)?.text;
}

const kinds: SnippetLayer[] = [
	layerOf("wms", "https://maps.example.ca/wms?map=a", ["roads"]),
	layerOf("ogcWms", "https://maps.example.ca/wms", ["a", "b"]),
	layerOf("ogcWmts", "https://maps.example.ca/wmts", ["tiles"]),
	layerOf("feature", "https://maps.example.ca/arcgis/rest/services/x/MapServer/3"),
	layerOf("esriFeatureServer", "https://maps.example.ca/x/FeatureServer", ["2"]),
	layerOf("esriMapServer", "https://maps.example.ca/x/MapServer", ["0", "4"]),
	layerOf("esriImage", "https://maps.example.ca/x/ImageServer"),
	layerOf("esriTile", "https://maps.example.ca/x/MapServer"),
];

test("every kind of layer has snippets, and those in JavaScript are whole modules", () => {
	for (const layer of kinds) {
		const snippets = snippetsOf(layer, "en", root, all);
		const names = snippets.map(({ name }) => name);
		for (const name of ["RAMP 4.0", "FGPV", "GeoView", "Terria", "ArcGIS Maps SDK", "<iframe>"])
			assert.ok(names.includes(name), `${layer.type}: ${name}`);
		for (const { name, kind, text } of snippets) {
			if (kind === "js") parse(text, { ecmaVersion: 2022, sourceType: "module" });
			if (kind === "json") JSON.parse(text);
			if (kind === "address") assert.is(new URL(text).href, text, name);
		}
	}
});

test("a layer of features is asked by its whole address, one of a map service by its number", () => {
	const [, , , feature, server, map] = kinds as [SnippetLayer, ...SnippetLayer[]];
	const own = "https://maps.example.ca/arcgis/rest/services/x/MapServer/3";
	assert.match(textOf(feature as SnippetLayer, "Leaflet") ?? "", `"url":"${own}"`);
	assert.match(textOf(server as SnippetLayer, "QGIS (Python)") ?? "", "x/FeatureServer/2'");
	const asked = layerOf("esriFeatureServer", "https://maps.example.ca/x/FeatureServer?f=json", ["2"]);
	assert.match(textOf(asked, "QGIS (Python)") ?? "", "x/FeatureServer/2'");
	const ended = layerOf("wms", "https://maps.example.ca/wms?", ["a"]);
	assert.match(textOf(ended, "OpenLayers") ?? "", '"https://maps.example.ca/wms"');
	assert.match(textOf(map as SnippetLayer, "OpenLayers") ?? "", '"LAYERS":"show:0,4"');
	assert.match(textOf(map as SnippetLayer, "ArcGIS Maps SDK") ?? "", '"sublayers":[{"id":4},{"id":0}]');
});

test("French snippets have the French address and title; no title ends a script or an attribute", () => {
	const layer = {
		...layerOf("wms", "https://m.example.ca/en", ["a"]),
		address: { en: "https://m.example.ca/en", fr: "https://m.example.ca/fr" },
		layers: { en: ["roads"], fr: ["routes"] },
	};
	assert.match(textOf(layer, "OpenLayers", "fr") ?? "", /example\.ca\/fr".*"routes"/s);
	assert.match(textOf(layer, "QGIS (Python)", "fr") ?? "", "L’été");
	assert.is(
		textOf(layer, "<iframe>"),
		`<iframe src="${root}en/embed/a%2Bb%3D" title="Say &quot;hi&quot; &lt;/script&gt;&lt;b&gt;&#39;x&#39;" width="800" height="600" loading="lazy"></iframe>`,
	);
	assert.not.match(textOf(layer, "QGIS (Python)") ?? "", "<");
});

test.run();
