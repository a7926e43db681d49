import { execFile } from "node:child_process";
import { get } from "node:http";
import { promisify } from "node:util";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import * as assert from "uvu/assert";
import { answering, sharedSuite } from "../../helpers/world.ts";
import { serveRecords } from "./records-world.ts";

const test = sharedSuite("OGC API Records: clients", async (use) => use(await serveRecords()));

const python = "/usr/bin/python3";

/** Runs a program with OWSLib. @returns its output as JSON; null if OWSLib is not installed */
async function runOwslib(program: string, ...parts: string[]) {
	const run = promisify(execFile);
	const has = await run(python, ["-c", "import owslib"]).then(
		() => true,
		() => false,
	);
	if (!has) {
		// CI installs it (.ci/run).
		assert.not.ok(process.env.CI, "python3-owslib is missing");
		console.log("SKIPPED: OWSLib is not installed (Debian: python3-owslib)");
		return null;
	}
	const { stdout } = await run(python, ["-c", program, ...parts]);
	return JSON.parse(stdout);
}

/**
 * Reads the service with OWSLib as QGIS' MetaSearch does: the user's address names the collection, the number of the first
 * record is the offset, and *Add data* is for a link whose `type` is one of a list (`link_types.py`).
 */
const metaSearch = `
import json, sys
from owslib.ogcapi.records import Records
from owslib.util import http_get
base, collection = sys.argv[1].split("/collections/")
records = Records(base)
found = {"records": records.records(), "conforms": len(records.conformance()["conformsTo"])}
found["title"] = records.collection(collection)["title"]
found["paths"] = sorted(records.api()["paths"])
search = lambda **query: records.collection_items(collection_id=collection, **query)
items = search(q="rivers", limit=5, offset=0, bbox=["-80", "40", "-70", "45"])
found["ids"] = [one["id"] for one in items["features"]]
seen, href = 0, None
page = search(q="census", limit=90, offset=0)
while page:
    seen += page["numberReturned"]
    href = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
    page = http_get(href).json() if href else None
found["paged"] = seen
found["item"] = records.collection_item(collection, "schools")["properties"]["title"]
adds = {"wms": ["WMS", "WMTS", "OGC:WMS", "OGC:WMTS"], "ams": ["ESRI:ARCGIS:MAPSERVER"], "afs": ["ESRI:ARCGIS:FEATURESERVER"]}
for one in search(limit=10, ids="rivers,schools,tiles,wells", offset=0)["features"]:
    for link in one["links"]:
        for action, types in adds.items():
            if link.get("type", "").upper() in types:
                found.setdefault(one["id"], []).append([action, link["href"]])
print(json.dumps(found))
`;

const expected = {
	records: ["layers"],
	conforms: 7,
	title: "Map layers · Couches cartographiques",
	paths: [
		"/collections",
		"/collections/layers",
		"/collections/layers/items",
		"/collections/layers/items/{smallkey}",
		"/conformance",
	],
	ids: ["rivers"],
	paged: 200,
	item: "Schools · Écoles",
	rivers: [
		["wms", "https://maps.example.ca/wms"],
		["wms", "https://cartes.example.ca/wms"],
	],
	schools: [["ams", "https://gis.example.ca/arcgis/rest/services/edu/MapServer"]],
	tiles: [
		["wms", "https://maps.example.ca/wms"],
		["wms", "https://cartes.example.ca/wms"],
	],
	wells: [["afs", "https://gis.example.ca/arcgis/rest/services/wells/FeatureServer"]],
};

test("MetaSearch searches, pages and adds data, also behind a proxy that publishes only /ogc", async (scene) => {
	const { address } = scene;
	// MetaSearch needs absolute links; a request of an untrusted client has none to `https`.
	await using proxy = await answering(async (request, response) => {
		if (!/^\/base\/ogc(?:[/?]|$)/.test(request.url ?? "")) return void response.writeHead(404).end();
		const passed = await fetchFrom(address, request.url ?? "", request.headers.host ?? "");
		response.writeHead(200, { "Content-Type": passed.type }).end(passed.body);
	});
	for (const site of [address, `${proxy.origin}/base`]) {
		const found = await runOwslib(metaSearch, `${site}/ogc/collections/layers`);
		if (found) assert.equal(found, expected, site);
	}
});

/** Requests a path of the service as a proxy does that names its client, its host and its scheme. */
function fetchFrom(address: string, path: string, host: string) {
	const headers = { Host: host, "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "http" };
	return new Promise<{ type: string; body: Buffer }>((resolve, reject) => {
		get(new URL(path, address), { headers }, async (answer) => {
			const body = Buffer.concat(await answer.toArray());
			resolve({ type: String(answer.headers["content-type"]), body });
		}).on("error", reject);
	});
}

/** The addresses of an answer's links to the API itself. */
async function linksAt(address: string, path: string, headers: Record<string, string> = {}) {
	const response = await fetch(address + path, { headers });
	assert.is(response.status, 200, path);
	const { links } = (await response.json()) as { links: { rel: string; href: string }[] };
	return links.filter(({ rel }) => rel !== "item" && rel !== "describedby").map(({ href }) => href);
}

test("links of the API are absolute where the request names its host, and relative where it is not known", async (scene) => {
	const { address } = scene;
	const pages = ["", "/collections", "/collections/layers", "/collections/layers/items?limit=2&offset=2"];
	for (const page of [...pages, "/collections/layers/items/rivers"]) {
		const below = `${address}/ogc`;
		for (const href of await linksAt(below, page)) assert.ok(href.startsWith(below), `${page}: ${href}`);
		if (page === "") continue;
		for (const href of await linksAt(address, page)) assert.ok(href.startsWith(`${address}/co`), href);
		const forwarded = { "X-Forwarded-For": "192.0.2.1" };
		for (const href of await linksAt(below, page, forwarded)) assert.match(href, /^(?:\.\.\/)+ogc\//, href);
		const secure = { ...forwarded, "X-Forwarded-Proto": "https" };
		for (const href of await linksAt(below, page, secure))
			assert.ok(href.startsWith(`${below.replace("http:", "https:")}/`), href);
	}
});

test("links are below PUBLIC_URL where it is set, whatever the request names", async () => {
	await using site = await serveRecords("https://layers.example.ca/rcs/");
	for (const href of await linksAt(`${site.address}/ogc`, "/collections/layers/items?limit=2&offset=2"))
		assert.ok(href.startsWith("https://layers.example.ca/rcs/ogc/collections/layers"), href);
});

test("the description of the API is valid OpenAPI 3.0, and its examples are answered", async (scene) => {
	const { address } = scene;
	const response = await fetch(`${address}/ogc/api`);
	const text = await response.text();
	const document = JSON.parse(text);
	assert.is(document.openapi, "3.0.3");
	const config = await createConfig({ extends: ["spec"] });
	const problems = await lintFromString({ source: text, absoluteRef: "api.json", config });
	assert.equal(
		problems.map(({ message }) => message),
		[],
	);
	for (const [path, { get: operation }] of Object.entries<{ get: { parameters?: Parameter[] } }>(
		document.paths,
	)) {
		const query = new URLSearchParams();
		for (const one of operation.parameters ?? [])
			if (one.in === "query") query.set(one.name, String(one.example));
		const wanted = `${document.servers[0].url}${path.replace("{smallkey}", "rivers")}?${query}`;
		assert.is((await fetch(wanted)).status, 200, wanted);
	}
});

interface Parameter {
	in: string;
	name: string;
	example: unknown;
}

test.run();
