import * as assert from "uvu/assert";
import { createHarvestLayer } from "../../../harvest/layer.ts";
import { createAsk } from "../../../harvest/net/ask.ts";
import { createFetch } from "../../../harvest/net/fetch.ts";
import type { HarvestLine } from "../../../service/harvester/commit.ts";
import { createHarvester, type StartLine } from "../../../service/harvester/harvester.ts";
import { nextMoment } from "../../../service/harvester/schedule.ts";
import { layerDocument, mapLayer, serveLayer } from "../../harvest/arcgis-server.ts";
import { hang, json, Peer, status, streamForever } from "../../harvest/peer.ts";
import { Local, tiles } from "../../helpers/local.ts";
import { test } from "../../helpers/suite.ts";
import { eventually } from "../../helpers/wait.ts";
import { featureAt, nodeOf } from "../../viewer/viewer.ts";
import { HeldTimers } from "./held-timers.ts";

const day = 86_400_000;

let peer: Peer;
let local: Local;
let harvester: ReturnType<typeof createHarvester>;
/** The log's lines of single layers, and those of starts. */
let lines: HarvestLine[];
let startLines: StartLine[];
/** The checked layers, each with the name that it was served by then. */
let looks: string[];
let timers: HeldTimers;

test.before.each(async () => {
	peer = await Peer.open();
	local = await Local.open();
	lines = [];
	startLines = [];
	looks = [];
	timers = new HeldTimers();
	harvester = makeHarvester(7 * day);
});
test.after.each(async () => {
	await harvester.close();
	await local.end();
	await peer.close();
	assert.equal(local.reported, []);
});

function makeHarvester(everyMs: number) {
	const ask = createAsk({ fetch: createFetch({ allowPrivate: true }), sleep: async () => {} });
	return createHarvester({
		store: local.store,
		harvest: createHarvestLayer({ ask, mapWkid: 3978 }),
		everyMs,
		now: () => new Date(local.now),
		allKeys: () => local.publication.table.smallkeys(),
		check: async (smallkey) => void looks.push(`${smallkey}: ${displayName(smallkey)}`),
		log: {
			info: (line) =>
				"harvest" in line ? lines.push(line as HarvestLine) : startLines.push(line as StartLine),
			warn: () => undefined,
			error: (error) => local.reported.push(error),
		},
		timers,
	});
}

function feature(path = mapLayer, more: object = {}, { origin } = peer): string {
	return JSON.stringify(featureAt(origin + path, more));
}

async function put(smallkey: string, body: string): Promise<void> {
	// A signature is good once: the clock moves on between two writes.
	local.now += 1000;
	const response = await local.put(smallkey, body);
	assert.is(response.status, 201, await response.text());
}

/** Registers a layer, and has it harvested. */
async function follow(smallkey: string, body = feature()): Promise<void> {
	await put(smallkey, body);
	harvester.follow(smallkey);
}

async function remove(smallkey: string): Promise<void> {
	local.now += 1000;
	assert.is((await local.delete(smallkey)).status, 204);
}

function displayName(smallkey: string): string {
	const fragment = local.publication.table.find("v0.9", "en", smallkey);
	return fragment ? nodeOf(new TextDecoder().decode(fragment.body)).displayName : "(none)";
}

/** Serves a layer whose answer waits until the test says go. */
function holdLayer(route = json(layerDocument())) {
	const waiting: (() => void)[] = [];
	let isOpen = false;
	serveLayer(peer, {
		layer: (request, response) => {
			if (isOpen) route(request, response);
			else waiting.push(() => route(request, response));
		},
	});
	return {
		reached: () => waiting.length > 0,
		release: () => {
			isOpen = true;
			for (const run of waiting) run();
		},
	};
}

test("a layer is served in its generic form at once, and enriched by a commit of the service", async () => {
	const layer = holdLayer();
	await put("ozone", feature());
	assert.is(displayName("ozone"), "ozone");
	harvester.follow("ozone");
	await eventually(layer.reached);
	assert.is(displayName("ozone"), "ozone");
	layer.release();
	await eventually(() => displayName("ozone") === "Stations");
	await eventually(() => lines.length === 1);
	assert.equal(lines, [{ harvest: "ozone", outcome: "changed" }]);
	const log = await local.git("log", "-1", "--format=%an <%ae> %s", "main");
	assert.is(log.trim(), "fragment-publisher <fragment-publisher@sender.invalid> harvest ozone");
	const files = await local.git("show", "--name-only", "--format=", "main");
	assert.is(files.trim(), "layers/oz/ozone.service.json");
});

