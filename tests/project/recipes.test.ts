import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { readBatch } from "../../extensions/import/commands/register.ts";
import { isVersion2, type Registration } from "../../registry/registration.ts";
import { root, runProgram } from "../helpers/process.ts";
import { filesIn, folderSuite, writeFiles } from "../helpers/world.ts";
import { at, type Catalogue, records, startCatalogue } from "./catalogue-answers.ts";

const test = folderSuite("recipes for catalogues");

type Recipe = "ckan" | "geonetwork";

async function follow(recipe: Recipe, { url }: { url: string }, folder: string) {
	const script = join(root, "docs/recipes", `${recipe}.mjs`);
	const words = [script, url, "organization:x", join(folder, "out"), "p-"];
	const { code, stdout, stderr } = await runProgram(process.execPath, words);
	const linesOf = (text: string) =>
		text.replaceAll(url, "URL").replaceAll(folder, "FOLDER").split("\n").filter(Boolean);
	return { code, report: linesOf(stdout), errors: linesOf(stderr) };
}

async function layersIn(folder: string): Promise<Record<string, Registration>> {
	const { registrations, problems } = await readBatch(join(folder, "out"));
	assert.equal(problems, []);
	return Object.fromEntries(registrations);
}

/** Kind, and addresses below `at("")` with their layers, each once. */
function shortOf(registration: Registration | undefined) {
	if (!registration) return null;
	const texts = [registration.en, registration.fr].map((node) => {
		const { layer, scrape_only, recursive } = node as Record<string, unknown>;
		const address = node.service_url.replace(at(""), "");
		return [address, layer ?? scrape_only ?? (recursive ? "all" : "")].join(" ").trim();
	});
	const kinds = isVersion2(registration) ? `2.0 ${registration.en.service_type}` : registration.payload_type;
	return [kinds, ...new Set(texts)];
}

test("recorded answers of GeoNetwork become registrations in two languages", async ({ folder }) => {
	await using catalogue = await startCatalogue(records, 2);
	const { code, report } = await follow("geonetwork", catalogue, folder);
	assert.is(code, 0);
	const [first] = records;
	assert.equal(
		report.filter((line) => line.startsWith("left out")),
		[
			`left out p-${first?.uuid} (ESRI:REST): is no address of a MapServer, FeatureServer or ImageServer`,
			`left out p-${first?.uuid} (Service de visualisation WMS): names no layer of its WMS`,
			"left out p-urn:isogeo:1 (roads): has no smallkey of 1 to 64 of A-Z a-z 0-9 _ - + =",
		],
	);
	const layers = Object.values(await layersIn(folder));
	assert.is(layers.length, 4);
	const alps = { metadata: { uuid: first?.uuid }, layer: "alps" };
	assert.equal(layers[0], {
		version: "1.0.0",
		payload_type: "wms",
		en: { service_url: at("?lang=de"), service_name: "Alps", ...alps },
		fr: { service_url: at("?lang=fr"), service_name: "Alpes", ...alps },
	});
	assert.equal(layers.slice(1).map(shortOf).sort(), [
		["feature", ...["en", "fr"].map((lang) => `arcgis/rest/services/energy_${lang}/MapServer/1`)],
		["wms", "energy_en/WMSServer 1", "energy_fr/WMSServer 1"],
		["wms", "http://maps.example/wms surval_point"],
	]);
});

const both = ["en", "fr"];

