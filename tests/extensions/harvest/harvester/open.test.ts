import * as assert from "uvu/assert";
import type { RunningService } from "../../../../api/service/extensions.ts";
import { createFetch } from "../../../../api/service/net/fetch.ts";
import { readConfiguration } from "../../../../api/service/settings.ts";
import { createAsk } from "../../../../extensions/harvest/ask.ts";
import { startHarvest } from "../../../../extensions/harvest/harvester/open.ts";
import { harvestLayer } from "../../../../extensions/harvest/layer.ts";
import { type HarvestSettings, readHarvest } from "../../../../extensions/harvest/settings.ts";
import { createClients } from "../../../../extensions/harvest/wms/read-capabilities.ts";
import { Local } from "../../../helpers/local.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { logTo } from "../../../store/git-store.ts";
import { featureAt } from "../../../viewer/viewer.ts";
import { mapLayer, serveLayer } from "../arcgis-server.ts";
import { Peer } from "../peer.ts";

test("a service harvests in a process of its own, commits what it finds, and stores at its end which layers are sick", async () => {
	await using peer = await Peer.open();
	serveLayer(peer);
	const local = await Local.open();
	const put = async (smallkey: string, path: string) => {
		local.now += 1000;
		assert.is((await local.put(smallkey, JSON.stringify(featureAt(peer.origin + path)))).status, 201);
	};
	await put("ozone", mapLayer);
	const configuration = readConfiguration(
		{ DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" },
		readHarvest,
	);
	const { lastLook, changed, layer, close } = await startHarvest({
		...{ configuration, store: local.store, log: logTo([], []), observe: () => undefined },
		...{ repository: local.repository, now: () => new Date(local.now) },
		smallkeys: () => local.publication.smallkeys(),
	} as Partial<RunningService> as RunningService<HarvestSettings>);
	await eventually(() => lastLook?.("ozone") !== null);
	await put("gone", "/gone/MapServer/1");
	changed?.("", ["gone"]);
	await eventually(() => lastLook?.("gone") !== null);
	const status = await layer?.("gone", await local.store.read("gone"));
	assert.is(status?.("en").health?.state, "wrong");
	await close();
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }) });
	const registration = featureAt(peer.origin + mapLayer);
	const { description } = await harvestLayer(registration, null, createClients(ask, 3978));
	const stored = await local.git("show", "main:layers/oz/ozone.service.json");
	assert.equal(JSON.parse(stored), description, "what harvesting without it finds");
	const health = JSON.parse(await local.git("show", "main:layers/health.json"));
	assert.equal(Object.keys(health.sick), ["gone"]);
	await local.end();
});

test("a process that cannot start is logged once for all layers, with the reason", async () => {
	const local = await Local.open();
	const registration = JSON.stringify(featureAt("https://maps.example/rest/services/a/MapServer/1"));
	for (const smallkey of ["first", "second"]) {
		local.now += 1000;
		await local.put(smallkey, registration);
	}
	const configuration = readConfiguration({ DATA_DIR: local.folder }, readHarvest);
	const errors: Error[] = [];
	const { layer, close } = await startHarvest({
		configuration: { ...configuration, publicUrl: "ftp://user:secret@nowhere" },
		...{ store: local.store, log: logTo(errors), observe: () => undefined },
		...{ repository: local.repository, now: () => new Date(local.now) },
		smallkeys: () => local.publication.smallkeys(),
	} as Partial<RunningService> as RunningService<HarvestSettings>);
	const stateOf = async (smallkey: string) =>
		(await layer?.(smallkey, await local.store.read(smallkey)))?.("en").harvest?.state;
	for (const smallkey of ["first", "second"])
		await eventually(async () => (await stateOf(smallkey)) === "failed");
	await close();
	assert.equal(
		errors.map(({ message }) => message),
		[
			"the harvest's process ended: 1: Error: PUBLIC_URL: must be an http or https address without ? and #, not ftp://nowhere",
		],
	);
	await local.end();
});

test.run();
