import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { answering, runUnless, sharedSuite } from "../../helpers/world.ts";
import { openRecords } from "./records-world.ts";

/** Reads the service with OWSLib as QGIS' MetaSearch does: *Add data* is for a link whose `type` is one of a list. */
const metaSearch = `
import json, sys
from owslib.ogcapi.records import Records
from owslib.util import http_get
base, collection = sys.argv[1].split("/collections/")
records = Records(base)
found = {"records": records.records(), "conforms": len(records.conformance()["conformsTo"])}
found["title"] = records.collection(collection)["title"]
found["paths"] = len(records.api()["paths"])
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
                found.setdefault(one["id"], []).append(action + " " + link["href"])
print(json.dumps(found))
`;

const wms = ["wms https://maps.example.ca/wms", "wms https://cartes.example.ca/wms"];
const expected = {
	records: ["layers"],
	conforms: 7,
	title: "Map layers · Couches cartographiques",
	paths: 5,
	ids: ["rivers"],
	paged: 200,
	item: "Schools · Écoles",
	rivers: wms,
	tiles: wms,
	schools: ["ams https://gis.example.ca/arcgis/rest/services/edu/MapServer"],
	wells: ["afs https://gis.example.ca/arcgis/rest/services/wells/FeatureServer"],
};

const run = promisify(execFile);
const python = "/usr/bin/python3";
const hasOwslib = await run(python, ["-c", "import owslib"]).then(
	() => true,
	() => false,
);

const test = sharedSuite("OGC API Records: clients", async (use) => {
	const { ask } = use(await openRecords());
	return use(
		await answering(async (request, response) => {
			const reply = await ask(request.url ?? "", `http://${request.headers.host}`);
			response.writeHead(reply.status, reply.headers).end(reply.body);
		}),
	);
});

test("MetaSearch searches, pages and adds data", async ({ origin }) => {
	const { stdout } = await run(python, ["-c", metaSearch, `${origin}/base/ogc/collections/layers`]);
	assert.equal(JSON.parse(stdout), expected);
});

runUnless(
	hasOwslib || process.env.CI ? null : "OGC API Records: there is no OWSLib (Debian: python3-owslib)",
	test,
);