/** A resource's format and address → its registration in short, or why it is left out. */
const links: [format: string, string | null, string[] | string | undefined, languages?: string[]][] = [
	["WMS", "ows?SERVICE=WMS&REQUEST=GetCapabilities&lang=en&layer=T", ["wms", "ows?lang=en T"]],
	[
		"WMS",
		"ows?LAYERS=pub%3Aa&TRANSPARENT=TRUE&VERSION=1.1.1&REQUEST=GetMap&SRS=EPSG:3857&BBOX=-1,2,3,4",
		["wms", "ows pub:a"],
	],
	["OGC WMS", `\n ${at("ows?map=a.map&amp;layers=a")}\n`, ["wms", "ows?map=a.map a"]],
	["WMS", "ows?layers=a,b", ["2.0 ogcWms", "ows a,b"]],
	["WMS", "ows?layers=Main roads", ["wms", "ows Main roads"]],
	["WMS", "ows?layers=a&feature_info_type=text/xml&legend_format=png", ["wms", "ows a"]],
	["WMS", "{x}/ows?layers=a", ["wms", "%7Bx%7D/ows a"]],
	["WMS", "ows?request=GetCapabilities", "names no layer of its WMS"],
	["WMS", "rest/Eco/MapServer/1", "is called a WMS, but has an address of ArcGIS"],
	["WMS", "ftp://maps.example/ows?layers=a", "has no http address"],
	["WMS", null, "has no http address"],
	["WMS", "https://me:secret@maps.example/ows?layers=a", "has a password in its address"],
	["WMS", `ows?layers=a&map=${"x".repeat(2048)}`, "has an address of over 2048 characters"],
	["Esri REST", "rest/Eco/MapServer/", ["2.0 esriMapServer", "rest/Eco/MapServer all"]],
	["ESRI REST", "rest/Eco/FeatureServer", ["2.0 esriFeatureServer", "rest/Eco/FeatureServer all"]],
	["ESRI REST", "rest/Eco/ImageServer", ["2.0 esriImage", "rest/Eco/ImageServer"]],
	["ESRI REST", "rest/A/FeatureServer/3/query?where=1=1&f=json", ["feature", "rest/A/FeatureServer/3"]],
	["ESRI REST", "rest/", "is no address of a MapServer, FeatureServer or ImageServer"],
	["WMS", "ows?layers=none", ["wms", "ows none"], []],
	["WMS ", "ows?layers=zxx", ["wms", "ows zxx"], ["zxx"]],
	["ArcGIS GeoServices REST API", "FeatureServer/0?f=pjson", ["feature", "FeatureServer/0"]],
	["CSV", "energy.csv", undefined],
];

const titles: [object, (string | undefined)[]][] = [
	[{ title: { en: "Roads", fr: "Routes", de: "Straßen" } }, ["Roads", "Routes"]],
	[{ title: '{"en-CA":"Roads","fra":"Routes"}' }, ["Roads", "Routes"]],
	[{ title: "Roads", title_translated: '{"en":"","fr":"Routes"}' }, ["Roads", "Routes"]],
	[{ title: { fr: "Routes" } }, ["Routes", "Routes"]],
	[
		{ title: "Forests &amp; lakes &#233;t&#xE9; &lt;b&gt;2020&lt;/b&gt;" },
		["Forests & lakes été 2020", "Forests & lakes été 2020"],
	],
	[{ title: " Roads\u0007\n of\tCanada " }, ["Roads of Canada", "Roads of Canada"]],
	[{ title: "\u200b" }, [undefined, undefined]],
	[{ title: null }, [undefined, undefined]],
];

function dataset(id: string, address: string | null = `ows?layers=${id}`, format = "WMS", language = both) {
	const url = address === null || address.includes("://") ? address : at(address);
	return { id, title: id as unknown, resources: [{ id, format, language, url }] };
}

const odd = [
	...links.map(([format, url, _, languages], count) => dataset(`l${count}`, url, format, languages)),
	...titles.map(([title], count) => ({ ...dataset(`t${count}`), ...title })),
];

const busy = (status: number) => ({ status, headers: { "Retry-After": "0" }, body: "{}" });

test("each odd form is a layer or left out with its reason, also around 429", async ({ folder }) => {
	await using catalogue = await startCatalogue(odd, 5);
	const pauses = new Map([
		[3, busy(429)],
		[6, busy(503)],
	]);
	catalogue.instead = (count) => pauses.get(count) ?? null;
	const { code, report, errors } = await follow("ckan", catalogue, folder);
	assert.equal([code, errors], [0, []]);
	const layers = await layersIn(folder);
	for (const [count, [, url, expected]] of links.entries()) {
		const reason = report.find((line) => line.startsWith(`left out p-l${count}: `))?.split(": ")[1];
		assert.equal(shortOf(layers[`p-l${count}`]) ?? reason, expected, String(url));
	}
	for (const [count, [title, names]] of titles.entries()) {
		const { en, fr } = layers[`p-t${count}`] ?? {};
		assert.equal([en?.service_name, fr?.service_name], names, JSON.stringify(title));
	}
});

