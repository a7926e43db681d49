import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parseRegistration } from "../../registry/registration.ts";
import { temporaryFolder } from "../local.ts";
import { root } from "../process.ts";
import { type JsonRequest, startJsonServer } from "../scripts/json-server.ts";

interface Scene {
	folder: string;
	remove: () => Promise<void>;
}

const test = suite<Scene>("recipes for catalogues");

test.before.each(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.folder = path;
	scene.remove = remove;
});
test.after.each(({ remove }) => remove());

/** Runs a recipe against a catalogue. @returns its output, and the registrations it wrote, which have no problems */
async function follow(
	{ folder }: Scene,
	recipe: string,
	filter: string,
	answer: (request: JsonRequest) => object,
) {
	const server = await startJsonServer((request) => ({ status: 200, body: answer(request) }));
	try {
		const words = [join(root, "docs/recipes", recipe), server.url, filter, join(folder, "out"), "nrcan-"];
		const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
		const written: Record<string, unknown> = {};
		for (const name of (await readdir(join(folder, "out"))).sort()) {
			const bytes = await readFile(join(folder, "out", name));
			assert.equal(parseRegistration(bytes, "written").problems, [], name);
			written[name] = JSON.parse(bytes.toString());
		}
		return { stdout, stderr, written, url: server.url };
	} finally {
		await server.close();
	}
}

const arcgis = "https://geo.example/arcgis/rest/services/NRCan/energy_en/MapServer/3";

test("the WMS and ArcGIS resources of CKAN become registrations in two languages", async (scene) => {
	const resource = (id: string, format: string, language: string[], url: string) => ({
		id,
		format,
		language,
		url,
	});
	const wms = (lang: string) =>
		`https://geo.example/wms/roads_${lang}?service=WMS&request=GetCapabilities&version=1.1.1&layers=roads&token=1`;
	const datasets = [
		{
			id: "d1",
			title: "Roads",
			title_translated: { en: "Roads", fr: "Routes" },
			resources: [
				resource("r1", "WMS", ["en"], wms("en")),
				resource("r2", "WMS", ["fr"], wms("fr")),
				resource("r3", "ESRI REST", ["en"], arcgis),
				resource("r4", "ESRI REST", ["fr"], arcgis.replace("_en", "_fr")),
				resource("r5", "CSV", ["en"], "https://geo.example/roads.csv"),
			],
		},
		{ id: "d2", title: "All", resources: [resource("r6", "WMS", [], "https://geo.example/wms/all")] },
	];
	const asked: string[] = [];
	const { stdout, stderr, written, url } = await follow(
		scene,
		"ckan.mjs",
		"organization:nrcan-rncan",
		({ path, query }) => {
			asked.push(`${path} ${query.get("fq")} ${query.get("start")}`);
			const start = Number(query.get("start"));
			// 101 data sets: the second page has the last one.
			return {
				success: true,
				result: { count: 101, results: start === 0 ? datasets.slice(0, 1) : datasets.slice(1) },
			};
		},
	);
	assert.equal(
		asked,
		["0", "100"].map((start) => `/api/3/action/package_search organization:nrcan-rncan ${start}`),
	);
	assert.is(stdout, "nrcan-r1\nnrcan-r3\n");
	assert.is(stderr, "left out: nrcan-r6: names no single layer\n");
	const metadata = { catalogue_url: `${url}/dataset/d1` };
	const member = (lang: string, title: string) => ({
		...{ service_url: `https://geo.example/wms/roads_${lang}?token=1`, service_name: title },
		...{ metadata, layer: "roads" },
	});
	const document = { version: "1.0.0", payload_type: "wms" };
	assert.equal(written["nrcan-r1.json"], {
		...document,
		en: member("en", "Roads"),
		fr: member("fr", "Routes"),
	});
	assert.equal(written["nrcan-r3.json"], {
		...{ version: "1.0.0", payload_type: "feature" },
		en: { service_url: arcgis, service_name: "Roads", metadata },
		fr: { service_url: arcgis.replace("_en", "_fr"), service_name: "Routes", metadata },
	});
});

test("the WMS and ArcGIS links of GeoNetwork become registrations in two languages", async (scene) => {
	const uuid = "4a1c3c2e-9c0e-4d7d-9c0a-5d1f0a6c7a11";
	const record = {
		uuid,
		resourceTitleObject: { default: "Roads", langeng: "Roads", langfre: "Routes" },
		link: [
			{
				protocol: "OGC:WMS-1.3.0-http-get-map",
				urlObject: { default: "https://geo.example/wms?", langfre: "https://geo.example/wms_fr?" },
				nameObject: { default: "roads", langfre: "routes" },
			},
			{
				protocol: "WWW:LINK",
				urlObject: { default: "https://geo.example/" },
				nameObject: { default: "page" },
			},
			// Version 4.0 has plain texts.
			{ protocol: "ESRI:REST", url: arcgis, name: "Energy" },
		],
	};
	const asked: unknown[] = [];
	const { stdout, written } = await follow(
		scene,
		"geonetwork.mjs",
		"groupOwner:12",
		({ method, path, body }) => {
			asked.push([method, path, body.from, body.size]);
			return { hits: { total: { value: 1, relation: "eq" }, hits: [{ _source: record }] } };
		},
	);
	assert.equal(asked, [["POST", "/srv/api/search/records/_search", 0, 100]]);
	assert.is(stdout, `nrcan-${uuid}-1\nnrcan-${uuid}-2\n`);
	const metadata = { uuid };
	assert.equal(written[`nrcan-${uuid}-1.json`], {
		...{ version: "1.0.0", payload_type: "wms" },
		en: { service_url: "https://geo.example/wms", service_name: "Roads", metadata, layer: "roads" },
		fr: { service_url: "https://geo.example/wms_fr", service_name: "Routes", metadata, layer: "routes" },
	});
	assert.equal((written[`nrcan-${uuid}-2.json`] as { payload_type: string }).payload_type, "feature");
});

test.run();
