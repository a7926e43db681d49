import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { descriptionPath, layerPath } from "../../../../registry/smallkey.ts";
import { runScript } from "../../../helpers/process.ts";
import { freshSuite, temporaryFolder, writeFiles } from "../../../helpers/world.ts";
import { featureAt } from "../../../viewer/viewer.ts";
import { layerDocument, mapLayer, serveLayer, storeLayer } from "../arcgis-server.ts";
import { json } from "../memory.ts";
import { Peer, text } from "../peer.ts";

let peer: Peer;
let folder: string;
let day: string;
const test = freshSuite("the commands that ask services", async (use) => {
	peer = use(await Peer.open());
	folder = use(await temporaryFolder()).path;
	day = "2026-03-04";
	serveLayer(peer);
	serveWms();
	storeLayer(folder, peer, "ozone");
	storeWms("roads");
	return {};
});

function run(name: string, ...words: string[]) {
	return runWith({ HARVEST_ALLOW_PRIVATE: "on" }, name, ...words);
}

async function runWith(variables: Record<string, string>, name: string, ...words: string[]) {
	const argv = [...words, "--layers", join(folder, "layers")];
	const now = () => new Date(`${day}T12:00:00Z`);
	const { code, stdout, stderr } = await runScript(name, argv, variables, { now });
	return { code, output: stdout + stderr };
}

const storeWrong = () => storeLayer(folder, peer, "wrong", "/nothing/MapServer/1");

function serveWms(about = "") {
	const layer = `<Layer queryable='1'><Name>roads</Name>${about}<Title>Roads</Title></Layer>`;
	peer.on("/wms", text(`<WMS_Capabilities><Capability>${layer}</Capability></WMS_Capabilities>`, "text/xml"));
}

function storeWms(smallkey: string, layer = smallkey) {
	const entry = { service_url: `${peer.origin}/wms`, layer };
	const registration = { version: "1.0.0", payload_type: "wms", en: entry, fr: entry };
	writeFiles(folder, { [layerPath(smallkey)]: JSON.stringify(registration) });
}

function readDescription(smallkey: string) {
	return readFile(join(folder, descriptionPath(smallkey)), "utf8");
}

test("harvest writes a description beside each layer, and changes no file for nothing", async () => {
	storeLayer(folder, peer, "parks");
	storeWms("streets", "roads");
	const first = await run("harvest");
	assert.is(first.code, 0, first.output);
	assert.match(first.output, "4 layers asked, 4 descriptions changed, 0 with findings");
	assert.is(peer.asked.filter((target) => target.startsWith("/wms")).length, 1, "once for all of its layers");
	const service_url = `${peer.origin}/wms`;
	const described = { service_url, layers: ["roads"], title: "Roads", siblings: [] };
	assert.equal(JSON.parse(await readDescription("roads")), { en: described, fr: described });
	const written = await readDescription("ozone");
	assert.is(JSON.parse(written).en.name, "Stations");
	assert.ok(written.endsWith("}\n"));
	const again = await run("harvest", "ozone");
	assert.match(again.output, "1 layer asked, 0 descriptions changed, 0 with findings");
	assert.is(await readDescription("ozone"), written);
	await rm(join(folder, descriptionPath("ozone")));
	assert.match((await run("harvest", "--new")).output, "1 layer asked, 1 description changed");
});

test("wrong registrations end a harvest with exit code 1, services that are down do not", async () => {
	serveLayer(peer, { layer: 403 });
	const down = await run("harvest");
	assert.is(down.code, 0);
	assert.match(
		down.output,
		/Services that are down.*\n {2}layers\/oz\/ozone.json: \/en\/service_url: http.* answers with status 403/,
	);
	storeWrong();
	writeFiles(folder, { "layers/ba/bad.json": "{" });
	const both = await run("harvest");
	assert.is(both.code, 1);
	assert.match(both.output, "layers/ba/bad.json: the document: must be JSON");
	assert.match(
		both.output,
		/Wrong registrations.*\n {2}layers\/wr\/wrong.json: \/en\/service_url: http.* 404/,
	);
	assert.not(existsSync(join(folder, descriptionPath("wrong"))));
});

test("addresses that are not public are not asked unless that is allowed", async () => {
	for (const script of ["harvest", "watch-services"]) {
		const { code, output } = await runWith({}, script);
		assert.is(code, 1);
		const refusal =
			/ozone.json: \/en\/service_url: http.* 127.0.0.1 is not an address of the public internet/;
		assert.match(output, refusal);
	}
	assert.equal(peer.asked, []);
});