/** Addresses, or names of layers, of one data set → the French layer of each English one; `–`: it is left out. */
const pairs: [title: string, english: string, french: string, expected: string][] = [
	["names in another order", "road_en lake_en", "lake_fr road_fr", "road_fr, lake_fr"],
	[
		"numbers in another order",
		"Eco_en/MapServer/0 Eco_en/MapServer/1",
		"Eco_fr/MapServer/1 Eco_fr/MapServer/0",
		"Eco_fr/MapServer/0, Eco_fr/MapServer/1",
	],
	[
		"other places of a language",
		"en/ows?layers=a ows?layers=b&lang=en c RoadsEN d/eng?layers=d",
		"d/fra?layers=d RoadsFR c_fr ows?layers=b&lang=fr fr/ows?layers=a",
		"fr/ows a, ows?lang=fr b, c_fr, RoadsFR, d/fra d",
	],
	["a name in two services", "a?layers=road", "b?layers=road", "b road"],
	["a service with a translated name", "Energy/MapServer/3", "Energie/MapServer/3", "Energie/MapServer/3"],
	["whole services", "Eco_en/MapServer", "Eco_fr/MapServer", "Eco_fr/MapServer all"],
	["names that differ", "road", "lac", "–"],
	["names of which several agree", "road_en", "road_fr road_fra", "–"],
	["numbers of several services", "A/MapServer/0 B/MapServer/1", "C/MapServer/1", "–, –"],
	["whole services that differ", "A/MapServer", "B/MapServer", "–"],
	[
		"the same layer twice",
		"ows?layers=a_en&version=1.1.1 ows?layers=a_en&version=1.3.0",
		"a_fr a_fr",
		"a_fr, –",
	],
	["another number", "1 2", "2", "–, 2"],
	["one language", "a b", "", "a, b"],
];

const isName = (address: string) => !/[/?]/.test(address);

test("languages are paired by what agrees, never by their order", async ({ folder }) => {
	const resource = (id: string, language: string, address: string) => {
		const format = address.includes("MapServer") ? "ESRI REST" : "WMS";
		return { id, language, format, url: at(isName(address) ? `ows?layers=${address}` : address) };
	};
	const sets = pairs.map(([title, english, french], set) => {
		const [en = "", fr = ""] = set % 2 ? ["English", "Français"] : ["en", "fra; CAN"];
		const resources = [
			...english.split(" ").map((address, count) => resource(`e${set}-${count}`, en, address)),
			...(french ? french.split(" ") : []).map((address, count) => resource(`f${set}-${count}`, fr, address)),
		];
		return { id: `d${set}`, title, resources };
	});
	const eu = "http://publications.europa.eu/resource/authority/language/";
	const resources = [
		{ ...resource("eu-e", "", "a_en"), language: [`${eu}ENG`] },
		{ ...resource("eu-f", "", "a_fr"), language: `["${eu}FRA"]` },
	];
	const members = "legend_format=image/png&feature_info_type=text/html&layers=1&token=1";
	const terminals = {
		id: "terminals",
		title: "Terminals",
		title_translated: { "en-t-fr": "Terminals map", fr: "Terminaux" },
		resources: [
			resource("wms-e", "en", `energy_en/WMSServer?request=GetCapabilities&service=WMS&${members}`),
			resource("wms-f", "fr", "energy_fr/WMSServer?LAYERS=1"),
			{ ...resource("basins", "", "wms?request=GetCapabilities"), wms_layer: "basins" },
		],
	};
	await using catalogue = await startCatalogue([...sets, { id: "eu", title: "EU", resources }, terminals]);
	await follow("ckan", catalogue, folder);
	const layers = await layersIn(folder);
	const service_name = "Terminals map";
	const metadata = { catalogue_url: `${catalogue.url}/dataset/terminals` };
	const types = { legend_format: "image/png", feature_info_type: "text/html" };
	assert.equal(layers["p-wms-e"], {
		version: "1.0.0",
		payload_type: "wms",
		en: { service_url: at("energy_en/WMSServer?token=1"), service_name, metadata, layer: "1", ...types },
		fr: { service_url: at("energy_fr/WMSServer"), service_name: "Terminaux", metadata, layer: "1" },
	});
	assert.equal(shortOf(layers["p-basins"]), ["wms", "wms basins"]);
	for (const [set, [title, english, , expected]] of pairs.entries()) {
		const layerAt = (count: number) => shortOf(layers[`p-e${set}-${count}`])?.at(-1) ?? "–";
		const paired = english.split(" ").map((_, count) => layerAt(count).replace(/^ows /, ""));
		assert.is(paired.join(", "), expected, title);
	}
	assert.equal(shortOf(layers["p-eu-e"]), ["wms", "ows a_en", "ows a_fr"]);
	const keys = Object.keys(layers);
	assert.ok(!keys.some((key) => key.startsWith("p-f") || key === "p-eu-f"), "no French link alone");
});