test("an unchanged service makes no second commit", async () => {
	serveLayer(peer);
	await follow("ozone");
	await eventually(() => lines.length === 1);
	const tip = await local.git("rev-parse", "main");
	harvester.follow("ozone");
	await eventually(() => lines.length === 2);
	assert.is(lines[1]?.outcome, "unchanged");
	assert.is(await local.git("rev-parse", "main"), tip);
});

test("a harvest is dropped if its layer moved, changed its type or was removed meanwhile", async () => {
	for (const [smallkey, change] of [
		["moved", (key: string) => put(key, feature("/elsewhere/MapServer/1"))],
		["retyped", (key: string) => put(key, tiles)],
		["removed", (key: string) => remove(key)],
	] as const) {
		const layer = holdLayer();
		await follow(smallkey);
		await eventually(layer.reached);
		await change(smallkey);
		const tip = await local.git("rev-parse", "main");
		layer.release();
		await eventually(() => lines.some((line) => line.harvest === smallkey));
		assert.is(lines.find((line) => line.harvest === smallkey)?.outcome, "dropped");
		assert.is(await local.git("rev-parse", "main"), tip, "nothing was stored");
	}
});

test("a harvest is kept if another member of its layer changed meanwhile", async () => {
	const layer = holdLayer();
	await follow("ozone");
	await eventually(layer.reached);
	await put("ozone", feature(mapLayer, { loading_mode: "ondemand" }));
	layer.release();
	await eventually(() => displayName("ozone") === "Stations");
});

test("a removal and a change of type take the description with them, in one commit", async () => {
	serveLayer(peer);
	for (const smallkey of ["gone", "retyped"]) {
		await follow(smallkey);
		await eventually(() => displayName(smallkey) === "Stations");
	}
	await remove("gone");
	const removed = await local.git("show", "--name-status", "--format=", "main");
	assert.equal(removed.trim().split("\n"), ["D\tlayers/go/gone.json", "D\tlayers/go/gone.service.json"]);
	await put("retyped", tiles);
	const retyped = await local.git("show", "--name-status", "--format=", "main");
	assert.equal(retyped.trim().split("\n"), [
		"M\tlayers/re/retyped.json",
		"D\tlayers/re/retyped.service.json",
	]);
});

test("a start harvests the layers that were never harvested, but no tiles", async () => {
	serveLayer(peer);
	await follow("known");
	await eventually(() => lines.length === 1);
	const smallkeys = Array.from({ length: 30 }, (_, index) => `new-${index}`);
	for (const smallkey of smallkeys) await put(smallkey, feature());
	await put("picture", tiles);
	lines = [];
	harvester.start();
	await eventually(() => startLines.length === 1);
	assert.is(startLines[0]?.harvested, 30);
	for (const smallkey of smallkeys) assert.is(harvester.stateOf(smallkey)?.state, "done");
	assert.is(harvester.stateOf("picture"), null);
	assert.equal(lines, []);
	assert.is(peer.maxAtOnce, 1, "one request at a time to one host");
});

test("a layer that was just registered goes before those that wait", async () => {
	const layer = holdLayer();
	for (const smallkey of ["a1", "a2", "a3", "a4"]) await put(smallkey, feature());
	harvester.start();
	await eventually(() => layer.reached() && harvester.waiting() === 4);
	await follow("fresh");
	await eventually(() => harvester.waiting() === 5);
	layer.release();
	await eventually(() => startLines.length === 1);
	assert.is(startLines[0]?.harvested, 4);
	assert.equal(lines, [{ harvest: "fresh", outcome: "changed" }]);
	const log = await local.git("log", "--reverse", "--format=%s", "--grep=^harvest ", "main");
	assert.is(log.split("\n")[1], "harvest fresh");
});

test("a service that is down is tried again, later and later; its layer is served all the while", async () => {
	await put("ozone", feature());
	serveLayer(peer, { layer: status(503) });
	harvester.follow("ozone");
	for (const ms of [60_000, 120_000, 240_000]) {
		await eventually(() => timers.waiting.length === 1);
		assert.is(timers.waiting[0]?.ms, ms);
		assert.is(displayName("ozone"), "ozone");
		timers.run();
	}
	await eventually(() => timers.waiting.length === 1);
	assert.is(lines.length, 1, "a service that stays down is logged once");
	assert.match(lines[0]?.findings?.[0] ?? "", /\/en\/service_url: http.*answers with status 503/);
	serveLayer(peer);
	timers.run();
	await eventually(() => displayName("ozone") === "Stations");
	assert.equal(timers.waiting, []);
});

