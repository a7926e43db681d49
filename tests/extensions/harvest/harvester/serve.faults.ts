import { join } from "node:path";
import * as assert from "uvu/assert";
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

test("a layer that is put or pushed is harvested once, a restart asks for nothing, a refresh for all; HARVEST=off asks nothing", async () => {
	await using peer = await Peer.open();
	serveLayer(peer);
	const feature = JSON.stringify(featureAt(peer.origin + mapLayer));
	await using folder = await temporaryFolder();
	// A repository without layers: no service but the test's own is asked.
	const repository = join(folder.path, "repository.git");
	const publish = async () => ({ warnings: [] });
	const options = { repository, now: () => new Date(), publish, log: logTo([]) };
	await (await openGitStore(options, async () => [])).close();
	const secret = "test_-k";
	const start = (HARVEST: string) => {
		const SENDERS = JSON.stringify({ jstest: secret });
		return ServerProcess.start({ DATA_DIR: folder.path, SENDERS, HARVEST, HARVEST_ALLOW_PRIVATE: "on" });
	};
	let server = await start("on");
	const send = async (method: string, target: string, body = "") =>
		fetch(server.url + target, await signed(target, body, { method, secret }));
	const put = async (smallkey: string) =>
		assert.is((await send("PUT", `/register/${smallkey}`, feature)).status, 201);
	const read = async (path: string) => (await fetch(server.url + path)).json().catch(() => null);
	const harvestState = async (smallkey: string) => (await read(`/status/${smallkey}`)).harvest.state;
	const displayName = async (smallkey: string) =>
		(await read(`/v0.9/doc/en/${smallkey}`))?.layers.feature[0].displayName;
	await put("ozone");
	await eventually(async () => (await displayName("ozone")) === "Stations");
	await eventually(async () => (await harvestState("ozone")) === "done");
	await using clone = await Clone.of(repository);
	await clone.commit({ [layerPath("pushed")]: feature });
	assert.ok(await clone.push());
	await eventually(async () => (await displayName("pushed")) === "Stations");
	await server.stop();
	peer.asked.length = 0;
	server = await start("on");
	assert.equal([await displayName("ozone"), await harvestState("ozone")], ["Stations", "done"]);
	assert.equal(peer.asked, []);
	const answer = await send("POST", "/v2/refresh/all");
	assert.equal([answer.status, await answer.json()], [202, { layers: 2 }]);
	await eventually(() => peer.asked.length > 0);
	await server.stop();
	peer.asked.length = 0;
	server = await start("off");
	await put("other");
	assert.is((await send("POST", "/v1/update/all")).status, 409);
	await server.stop();
	assert.equal(peer.asked, []);
});

test.run();