const service = (name: string, url = at("ows")) => ({
	protocol: "OGC:WMS",
	urlObject: { default: url },
	nameObject: { default: name },
});

test("a smallkey of GeoNetwork follows from the layer, not from other links", async ({ folder }) => {
	await using catalogue = await startCatalogue([{ uuid: "a1", link: [service("roads"), service("lakes")] }]);
	await follow("geonetwork", catalogue, folder);
	const before = await layersIn(folder);
	// A link called WMS names no layer; a layer by http and by https is one.
	const link = [
		service("new"),
		service("WMS"),
		service("lakes", "http://maps.example/ows"),
		service("roads"),
	];
	catalogue.sets = [{ uuid: "a1", link }];
	const { report } = await follow("geonetwork", catalogue, folder);
	const after = await layersIn(folder);
	assert.is(Object.keys(after).length, 3);
	const nameOf = (layer?: Registration) => shortOf(layer)?.[1]?.split(" ").at(-1);
	for (const [key, layer] of Object.entries(before)) assert.is(nameOf(after[key]), nameOf(layer), key);
	assert.ok(report.includes("left out p-a1 (WMS): names no layer of its WMS"));
});

test("a catalogue of more than 10,000 records is read to its end", async ({ folder }) => {
	const records = Array.from({ length: 10_040 }, (_, count) => ({
		uuid: `u${String(count).padStart(5, "0")}`,
	}));
	await using catalogue = await startCatalogue([...records, { uuid: "z", link: service("last") }]);
	const { code, report } = await follow("geonetwork", catalogue, folder);
	assert.equal(
		[code, report.at(-1)],
		[0, "10041 data sets: 1 layers, 1 added, 0 changed, 0 removed; 0 links left out"],
	);
});

test("a further run writes only what has changed, and removes what is gone", async ({ folder }) => {
	await using catalogue = await startCatalogue(["a", "b", "c"].map((id) => dataset(id)));
	const others = [".DS_Store", "Thumbs.db", "desktop.ini"];
	for (const name of others) writeFiles(folder, { [`out/${name}`]: "\0" });
	await follow("ckan", catalogue, folder);
	writeFiles(folder, { "out/mine.json": "{}" });
	catalogue.sets = [dataset("a"), dataset("b", "ows?layers=other"), dataset("e")];
	const { code, report } = await follow("ckan", catalogue, folder);
	const summary = "3 data sets: 3 layers, 1 added, 1 changed, 1 removed; 0 links left out";
	assert.equal([code, report], [0, ["added p-e", "changed p-b", "removed p-c", summary]]);
	const layers = ["mine", "p-a", "p-b", "p-e"].map((name) => `${name}.json`);
	const names = await readdir(join(folder, "out"));
	assert.equal(names.sort(), [...others, ...layers]);

	writeFiles(folder, { "out/p-a.json": null });
	const again = await follow("ckan", catalogue, folder);
	assert.equal(again.report[0], "added p-a");
	const geonetwork = await follow("geonetwork", { url: "http://127.0.0.1:9" }, folder);
	const reason = `was made from ${catalogue.url} organization:x p-; use a new folder for URL organization:x p-`;
	assert.equal(geonetwork.errors, [`FOLDER/out: ${reason}`]);
});

const json = (value: unknown) => ({ status: 200, body: JSON.stringify(value) });
const ckanAnswer = (count: number, ids: string[]) =>
	json({ result: { count, results: ids.map((id) => ({ id })) } });
const geonetworkAnswer = (more: object) =>
	json({ hits: { total: { value: 1 }, hits: [{ _source: {} }] }, ...more });

const search = "URL/api/3/action/package_search";
const again = (sent: string) => `URL: sent ${sent}; run this again`;

