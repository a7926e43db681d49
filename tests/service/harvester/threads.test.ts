import * as assert from "uvu/assert";
import { createHarvestLayer, createWatchLayer } from "../../../harvest/layer.ts";
import { createAsk } from "../../../harvest/net/ask.ts";
import { createFetch } from "../../../harvest/net/fetch.ts";
import type { Registration } from "../../../registry/registration.ts";
import { createHarvestThreads } from "../../../service/harvester/threads.ts";
import { mapLayer, serveLayer } from "../../harvest/arcgis-server.ts";
import { hang, Peer } from "../../harvest/peer.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { HeldTimers } from "./held-timers.ts";

const limits = { maxHeapMb: 24, maxBusyMs: 5_000, maxStartMs: 7_000, maxLayerMs: 9_000 };
const idleMs = 30_000;
const harvesterThread = new URL("../../../service/harvester/thread-entry.mjs", import.meta.url);
const settings = {
	harvest: { on: true, repair: true, allowPrivate: true, every: 1, httpsProxy: "", noProxy: "" },
	mapWkid: 3978,
	site: "",
};

let timers: HeldTimers;
let threads: ReturnType<typeof createHarvestThreads>;

/** Threads whose timers the test runs. */
function open(entry: URL, givenLimits = limits) {
	timers = new HeldTimers();
	return createHarvestThreads({
		entry,
		settings,
		limits: givenLimits,
		timers,
	});
}

/** The threads do not keep the process alive; in the service, its port does. */
let alive: NodeJS.Timeout;

test.before.each(() => {
	alive = setInterval(() => {}, 60_000);
	threads = open(new URL("./odd-thread.mjs", import.meta.url));
});
test.after.each(async () => {
	await threads.close();
	clearInterval(alive);
});

/** A watch's step. */
const step = () => timers.run(limits.maxBusyMs / 5);

function at(path: string): Registration {
	return featureAt(`http://map.example${path}`);
}

const never = new AbortController().signal;

/** What was found of a layer: the texts of its findings. */
async function found(path: string): Promise<string[]> {
	const { findings } = await threads.harvest(at(path), never);
	return findings.map(({ text }) => text);
}

/** The findings of a layer that ended its thread. */
const ended = (path: string, words: string) =>
	Array.from({ length: 2 }, () => `http://map.example${path} sent what ${words}`);

test("a thread runs only while there is something to harvest", async () => {
	assert.equal(timers.waiting, []);
	const [first] = await found("/good");
	assert.match(first ?? "", /^thread \d+$/);
	assert.equal(await found("/good"), [first]);
	timers.run(idleMs);
	await eventually(() => timers.waiting.length === 0);
	const [second] = await found("/good");
	assert.match(second ?? "", /^thread \d+$/);
	assert.is.not(second, first);
});

test("a thread with work is not ended as idle", async () => {
	const [first] = await found("/good");
	const waits = found("/waits");
	assert.not(timers.waiting.some(({ ms }) => ms === idleMs));
	assert.equal(await waits, [first]);
});

test("a thread that answers is not ended as stuck, however long it runs", async () => {
	const [first] = await found("/good");
	for (let round = 0; round < 20; round += 1) {
		step();
		assert.equal(await found("/good"), [first]);
	}
});

for (const [path, words] of [
	["/eats", "takes more than 24 MB to be read"],
	["/throws", "cannot be read: a fault of the program"],
	["/exits", "ends the thread that reads it"],
] as const) {
	test(`an answer that ${words}: its layer alone has the finding, the others go on`, async () => {
		const before = await found("/good");
		// The first death tells nothing of whose fault it was: each of the three has a thread by itself.
		const odd = found(path);
		const waits = Promise.all([found("/waits"), found("/waits")]);
		assert.equal(await odd, ended(path, words));
		const others = (await waits).flat();
		for (const text of others) assert.match(text, /^thread \d+$/);
		assert.is(new Set([...before, ...others]).size, 3);
		const after = await found("/good");
		assert.not([...before, ...others].includes(after[0] as string), "the thread was replaced");
	});
}

test("a thread that an answer keeps busy is ended after five steps without a sign of life", async () => {
	await found("/good");
	const loops = found("/loops");
	let steps = 0;
	let isOver = false;
	void loops.then(() => {
		isOver = true;
	});
	await eventually(() => {
		if (timers.waiting.some(({ ms }) => ms === limits.maxBusyMs / 5)) steps += 1;
		step();
		return isOver;
	});
	assert.equal(await loops, ended("/loops", "takes more than 5 s to be read"));
	assert.is(steps, 6);
	assert.match((await found("/good"))[0] ?? "", /^thread/);
});

test("closing rejects what is under way with the reason of its signal, and ends the threads", async () => {
	const controller = new AbortController();
	const closed = "the service ends";
	const rejected = (task: Promise<unknown>) =>
		task.then(
			() => assert.unreachable(),
			(error) => assert.is(error.message, closed),
		);
	const waits = rejected(threads.harvest(at("/loops"), controller.signal));
	controller.abort(new Error(closed));
	await threads.close();
	await waits;
	await eventually(() => timers.waiting.length === 0);
	await rejected(threads.harvest(at("/good"), controller.signal));
});

test("the time limit of a layer includes all of its requests", async () => {
	await using peer = await Peer.open();
	serveLayer(peer, { layer: hang });
	threads = open(harvesterThread, { ...limits, maxHeapMb: 256, maxLayerMs: 500 });
	const { findings } = await threads.harvest(featureAt(peer.origin + mapLayer), never);
	for (const { text } of findings) assert.match(text, /was not asked to the end$/);
	assert.is(findings.length, 2);
});

test("the harvester's own thread finds what harvesting without a thread finds", async () => {
	await using peer = await Peer.open();
	serveLayer(peer);
	const registration = featureAt(peer.origin + mapLayer);
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }) });
	const expected = await createHarvestLayer({ ask, mapWkid: 3978 })(registration);
	await threads.close();
	threads = open(harvesterThread, { ...limits, maxHeapMb: 256 });
	assert.equal(await threads.harvest(registration, never), expected);
	assert.match(JSON.stringify(expected.found.en), '"name":"Stations"');
	const gone = await threads.harvest(featureAt(`${peer.origin}/gone/MapServer/1`), never);
	assert.equal(
		gone.findings.map(({ state }) => state),
		["wrong", "wrong"],
	);
	const seen = await threads.watch(registration, never);
	assert.equal(seen, await createWatchLayer(ask, "")(registration));
	assert.is(seen.state, null);
});

test("a service whose answer ends the thread of a check is down", async () => {
	const { state, findings } = await threads.watch(at("/exits"), never);
	assert.is(state, "down");
	assert.equal(
		findings.map(({ state, text }) => [state, text]),
		ended("/exits", "ends the thread that reads it").map((text) => ["down", text]),
	);
});

test.run();