test("a layer that is registered again and again while its service is down waits for one further try", async () => {
	serveLayer(peer, { layer: status(503) });
	for (let round = 1; round <= 6; round += 1) {
		await follow("ozone", feature(mapLayer, { service_name: `round ${round}` }));
		await eventually(() => lines.length === round && timers.waiting.length === 1);
		assert.is(timers.waiting[0]?.ms, 60_000, "each registration starts anew");
	}
	serveLayer(peer);
	timers.run();
	await eventually(() => harvester.stateOf("ozone")?.state === "done");
	assert.equal(timers.waiting, []);
});

test("a removed layer is not tried again", async () => {
	serveLayer(peer, { layer: status(503) });
	await follow("ozone");
	await eventually(() => timers.waiting.length === 1);
	await remove("ozone");
	timers.run();
	await eventually(() => harvester.stateOf("ozone") === null);
	assert.equal(timers.waiting, []);
});

test("the state of a layer: waiting, failed with its findings and the next try, done", async () => {
	const layer = holdLayer(status(503));
	await put("ozone", feature());
	assert.is(harvester.stateOf("ozone"), null);
	harvester.follow("ozone");
	assert.equal(harvester.stateOf("ozone"), { state: "waiting" });
	await eventually(layer.reached);
	assert.equal(harvester.stateOf("ozone"), { state: "waiting" });
	layer.release();
	await eventually(() => timers.waiting.length === 1);
	const text = (lang: string) => ({
		en: `/${lang}/service_url: ${peer.origin}${mapLayer} answers with status 503`,
		fr: `/${lang}/service_url: ${peer.origin}${mapLayer} répond par le statut 503`,
	});
	assert.equal(harvester.stateOf("ozone"), {
		state: "failed",
		at: local.now,
		findings: [text("en"), text("fr")],
		nextTry: local.now + 60_000,
	});
	serveLayer(peer);
	timers.run();
	await eventually(() => harvester.stateOf("ozone")?.state === "done");
	const nextTry = nextMoment("ozone", local.now, 7 * day);
	assert.equal(harvester.stateOf("ozone"), { state: "done", at: local.now, findings: [], nextTry });
	assert.ok(nextMoment("ozone", nextTry - 2, 7 * day) <= nextTry, "the moment at which it is asked again");
	assert.ok(nextTry > local.now && nextTry <= local.now + 7 * day);
});

test("a start logs its findings in one line, and each layer's findings are in its state", async () => {
	serveLayer(peer);
	await put("ozone", feature());
	await put("wrong", feature("/nowhere/MapServer/1"));
	harvester.start();
	await eventually(() => startLines.length === 1);
	assert.equal(startLines, [
		{
			harvested: 2,
			changed: 1,
			unchanged: 0,
			dropped: 0,
			failed: 1,
			findings: 1,
			read: "npx fragment-publisher check-services",
		},
	]);
	assert.equal(lines, []);
	const state = harvester.stateOf("wrong");
	assert.match(JSON.stringify(state), /"failed".*\/en\/service_url: http.* answers with status 404/);
	harvester.follow("wrong");
	await eventually(() => lines.length === 1);
	assert.is(lines[0]?.harvest, "wrong", "a layer that is registered later has a line of its own");
});

test("layers are asked for anew: all, the older ones, and those first that were not asked for longest", async () => {
	serveLayer(peer);
	const wanted = { olderThanMs: null, maxLayers: null, isWanted: () => true };
	for (const smallkey of ["a", "b", "c"]) {
		await follow(smallkey);
		await eventually(() => lines.some((line) => line.harvest === smallkey));
		local.now += day;
	}
	await put("never", feature());
	await put("plain", tiles);
	const harvested = async (count: number) => {
		const asked = lines.splice(0);
		assert.is(asked.length, 0);
		await eventually(() => lines.length === count && harvester.waiting() === 0);
		return lines.splice(0).map(({ harvest }) => harvest);
	};
	lines.length = 0;
	assert.is(harvester.refresh({ ...wanted, maxLayers: 2, isWanted: (key) => key !== "plain" }), 2);
	assert.equal((await harvested(2)).sort(), ["a", "never"]);
	assert.is(harvester.refresh({ ...wanted, olderThanMs: day, isWanted: (key) => key !== "plain" }), 2);
	assert.equal((await harvested(2)).sort(), ["b", "c"]);
	// Twice at once is once; tiles have nothing to be asked for.
	assert.is(harvester.refresh(wanted), 5);
	assert.is(harvester.refresh(wanted), 5);
	assert.equal((await harvested(4)).sort(), ["a", "b", "c", "never"]);
	assert.is(harvester.refresh({ ...wanted, isWanted: (key) => key === "b" }), 1);
	assert.equal(await harvested(1), ["b"]);
});