/** Answers to the requests of a second run, in place of the catalogue's → the sentence. */
const failures: Record<Recipe, [answers: ReturnType<Catalogue["instead"]>[], sentence: string][]> = {
	ckan: [
		[[{ status: 500, body: "{}" }], `${search}: answers 500`],
		[[busy(429), busy(503)], `${search}: answers 503`],
		[
			[{ status: 200, body: "<html>" }],
			`${search}: answers with something that is not JSON, or not complete`,
		],
		[[json({ success: false, error: {} })], "URL: does not answer as CKAN"],
		[[ckanAnswer(0, [])], "no data set matches URL organization:x p-"],
		[[ckanAnswer(2, ["a"]), ckanAnswer(2, [])], again("1 data sets of 2")],
		[[ckanAnswer(3, ["a"]), ckanAnswer(2, ["b"])], again("2 data sets of 2")],
		[[ckanAnswer(2, ["a"]), ckanAnswer(2, ["a"])], again("1 data sets of 2")],
	],
	geonetwork: [
		[[json({ hits: {} })], "URL: does not answer as GeoNetwork 4"],
		[[geonetworkAnswer({ timed_out: true })], again("1 records of 1")],
		[[geonetworkAnswer({ _shards: { failed: 1 } })], again("1 records of 1")],
		[[json({ hits: { total: { value: 1 }, hits: [] } })], again("0 records of 1")],
	],
};

for (const recipe of ["ckan", "geonetwork"] as const)
	test(`${recipe}: an error is a sentence, and the folder stays as it was`, async ({ folder }) => {
		await using catalogue = await startCatalogue([{ ...dataset("a"), uuid: "a", link: service("a") }]);
		await follow(recipe, catalogue, folder);
		const before = filesIn(folder);
		assert.is(before.size, 2);
		for (const [answers, sentence] of failures[recipe]) {
			catalogue.requests.length = 0;
			catalogue.instead = (count) => answers[count - 1] ?? null;
			assert.equal(await follow(recipe, catalogue, folder), { code: 1, report: [], errors: [sentence] });
			assert.equal(filesIn(folder), before, sentence);
		}
	});

test("a catalogue that cannot be reached, or a folder of others, is one sentence", async ({ folder }) => {
	const catalogue = await startCatalogue([dataset("a")]);
	await catalogue[Symbol.asyncDispose]();
	const assertEnds = async (sentence: string, of = catalogue as { url: string }) =>
		assert.equal(await follow("ckan", of, folder), { code: 1, report: [], errors: [sentence] });
	await assertEnds(`${search}: cannot be reached: ECONNREFUSED`);
	assert.is(filesIn(folder).size, 0);
	writeFiles(folder, { "out/mine.json": "{}" });
	await assertEnds("FOLDER/out: has 1 layers that are not from this recipe; use a new folder");
	writeFiles(folder, { "out.state.json": "{" });
	await assertEnds("FOLDER/out: was made from undefined; use a new folder for URL organization:x p-");
	await assertEnds("URL: is no http address of a catalogue", { url: "maps.example" });
});

test("register refuses a half-written folder, and the next run completes it", async ({ folder }) => {
	await using catalogue = await startCatalogue(["a", "b", "c"].map((id) => dataset(id)));
	const state = JSON.stringify({ source: `${catalogue.url} organization:x p-`, smallkeys: [] });
	// The second layer cannot be written.
	writeFiles(folder, { "out/p-b.json/x/y": "", "out.state.json": state });
	const { code, errors } = await follow("ckan", catalogue, folder);
	assert.equal([code, errors.length], [1, 1]);
	writeFiles(folder, { "out/p-b.json": null });
	const { problems } = await readBatch(join(folder, "out"));
	assert.equal(problems, [
		`${join(folder, "out/UNFINISHED")}: must be named <smallkey>.json or <smallkey>.service.json`,
	]);

	// The layer that was written before the end has left the catalogue.
	catalogue.sets.shift();
	const { report } = await follow("ckan", catalogue, folder);
	assert.equal(report.slice(0, 3), ["added p-b", "added p-c", "removed p-a"]);
	assert.equal(Object.keys(await layersIn(folder)), ["p-b", "p-c"]);
});

test.run();
