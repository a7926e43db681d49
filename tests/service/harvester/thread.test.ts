import * as assert from "uvu/assert";
import { createHarvestLayer, createWatchLayer } from "../../../harvest/layer.ts";
import { createAsk } from "../../../harvest/net/ask.ts";
import { createFetch } from "../../../harvest/net/fetch.ts";
import { createHarvestThreads } from "../../../service/harvester/threads.ts";
import { mapLayer, serveLayer } from "../../harvest/arcgis-server.ts";
import { Peer } from "../../harvest/peer.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { HeldTimers } from "./held-timers.ts";

/** Threads whose timers the test runs. @param entry beside the tests, or in the service */
function open(entry: string) {
	const timers = new HeldTimers();
	const threads = createHarvestThreads({
		entry: new URL(entry, import.meta.url),
		settings: {
			harvest: { on: true, repair: true, allowPrivate: true, every: 1, httpsProxy: "", noProxy: "" },
			...{ mapWkid: 3978, site: "" },
		},
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

test("the harvester's thread finds what harvesting without a thread finds", async () => {
	await using peer = await Peer.open();
	serveLayer(peer);
	const { threads } = open("../../../service/harvester/thread-entry.mjs");
	const registration = featureAt(peer.origin + mapLayer);
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }) });
	const expected = await createHarvestLayer({ ask, mapWkid: 3978 })(registration);
	assert.match(JSON.stringify(expected.found.en), '"name":"Stations"');
	assert.equal(await threads.harvest(registration, never), expected);
	assert.equal(await threads.watch(registration, never), await createWatchLayer(ask, "")(registration));
	await threads.close();
});

test("an answer that ends its thread is a finding of its layer alone; an idle thread is ended", async () => {
	const { threads, timers } = open("odd-thread.mjs");
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