test("a layer whose service has failed is older than any number of days", async () => {
	await follow("down", feature("/nowhere/MapServer/1"));
	await eventually(() => lines.length === 1);
	assert.is(harvester.refresh({ olderThanMs: day, maxLayers: null, isWanted: () => true }), 1);
});

test("no wait is longer than a timer of Node can be, however long the period is", async () => {
	await put("ozone", feature());
	serveLayer(peer, { layer: status(503) });
	await harvester.close();
	harvester = makeHarvester(9_999_999 * day);
	harvester.follow("ozone");
	let longest = 0;
	for (let failures = 0; failures < 20; failures += 1) {
		await eventually(() => timers.waiting.length === 1);
		longest = Math.max(longest, timers.waiting[0]?.ms ?? 0);
		timers.run();
	}
	await eventually(() => timers.waiting.length === 1);
	assert.is(longest, 2 ** 31 - 1);
});

test("a wrong registration is not tried again before its turn comes", async () => {
	await follow("ozone", feature("/nowhere/MapServer/1"));
	await eventually(() => lines.length === 1);
	assert.is(lines[0]?.outcome, "failed");
	assert.equal(timers.waiting, []);
});

test("every layer is harvested once in a period", async () => {
	serveLayer(peer);
	await put("ozone", feature());
	harvester.start();
	await eventually(() => startLines.length === 1);
	await eventually(() => timers.waiting.length === 1);
	let moments = 0;
	for (let hour = 0; hour < 7 * 24; hour += 1) {
		local.now += 3_600_000;
		const before = lines.length;
		const since = local.now - 3_600_000;
		timers.run();
		await eventually(() => timers.waiting.length === 1 && harvester.waiting() === 0);
		if (nextMoment("ozone", since, 7 * day) <= local.now) {
			moments += 1;
			await eventually(() => lines.length === before + 1);
		}
	}
	assert.is(moments, 1);
	assert.is(lines.length, 1);
});

test("the moments of many layers are spread over the period", () => {
	const start = 1_800_000_000_000;
	const days = new Array<number>(7).fill(0);
	for (let index = 0; index < 7000; index += 1) {
		const due = days.map(
			(_, one) => nextMoment(`layer-${index}`, start + one * day, 7 * day) <= start + (one + 1) * day,
		);
		assert.is(due.filter(Boolean).length, 1);
		const which = due.indexOf(true);
		days[which] = (days[which] ?? 0) + 1;
	}
	for (const count of days) assert.ok(count > 700 && count < 1300, String(days));
});

test("closing cuts off what is under way, and stores nothing more", async () => {
	const layer = holdLayer();
	await follow("ozone");
	await eventually(layer.reached);
	const tip = await local.git("rev-parse", "main");
	await harvester.close();
	layer.release();
	harvester.follow("ozone");
	assert.is(harvester.waiting(), 0);
	assert.equal(lines, []);
	assert.is(await local.git("rev-parse", "main"), tip);
});

test("while one service hangs and one sends without end, the layers of others are harvested", async () => {
	const hostile = await Promise.all([Peer.open(), Peer.open()]);
	for (const [index, route] of [hang, streamForever].entries()) {
		const odd = hostile[index] as Peer;
		serveLayer(odd, { layer: route });
		await follow(`odd${index}`, feature(mapLayer, {}, odd));
	}
	await eventually(() => hostile.every(({ asked }) => asked.length > 0));
	serveLayer(peer);
	for (const smallkey of ["good1", "good2", "good3"]) {
		await follow(smallkey);
		await eventually(() => displayName(smallkey) === "Stations");
	}
	assert.equal(harvester.stateOf("odd0"), { state: "waiting" });
	await eventually(() => harvester.stateOf("odd1")?.state === "failed");
	assert.match(JSON.stringify(harvester.stateOf("odd1")), "more than 5,000,000 bytes");
	await harvester.close();
	for (const odd of hostile) await odd.close();
});

test("each layer is checked as a viewer sees it: after its harvest, and also one that is not harvested", async () => {
	serveLayer(peer);
	await put("ozone", feature());
	await put("picture", tiles);
	for (const smallkey of ["ozone", "picture"]) harvester.follow(smallkey);
	await eventually(() => looks.length === 2);
	assert.equal(looks.sort(), ["ozone: Stations", "picture: (none)"]);
	assert.is(harvester.stateOf("picture"), null);
});

test("files that are not layers are not harvested", async () => {
	for (const smallkey of ["__proto__", "constructor", "..", ".git", "nothing"]) harvester.follow(smallkey);
	await put("picture", tiles);
	harvester.follow("picture");
	serveLayer(peer);
	await follow("ozone");
	await eventually(() => lines.length === 1);
	assert.is(lines[0]?.harvest, "ozone");
});

test.run();
