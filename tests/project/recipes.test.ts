import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { parseRegistration } from "../../registry/registration.ts";
import { root } from "../helpers/process.ts";
import { folderSuite } from "../helpers/world.ts";
import { type JsonRequest, startJsonServer } from "../scripts/json-server.ts";
import { datasets, energy, french, records } from "./catalogue-answers.ts";

interface Scene {
	folder: string;
}

const test = folderSuite("recipes for catalogues");

/** Runs a recipe against a catalogue. @returns its output, and the registrations it wrote, which have no problems */
async function follow(
	{ folder }: Scene,
	recipe: string,
	filter: string,
	answer: (request: JsonRequest) => object,
) {
	await using server = await startJsonServer((request) => ({ status: 200, body: answer(request) }));
	const words = [join(root, "docs/recipes", recipe), server.url, filter, join(folder, "out"), "nrcan-"];
	const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
	const written: Record<string, unknown> = {};
	for (const name of (await readdir(join(folder, "out"))).sort()) {
		const bytes = await readFile(join(folder, "out", name));
		assert.equal(parseRegistration(bytes, "written").problems, [], name);
		written[name] = JSON.parse(bytes.toString());
	}
	return { stdout, stderr, written, url: server.url };
}

test("the resources of CKAN become registrations in two languages", async (scene) => {
	const asked: string[] = [];
	const { stdout, stderr, written, url } = await follow(
		scene,
		"ckan.mjs",
		"organization:nrcan-rncan",
		({ path, query }) => {
			asked.push(`${path} ${query.get("fq")} ${query.get("start")}`);
			const start = Number(query.get("start"));
			// It sends fewer rows than asked for.
			return { success: true, result: { count: datasets.length, results: datasets.slice(start, start + 3) } };
		},
	);
	assert.equal(
		asked,
		["0", "3"].map((start) => `/api/3/action/package_search organization:nrcan-rncan ${start}`),
	);
	const expected = ["r5", "r1", "r3", "r8", "r10", "r11", ""].map((id) => id && `nrcan-${id}`);
	assert.equal(stdout.split("\n"), expected);
	const unpaired = "as many English as French links are needed to pair them";
	assert.equal(stderr.split("\n"), [
		"left out: nrcan-r9: names no single layer",
		"left out: nrcan-r12: names no single layer",
		"left out: nrcan-r13: names no single layer",
		...["r15", "r16", "r17"].map((id) => `left out: nrcan-${id}: ${unpaired}`),
		"",
	]);
	const metadata = { catalogue_url: `${url}/dataset/d1` };
	assert.equal(written["nrcan-r5.json"], {
		...{ version: "1.0.0", payload_type: "wms" },
		en: {
			...{
				service_url: "https://maps.example/energy_en/WMSServer?token=1",
				service_name: "Terminals",
				metadata,
			},
			...{ layer: "1", legend_format: "image/png", feature_info_type: "text/html" },
		},
		fr: {
			...{ service_url: "https://maps.example/energy_fr/WMSServer", service_name: "Terminaux", metadata },
			layer: "2",
		},
	});
	assert.equal(written["nrcan-r3.json"], {
		...{ version: "1.0.0", payload_type: "feature" },
		en: { service_url: `${energy}/20`, service_name: "Terminals", metadata },
		fr: { service_url: french(`${energy}/20`), service_name: "Terminaux", metadata },
	});
	const names = (name: string) => {
		const { en, fr } = written[name] as Record<"en" | "fr", Record<string, string>>;
		return [en, fr].map(({ service_name, service_url, layer }) => [service_name, service_url, layer]);
	};
	assert.equal(names("nrcan-r8.json"), [
		["Relief map", "https://maps.example/relief", "relief"],
		["Carte du relief", "https://maps.example/relief", "relief"],
	]);
	assert.equal(names("nrcan-r10.json")[0], ["Relief map", "https://maps.example/FeatureServer/0", undefined]);
	assert.equal(names("nrcan-r11.json")[1], ["Basins", "https://maps.example/wms", "basins"]);
});

test("the links of GeoNetwork become registrations in two languages", async (scene) => {
	const asked: unknown[] = [];
	const { stdout, stderr, written } = await follow(
		scene,
		"geonetwork.mjs",
		"groupOwner:12",
		({ method, path, body }) => {
			asked.push([method, path, body.from, body.size]);
			const hits = records.map((record) => ({ _index: "gn-records", _source: record }));
			return { took: 1, timed_out: false, hits: { total: { value: hits.length, relation: "eq" }, hits } };
		},
	);
	assert.equal(asked, [["POST", "/srv/api/search/records/_search", 0, 100]]);
	const [first] = records;
	const wms = { version: "1.0.0", payload_type: "wms" };
	assert.equal(stdout.split("\n"), [
		...[`nrcan-${first?.uuid}-1`, "nrcan-surval-1", "nrcan-fgp-2", "nrcan-fgp-1", ""],
	]);
	assert.equal(stderr.split("\n"), [
		`left out: nrcan-${first?.uuid}-3: names no single layer`,
		`left out: nrcan-${first?.uuid}-2: names no single layer`,
		"left out: nrcan-urn:isogeo:1-1: is not a smallkey (1 to 64 of A-Z a-z 0-9 _ - + =)",
		"",
	]);
	const alps = { metadata: { uuid: first?.uuid }, layer: "alps" };
	assert.equal(written[`nrcan-${first?.uuid}-1.json`], {
		...wms,
		en: { service_url: "https://maps.example/?lang=de", service_name: "Alps", ...alps },
		fr: { service_url: "https://maps.example/?lang=fr", service_name: "Alpes", ...alps },
	});
	const fgp = { metadata: { uuid: "fgp" } };
	assert.equal(written["nrcan-fgp-2.json"], {
		...wms,
		en: {
			service_url: "https://maps.example/energy_en/WMSServer",
			service_name: "Terminals",
			...fgp,
			layer: "1",
		},
		fr: {
			service_url: "https://maps.example/energy_fr/WMSServer",
			service_name: "Terminaux",
			...fgp,
			layer: "1",
		},
	});
	assert.equal(written["nrcan-fgp-1.json"], {
		...{ version: "1.0.0", payload_type: "feature" },
		en: { service_url: `${energy}/1`, service_name: "Terminals", ...fgp },
		fr: { service_url: french(`${energy}/1`), service_name: "Terminaux", ...fgp },
	});
});

test.run();
