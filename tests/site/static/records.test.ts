import { readFile } from "node:fs/promises";
import { join } from "node:path";
import Ajv from "ajv";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { buildCatalogue } from "../../catalogue/entries.ts";
import { pageSettings } from "../../catalogue/pages.ts";
import { root } from "../../helpers/process.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { layers, serveRecords } from "./records-world.ts";

const test = sharedSuite("OGC API Records", async (use) => use(await serveRecords()));

// biome-ignore lint/suspicious/noExplicitAny: the members of an answer are what is tested
async function read(address: string, status = 200): Promise<any> {
	const response = await fetch(address);
	assert.is(response.status, status, address);
	return response.json();
}

test("q, bbox, ids, type, limit and offset choose records; what cannot be read is refused", async (scene) => {
	const { address } = scene;
	const items = `${address}/collections/layers/items`;
	const ids = async (query: string) =>
		(await read(`${items}?${query}`)).features.map(({ id }: { id: string }) => id);
	assert.equal(await ids("q=RIVIERES"), ["rivers"]);
	assert.equal(await ids("q=ecoles,base%20map"), ["schools", "tiles"]);
	assert.equal(await ids("q=rivers%20ontario"), [], "words that do not follow each other");
	assert.equal(await ids("q=ontario%20every"), [], "words of two texts");
	assert.equal(await ids("q=education"), ["schools"]);
	assert.equal(await ids("q=bureau%20des"), ["schools"]);
	const placed = "ids=rivers,schools&bbox";
	assert.equal(await ids(`${placed}=-80,40,-70,45`), ["rivers", "schools"]);
	assert.equal(await ids(`${placed}=170,50,-130,60`), ["schools"], "over 180 degrees");
	assert.equal(await ids(`${placed}=-80,40,0,-70,45,9`), ["rivers", "schools"]);
	assert.equal(await ids("ids=rivers,tiles&bbox=170,50,175,60"), ["tiles"], "of which no extent is known");
	assert.equal(await ids("ids=tiles,none,rivers"), ["rivers", "tiles"]);
	assert.equal(await ids("type=feature,ogcWmts"), ["schools", "tiles"]);
	assert.equal(await ids("type=wms&q=rivers"), ["rivers"]);
	assert.is((await ids("")).length, 10);
	for (const time of ["2026-01-01T00:00:00Z", "2026-01-01", "../2026-01-01", "2026-01-01T00:00:00Z/"])
		assert.equal(await ids(`datetime=${time}&ids=rivers`), ["rivers"], time);
	const first = await read(`${items}?q=census&limit=150`);
	assert.equal([first.numberMatched, first.numberReturned], [200, 150]);
	const next = first.links.find(({ rel }: { rel: string }) => rel === "next").href;
	const second = await read(new URL(next, items).href);
	assert.equal([second.numberMatched, second.numberReturned], [200, 50]);
	assert.not.ok(second.links.some(({ rel }: { rel: string }) => rel === "next"));
	const found = [...first.features, ...second.features].map(({ id }: { id: string }) => id);
	assert.is(new Set(found).size, 200);
	for (const wrong of [
		"limit=0",
		"limit=x",
		"offset=-1",
		"bbox=1,2,3",
		"bbox=0,9,1,8",
		"bbox=a,b,c,d",
		"f=xml",
		"datetime=yesterday",
		"datetime=2026-13-01",
		"datetime=a/b/c",
		"what=1",
		`q=${"a,".repeat(30)}`.replace(/a/g, () => crypto.randomUUID().slice(0, 4)),
	]) {
		const { code, description } = await read(`${items}?${wrong}`, 400);
		assert.is(code, "InvalidParameterValue", wrong);
		assert.match(description, wrong.startsWith("what") ? "what" : (wrong.split("=")[0] as string));
	}
	const french = await fetch(`${items}?limit=0`, { headers: { "Accept-Language": "fr-CA" } });
	const { description, errors } = (await french.json()) as { description: string; errors: string[] };
	assert.is(description, 'limit: doit être un nombre entier, et non "0"');
	assert.equal(errors, [description]);
	assert.is(french.headers.get("content-language"), "fr");
	assert.is(french.headers.get("vary"), "Accept-Language");
	await read(`${items}/none`, 404);
	await read(`${items}/%zz`, 404);
	await read(`${address}/collections/none`, 404);
	const one = await fetch(`${items}/rivers`);
	assert.is(one.headers.get("access-control-allow-origin"), "*");
	const etag = one.headers.get("etag") ?? "";
	assert.is((await fetch(`${items}/rivers`, { headers: { "If-None-Match": etag } })).status, 304);
});