test("no text of a service or a file is a command of the runner, or has control characters", async () => {
	const hostile = "##[stop-commands]x\u001b[31m\u0007\n::set-output name=x::y";
	const shown = "## [stop-commands]x";
	const unsafe = /##\[|^\s*::|(?!\n)\p{Cc}/mu;
	const named = featureAt(peer.origin + mapLayer, { display_field: hostile });
	const bad = `layers/ba/bad${hostile.replaceAll("/", "")}.json`;
	writeFiles(folder, { [layerPath("ozone")]: JSON.stringify(named), [bad]: "{" });
	for (const [script, layer, ...expected] of [
		["watch-services", layerDocument(), "has no field ", "bad"],
		["harvest", { error: { code: 500, message: hostile } }, "answers with ArcGIS error 500: "],
	] as const) {
		serveLayer(peer, { layer: json(layer) });
		const { code, output } = await run(script);
		assert.is(code, Number(script === "watch-services"));
		for (const words of expected) assert.match(output, words + shown);
		assert.not.match(output, unsafe);
	}
});

function health() {
	return readFile(join(folder, "layers/health.json"), "utf8").catch(() => null);
}

const noFeatures = { query: json({ features: [] }) };

test("sick layers are written with the week since when; without any there is no file", async () => {
	serveLayer(peer, noFeatures);
	storeWrong();
	const layers = ["ozone", "wrong"];
	const first = await run("watch-services", ...layers);
	assert.is(first.code, 1);
	assert.match(first.output, "checked 2 layers: 0 well, 1 wrong, 0 down, 1 empty, 0 blocked\n");
	assert.match(
		first.output,
		/Wrong registrations.*\n {2}layers\/wr\/wrong.json: \/en\/service_url: http.* 404\n/,
	);
	assert.match(first.output, /nothing to be seen:\n {2}layers\/oz\/ozone.json: .* has no features\n/);
	const written =
		'{\n  "sick": {\n    "ozone": {"state":"empty","since":"2026-W10","cause":"has no features","code":"no-features"},\n    "wrong": {"state":"wrong","since":"2026-W10","cause":"answers with status 404","code":"status","values":["404"]}\n  }\n}\n';
	assert.is(await health(), written);
	day = "2026-03-18";
	await run("watch-services", ...layers);
	assert.is(await health(), written, "the file changes only where something does");
	serveLayer(peer);
	await rm(join(folder, layerPath("wrong")));
	const well = await run("watch-services", "ozone");
	assert.is(well.code, 0);
	assert.match(well.output, "checked 1 layer: 1 well, 0 wrong, 0 down, 0 empty, 0 blocked\n");
	assert.is(await health(), null);
});

test("other layers keep their state, a wrong file is named once, a picture has the map's reference", async () => {
	serveLayer(peer, noFeatures);
	storeLayer(folder, peer, "parks");
	await run("watch-services", "ozone", "parks");
	serveLayer(peer);
	writeFiles(folder, { "layers/ba/bad.json": "{" });
	serveWms("<CRS>EPSG:3978</CRS><CRS>EPSG:3347</CRS>");
	const variables = { HARVEST_ALLOW_PRIVATE: "on", MAP_WKID: "3347" };
	const { output } = await runWith(variables, "watch-services", "parks", "roads");
	assert.match(output, "checked 2 layers: 1 well, 0 wrong, 1 down");
	assert.match(peer.asked.find((target) => target.includes("GetMap")) ?? "", "CRS=EPSG%3A3347");
	assert.is(output.match(/bad\.json/g)?.length, 1);
	assert.equal(Object.keys(JSON.parse((await health()) ?? "").sick), ["ozone", "roads"]);
});

test("if no host can be reached, this machine is at fault and nothing is written", async () => {
	await using other = await Peer.open();
	for (const server of [peer, other]) serveLayer(server, { layer: 403 });
	assert.is((await run("watch-services")).code, 0, "one host alone says nothing about the connection");
	const before = await health();
	storeLayer(folder, other, "parks");
	const { code, output } = await run("watch-services");
	assert.is(code, 2);
	assert.match(output, /none of 2 hosts can be asked from here: http.* status/);
	assert.is(await health(), before);
});

test.run();
