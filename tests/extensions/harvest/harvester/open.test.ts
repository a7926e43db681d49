import * as assert from "uvu/assert";
import { createAsk } from "../../../../api/service/net/ask.ts";
import { createFetch } from "../../../../api/service/net/fetch.ts";
import { readConfiguration } from "../../../../api/service/settings.ts";
import { openHarvester } from "../../../../extensions/harvest/harvester/open.ts";
import { createHarvestThreads } from "../../../../extensions/harvest/harvester/threads.ts";
import { createHarvestLayer } from "../../../../extensions/harvest/layer.ts";
import { readHarvest } from "../../../../extensions/harvest/settings.ts";
import { Local } from "../../../helpers/local.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { logTo } from "../../../store/git-store.ts";
import { featureAt } from "../../../viewer/viewer.ts";
import { mapLayer, serveLayer } from "../arcgis-server.ts";
import { Peer } from "../peer.ts";
import { HeldTimers } from "./held-timers.ts";

/** Threads that do what an address says, and whose timers the test runs. */
function openOdd() {
	const timers = new HeldTimers();
	const network = { allowPrivate: true, httpsProxy: "", noProxy: "" };
	const threads = createHarvestThreads({
		entry: new URL("odd-thread.mjs", import.meta.url),
		settings: { network, mapWkid: 3978, site: "" },
		limits: { maxHeapMb: 256, maxBusyMs: 5_000, maxStartMs: 7_000, maxLayerMs: 60_000 },
		timers,
	});
	return { threads, timers };
}

const at = (path: string) => featureAt(`http://map.example${path}`);
const never = new AbortController().signal;

/** The threads do not keep the process alive; in the service, its port does. */
let alive: NodeJS.Timeout;
test.before(() => {
	alive = setInterval(() => {}, 60_000);
});
test.after(() => clearInterval(alive));

test("a service harvests in a thread, commits what it finds, and stores at its end which layers are sick", async () => {
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
	const harvester = openHarvester({
		...{ configuration, store: local.store, log: logTo([], []), observe: () => undefined },
		smallkeys: () => local.publication.smallkeys(),
	});
	await eventually(() => harvester.lastCheckOf("ozone") !== null);
	await put("gone", "/gone/MapServer/1");
	harvester.follow("gone");
	await eventually(() => harvester.lastCheckOf("gone")?.state === "wrong");
	await harvester.close();
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }) });
	const registration = featureAt(peer.origin + mapLayer);
	const { found } = await createHarvestLayer({ ask, mapWkid: 3978 })(registration);
	const stored = await local.git("show", "main:layers/oz/ozone.service.json");
	assert.equal(JSON.parse(stored), found, "what harvesting without a thread finds");
	const health = JSON.parse(await local.git("show", "main:layers/health.json"));
	assert.equal(Object.keys(health.sick), ["gone"]);
	await local.end();
});

test("an answer that ends its thread is a finding of its layer alone; an idle thread is ended", async () => {
	const { threads, timers } = openOdd();
	const textOf = async (path: string) =>
		(await threads.harvest(at(path), never)).findings.map(({ text }) => text);
	const [before] = await textOf("/good");
	const [odd, waits] = await Promise.all([textOf("/exits"), textOf("/waits")]);
	assert.equal(odd, Array(2).fill("http://map.example/exits sent what ends the thread that reads it"));
	assert.match(waits[0] ?? "", /^thread \d+$/);
	assert.is.not(waits[0], before);
	const { state } = await threads.watch(at("/exits"), never);
	assert.is(state, "down");
	await textOf("/good");
	assert.equal(timers.waiting.map(({ ms }) => ms).sort(), [1_000, 30_000]);
	timers.run(30_000);
	await eventually(() => timers.waiting.length === 0);
	const aborted = new AbortController();
	const running = threads.harvest(at("/loops"), aborted.signal).catch(({ message }) => message);
	aborted.abort(new Error("the service ends"));
	await threads.close();
	assert.is(await running, "the service ends");
});

test.run();