test("the landing page leads to what is declared, and nothing else is declared", async ({ address }) => {
	const { conformsTo } = await read(`${address}/conformance`);
	assert.equal(conformsTo, [
		"http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
		"http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
		"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
		"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
		"http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-core",
		"http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/record-collection",
		"http://www.opengis.net/spec/ogcapi-records-1/1.0/conf/json",
	]);
	const { links } = await read(`${address}/ogc`);
	for (const rel of ["self", "conformance", "data"]) {
		const { href, type } = links.find((one: { rel: string }) => one.rel === rel);
		const response = await fetch(new URL(href, `${address}/ogc`));
		assert.is(response.status, 200, rel);
		assert.match(response.headers.get("content-type") ?? "", type);
	}
	const items = await fetch(`${address}/collections/layers/items`);
	assert.match(items.headers.get("content-type") ?? "", "application/geo+json");
});

test("links name the service, its protocol and its layer as QGIS' MetaSearch reads them", async (scene) => {
	const { address } = scene;
	const services = async (smallkey: string) =>
		(await read(`${address}/collections/layers/items/${smallkey}`)).links
			.filter(({ protocol }: { protocol?: string }) => protocol)
			.map(({ protocol, href, name }: Record<string, string>) => [protocol, href, name]);
	assert.equal(await services("rivers"), [
		["OGC:WMS", "https://maps.example.ca/wms", "hydro:rivers"],
		["OGC:WMS", "https://cartes.example.ca/wms", "hydro:rivieres"],
	]);
	assert.equal(await services("schools"), [
		["ESRI:ArcGIS:MapServer", "https://gis.example.ca/arcgis/rest/services/edu/MapServer", "3"],
	]);
	assert.equal((await services("tiles"))[0], ["OGC:WMTS", "https://maps.example.ca/wms", "base"]);
});

/** Validators of the standard's own schemas (tests/fixtures/ogcapi). */
async function standard(): Promise<(name: string, value: unknown) => string[]> {
	const text = await readFile(join(root, "tests/fixtures/ogcapi/records.yaml"), "utf8");
	const { components } = parse(text) as { components: { schemas: Record<string, object> } };
	// A layer that is nowhere has no geometry (RFC 7946, section 3.2); the schemas mean it, and say it in a way that no
	// record with a geometry fits: one of an object and a geometry, which is an object as well.
	const meant = JSON.stringify(components)
		.replaceAll('"oneOf":[{"type":"object","nullable":true},', '"oneOf":[{"type":"null"},')
		.replace('"geometry":{"$ref":"#/components/schemas/geometryGeoJSON"}', '"geometry":{}');
	const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
	ajv.addSchema({ $id: "ogc", components: JSON.parse(meant) });
	return (name, value) => {
		const validate = ajv.getSchema(`ogc#/components/schemas/${name}`);
		assert.ok(validate, name);
		return validate?.(value)
			? []
			: (validate?.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
	};
}

test("answers are as the standard's schemas have them", async ({ address }) => {
	const faults = await standard();
	const items = await read(`${address}/collections/layers/items?limit=1000`);
	assert.is(items.features.length, 200, "no more than 200 at once");
	assert.equal(faults("recordCollectionGeoJSON", items), []);
	assert.equal(faults("recordGeoJSON", await read(`${address}/collections/layers/items/rivers`)), []);
	assert.equal(faults("catalog", await read(`${address}/collections/layers`)), []);
	assert.equal(faults("landingPage", await read(`${address}/ogc`)), []);
	assert.equal(faults("confClasses", await read(`${address}/conformance`)), []);
	assert.ok(faults("recordGeoJSON", { ...items.features[0], geometry: { type: "Point" } }).length > 0);
	assert.ok(faults("catalog", { id: 1 }).length > 0);
});

test("the crawlable form on a hosting of files is as the standard's schemas have it", async () => {
	const faults = await standard();
	const settings = { pages: pageSettings, isServed: false, commit: null, owners: () => [] };
	const files = buildCatalogue(layers, null, settings);
	const index = JSON.parse(files.get("records/index.json") ?? "");
	assert.equal(faults("catalog", index), []);
	const children = index.links.filter(({ rel }: { rel: string }) => rel === "child");
	const found = children.flatMap(({ href }: { href: string }) => {
		const page = JSON.parse(files.get(href.replace("../", "")) ?? "");
		assert.equal(faults("catalog", page), []);
		for (const record of page.records) assert.equal(faults("recordGeoJSON", record), []);
		return page.records.map(({ id }: { id: string }) => id);
	});
	assert.equal(found.sort(), layers.map(({ smallkey }) => smallkey).sort());
});

test.run();
