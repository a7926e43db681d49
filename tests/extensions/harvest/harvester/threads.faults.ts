import * as assert from "uvu/assert";
import { createHarvestThreads } from "../../../../extensions/harvest/harvester/threads.ts";
import type { Registration } from "../../../../registry/registration.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { featureAt } from "../../../viewer/viewer.ts";
import { mapLayer, serveLayer } from "../arcgis-server.ts";
import { hang, Peer } from "../peer.ts";
import { HeldTimers } from "./held-timers.ts";

const limits = { maxHeapMb: 24, maxBusyMs: 5_000, maxStartMs: 7_000, maxLayerMs: 9_000 };
const _idleMs = 30_000;
const harvesterThread = new URL("../../../../extensions/harvest/harvester/thread-entry.mjs", import.meta.url);
const settings = {
	network: { allowPrivate: true, httpsProxy: "", noProxy: "" },
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

test("the time limit of a layer includes all of its requests", async () => {
	await using peer = await Peer.open();
	serveLayer(peer, { layer: hang });
	threads = open(harvesterThread, { ...limits, maxHeapMb: 256, maxLayerMs: 500 });
	const { findings } = await threads.harvest(featureAt(peer.origin + mapLayer), never);
	for (const { text } of findings) assert.match(text, /was not asked to the end$/);
	assert.is(findings.length, 2);
});

test.run();
