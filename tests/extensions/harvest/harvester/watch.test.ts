import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../../../registry/smallkey.ts";
import { runScript } from "../../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../../helpers/world.ts";
import { mapLayer, serveLayer, storeLayer } from "../arcgis-server.ts";
import { json, Peer, text } from "../peer.ts";

let peer: Peer;
let folder: string;
let week: string;
const test = freshSuite("npx fragment-publisher watch-services", async (use) => {
	peer = use(await Peer.open());
	folder = use(await temporaryFolder()).path;
	week = "2026-03-04";
	return {};
});

/** Runs the command on the layers of the test's folder, on the day of the test. */
async function run(...words: string[]): Promise<{ code: number; output: string }> {
	const now = () => new Date(`${week}T12:00:00Z`);
	const argv = [...words, "--layers", join(folder, "layers")];
	const env = { HARVEST_ALLOW_PRIVATE: "on" };
	const { code, stdout, stderr } = await runScript("watch-services", argv, env, { now });
	return { code, output: stdout + stderr };
}

const storeFeature = (smallkey: string, path?: string, at = peer) => storeLayer(folder, at, smallkey, path);

function health(): Promise<string | null> {
	return readFile(join(folder, "layers/health.json"), "utf8").catch(() => null);
}

test("sick layers are written with the week in which they became sick; without any there is no file", async () => {
	serveLayer(peer, { feature: json({ features: [] }) });
	storeFeature("ozone");
	storeFeature("wrong", "/nothing/MapServer/1");
	const first = await run();
	assert.is(first.code, 1);
	assert.match(first.output, "checked 2 layers: 0 well, 1 wrong, 0 down, 1 empty, 0 blocked\n");
	assert.match(
		first.output,
		/Wrong registrations.*\n {2}layers\/wr\/wrong.json: \/en\/service_url: http.* 404 \(week 1\)/,
	);
	assert.match(
		first.output,
		/nothing to be seen:\n {2}layers\/oz\/ozone.json: .* has no features \(week 1\)/,
	);
	const written =
		'{\n  "sick": {\n    "ozone": {"state":"empty","since":"2026-W10","cause":"has no features","code":"no-features"},\n    "wrong": {"state":"wrong","since":"2026-W10","cause":"answers with status 404","code":"status","values":["404"]}\n  }\n}\n';
	assert.is(await health(), written);
	week = "2026-03-18";
	assert.match((await run()).output, /has no features \(week 3\)/);
	assert.is(await health(), written, "the file changes only where something does");
	serveLayer(peer);
	await rm(join(folder, layerPath("wrong")));
	const well = await run();
	assert.is(well.code, 0);
	assert.match(well.output, "checked 1 layer: 1 well, 0 wrong, 0 down, 0 empty, 0 blocked\n");
	assert.is(await health(), null);
});

test("layers that are not named keep what is known of them", async () => {
	serveLayer(peer, { feature: json({ features: [] }) });
	storeFeature("ozone");
	storeFeature("parks");
	await run();
	serveLayer(peer);
	assert.match((await run("parks")).output, "checked 1 layer: 1 well");
	assert.equal(Object.keys(JSON.parse((await health()) ?? "").sick), ["ozone"]);
});

test("if no host can be reached, this machine is at fault and nothing is written", async () => {
	await using other = await Peer.open();
	serveLayer(peer, { layer: text("no", "text/plain", 403) });
	serveLayer(other, { layer: text("no", "text/plain", 403) });
	storeFeature("ozone");
	assert.is((await run()).code, 0, "one host alone says nothing about the connection");
	const before = await health();
	storeFeature("parks", mapLayer, other);
	const { code, output } = await run();
	assert.is(code, 2);
	assert.match(output, /none of 2 hosts can be asked from here: http.* status/);
	assert.is(await health(), before);
});

test.run();
