import { join } from "node:path";
import * as assert from "uvu/assert";
import type { LayerStatus } from "../../../../registry/schemas/answers.ts";
import { layerPath } from "../../../../registry/smallkey.ts";
import { openGitStore } from "../../../../store/git/git-store.ts";
import { Clone } from "../../../helpers/clone.ts";
import { ServerProcess } from "../../../helpers/process.ts";
import { signed } from "../../../helpers/signed.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { temporaryFolder } from "../../../helpers/world.ts";
import { logTo } from "../../../store/git-store.ts";
import { featureAt } from "../../../viewer/viewer.ts";
import { mapLayer, serveLayer } from "../arcgis-server.ts";
import { Peer } from "../peer.ts";

const secret = "test_-k";

let peer: Peer;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: ServerProcess;

test.before.each(async () => {
	peer = await Peer.open();
	folder = await temporaryFolder();
	// A repository without layers: no service but the test's own is asked.
	const repository = join(folder.path, "repository.git");
	const options = {
		repository,
		now: () => new Date(),
		publish: async () => ({ warnings: [] }),
		log: logTo([]),
	};
	await (await openGitStore(options, async () => [])).close();
});
test.after.each(async () => {
	await server.stop();
	await folder.remove();
	await peer.close();
});

function start(harvest: string): Promise<ServerProcess> {
	const SENDERS = JSON.stringify({ jstest: secret });
	return ServerProcess.start({
		DATA_DIR: folder.path,
		SENDERS,
		HARVEST: harvest,
		HARVEST_ALLOW_PRIVATE: "on",
	});
}

function feature(): string {
	return JSON.stringify(featureAt(peer.origin + mapLayer));
}

async function send(method: string, target: string, body = ""): Promise<Response> {
	return fetch(server.url + target, await signed(target, body, { method, secret }));
}

async function put(smallkey: string): Promise<void> {
	const response = await send("PUT", `/register/${smallkey}`, feature());
	assert.is(response.status, 201, await response.text());
}

async function statusOf(smallkey: string): Promise<LayerStatus> {
	return (await fetch(`${server.url}/status/${smallkey}`)).json() as Promise<LayerStatus>;
}

async function displayName(smallkey: string): Promise<string> {
	const response = await fetch(`${server.url}/v0.9/doc/en/${smallkey}`);
	return response.ok ? (await response.json()).layers.feature[0].displayName : String(response.status);
}

test("a layer that is put or pushed is harvested once, a restart asks for nothing, and a refresh for all", async () => {
	serveLayer(peer);
	server = await start("on");
	await put("ozone");
	await eventually(async () => (await displayName("ozone")) === "Stations");
	await eventually(async () => (await statusOf("ozone")).harvest.state === "done");
	await using clone = await Clone.of(join(folder.path, "repository.git"));
	await clone.commit({ [layerPath("pushed")]: feature() });
	assert.ok(await clone.push());
	await eventually(async () => (await displayName("pushed")) === "Stations");
	await server.stop();
	peer.asked.length = 0;
	server = await start("on");
	assert.is(await displayName("ozone"), "Stations");
	assert.is((await statusOf("ozone")).harvest.state, "done");
	assert.equal(peer.asked, []);
	const answer = await send("POST", "/v2/refresh/all");
	assert.is(answer.status, 202);
	assert.equal(await answer.json(), { layers: 2 });
	await eventually(() => peer.asked.length > 0);
});

test("HARVEST=off asks nothing", async () => {
	serveLayer(peer);
	server = await start("off");
	await put("ozone");
	assert.is((await send("POST", "/v1/update/all")).status, 409);
	await server.stop();
	assert.equal(peer.asked, []);
});

test.run();
