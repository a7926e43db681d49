import * as assert from "uvu/assert";
import { createAsk } from "../../../../extensions/harvest/ask.ts";
import { createClients } from "../../../../extensions/harvest/clients.ts";
import { harvestLayer } from "../../../../extensions/harvest/harvest-layer.ts";
import { createFetch } from "../../../../extensions/harvest/net/fetch.ts";
import { Local } from "../../../helpers/local.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { featureAt } from "../../../viewer/viewer.ts";
import { mapLayer, serveLayer } from "../arcgis-server.ts";
import { Peer } from "../peer.ts";

test("a process harvests; a restart asks for nothing, a refresh for all, HARVEST=off for nothing", async () => {
	await using peer = await Peer.open();
	serveLayer(peer);
	await using local = await Local.open({ variables: { HARVEST: "on", HARVEST_ALLOW_PRIVATE: "on" } });
	const put = async (smallkey: string, path: string) => {
		local.now += 1000;
		assert.is((await local.put(smallkey, JSON.stringify(featureAt(peer.origin + path)))).status, 201);
	};
	const statusOf = async (smallkey: string) => {
		const status = await local.context.status?.(smallkey, []);
		return status ? status("en") : null;
	};
	const refresh = () => local.write({ method: "POST", target: "/v2/refresh/all" });
	const askedOf = (path: string) => peer.asked.filter((target) => target.startsWith(path)).length;
	await put("ozone", mapLayer);
	await put("gone", "/gone/MapServer/1");
	for (const [smallkey, state] of Object.entries({ ozone: "well", gone: "wrong" }))
		await eventually(async () => (await statusOf(smallkey))?.health.state === state);
	await local.stop();
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }) });
	const registration = featureAt(peer.origin + mapLayer);
	const { description } = await harvestLayer(registration, null, createClients(ask, 3978));
	const stored = await local.git("show", "main:layers/oz/ozone.service.json");
	assert.equal(JSON.parse(stored), description, "what harvesting without it finds");
	const health = JSON.parse(await local.git("show", "main:layers/health.json"));
	assert.equal(Object.keys(health.sick), ["gone"], "stored at the end");
	peer.asked.length = 0;
	await local.start();
	await eventually(async () => (await statusOf("gone"))?.harvest.state === "failed");
	assert.equal([(await statusOf("ozone"))?.harvest, askedOf(mapLayer)], [{ state: "done" }, 0]);
	const answer = await refresh();
	assert.equal([answer.status, await answer.json()], [202, { layers: 2 }]);
	await eventually(() => askedOf(mapLayer) > 0);
	local.variables.HARVEST = "off";
	await local.restart();
	peer.asked.length = 0;
	await put("other", mapLayer);
	assert.is((await refresh()).status, 409);
	assert.equal([(await statusOf("other"))?.harvest, peer.asked], [{ state: "off" }, []]);
});

test.run();
