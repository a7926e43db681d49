import * as assert from "uvu/assert";
import { harvestLayer } from "../../../../extensions/harvest/harvest-layer.ts";
import { Harvester, type HarvestLine } from "../../../../extensions/harvest/harvester/harvester.ts";
import type { LookAt } from "../../../../extensions/harvest/harvester/process.ts";
import { nextMoment } from "../../../../extensions/harvest/harvester/schedule.ts";
import { problemAt } from "../../../../registry/texts.ts";
import { Handlers, tiles } from "../../../helpers/handlers.ts";
import { suite } from "../../../helpers/suite.ts";
import { eventually, gate } from "../../../helpers/wait.ts";
import { featureAt, nodeOf } from "../../../viewer/viewer.ts";
import { layerRoutes, mapLayer } from "../arcgis-server.ts";
import { host, memoryHost, type Route } from "../memory.ts";
import { HeldTimers } from "./held-timers.ts";

const day = 86_400_000;
const test = suite<ReturnType<typeof openScene>>("harvester");
test.before.each((scene) => void Object.assign(scene, openScene()));
test.after.each(async ({ harvester }) => harvester.close());

/** A harvester over a store in memory. `hold` delays the harvests. */
function openScene(quietMs = 0) {
	const handlers = new Handlers();
	const server = memoryHost(layerRoutes());
	const timers = new HeldTimers();
	const lines: HarvestLine[] = [];
	const [looks, begun, begunMs] = [[] as string[], [] as string[], [] as number[]];
	const holds = new Map<string, Promise<void>>();
	const work = { running: 0, most: 0 };
	const lookAt: LookAt = async (registration, before, signal) => {
		const { service_url } = registration.en;
		begun.push(service_url);
		begunMs.push(performance.now());
		work.running += 1;
		work.most = Math.max(work.most, work.running);
		if (service_url.includes("/fails/")) throw new Error("the process does not start");
		await holds.get(new URL(service_url).host);
		work.running -= 1;
		signal?.throwIfAborted();
		const harvested = await harvestLayer(registration, before, server);
		return { harvested, checked: harvested.findings };
	};
	const displayName = (smallkey: string) => {
		const fragment = handlers.file("v0.9/doc/en", smallkey);
		return fragment ? nodeOf(new TextDecoder().decode(fragment.body)).displayName : "(none)";
	};
	const harvester = new Harvester({
		store: handlers.store,
		lookAt,
		everyMs: 7 * day,
		timers,
		quietMs,
		now: () => new Date(handlers.now),
		allKeys: () => [...handlers.store.files.keys()].flatMap((path) => /\/(\w+)\.json$/.exec(path)?.[1] ?? []),
		checked: (smallkey) => void looks.push(smallkey),
		log: {
			info: (line) => lines.push(line as HarvestLine),
			warn: () => undefined,
			error: (error) => handlers.reported.push(error),
		},
	});
	/** Ends the second of a shared commit, once some layers were harvested. */
	const stored = async (looked: number) => {
		await eventually(() => looks.length >= looked);
		const { length } = lines;
		timers.run(1_000);
		await eventually(() => lines.length > length);
	};
	const poll = async () => {
		const isSet = () => timers.waiting.some(({ ms }) => ms === 60_000);
		await eventually(isSet);
		timers.run(60_000);
		await eventually(() => isSet() && harvester.states.waiting.size === 0);
	};
	const put = async (smallkey: string, body = feature()) => {
		// A signature is good once.
		handlers.now += 1000;
		const response = await handlers.put(smallkey, body);
		assert.is(response.status, 201, await response.text());
	};
	const follow = async (smallkey: string, body = feature()) => {
		await put(smallkey, body);
		harvester.follow(smallkey);
	};
	const remove = async (smallkey: string) => {
		handlers.now += 1000;
		assert.is((await handlers.delete(smallkey)).status, 204);
	};
	const serve = (layer?: Route) => Object.assign(server.routes, layerRoutes({ layer }));
	const parts = { handlers, holds, work, timers, lines, looks, begun, begunMs, harvester, displayName };
	return { ...parts, stored, poll, put, follow, remove, serve, commits: handlers.store.commits };
}

function feature(path = mapLayer, more: object = {}, origin = host) {
	return JSON.stringify(featureAt(origin + path, more));
}

test("a harvest begins after ten pauses, even if writes never pause", async () => {
	const { follow, begunMs, harvester } = openScene(50);
	const startMs = performance.now();
	// No time passes since the last write.
	Object.assign(performance, { now: () => startMs });
	try {
		await follow("ozone");
		await eventually(() => begunMs.length === 1);
	} finally {
		Reflect.deleteProperty(performance, "now");
	}
	assert.ok(performance.now() - startMs >= 400);
	await harvester.close();
});

test("a layer is generic at once, then enriched by a commit; no change, no commit", async (scene) => {
	const { harvester, lines, looks, commits, displayName, handlers } = scene;
	const [held, release] = gate();
	scene.holds.set("maps.example", held);
	await scene.put("ozone");
	assert.equal([displayName("ozone"), harvester.states.stateOf("ozone")], ["ozone", null]);
	harvester.follow("ozone");
	assert.equal(harvester.states.stateOf("ozone"), { state: "waiting" });
	await eventually(() => scene.begun.length === 1);
	assert.equal([displayName("ozone"), harvester.states.stateOf("ozone")], ["ozone", { state: "waiting" }]);
	release();
	await eventually(() => looks.length === 1);
	assert.equal(harvester.states.stateOf("ozone"), { state: "waiting" });
	await scene.stored(1);
	assert.equal([lines, displayName("ozone")], [[{ harvested: 1, changed: 1 }], "Stations"]);
	const { author, subject, edits } = commits.at(-1) ?? {};
	assert.equal(
		[author, subject, edits?.map(({ path }) => path)],
		["fragment-publisher", "harvest ozone", ["layers/oz/ozone.service.json"]],
	);
	const nextTry = nextMoment("ozone", handlers.now, 7 * day);
	assert.equal(harvester.states.stateOf("ozone"), {
		state: "done",
		at: handlers.now,
		findings: [],
		nextTry,
		failures: 0,
	});
	harvester.follow("ozone");
	await scene.stored(2);
	assert.equal([lines[1], commits.length], [{ harvested: 1, unchanged: 1 }, 2]);
	assert.equal(harvester.states.lastChecks.get("ozone"), { state: null, at: handlers.now, findings: [] });
});

test("a harvest is dropped if its layer moved, changed its type or was removed", async (scene) => {
	const { lines, commits, displayName } = scene;
	for (const [at, [smallkey, change, outcome]] of (
		[
			["moved", () => scene.put("moved", feature("/elsewhere/MapServer/1")), "dropped"],
			["retyped", () => scene.put("retyped", tiles), "dropped"],
			["removed", () => scene.remove("removed"), "dropped"],
			["edited", () => scene.put("edited", feature(mapLayer, { loading_mode: "ondemand" })), "changed"],
		] as const
	).entries()) {
		const [held, release] = gate();
		scene.holds.set("maps.example", held);
		await scene.follow(smallkey);
		await eventually(() => scene.work.running === 1);
		await change();
		const before = commits.length;
		release();
		await scene.stored(at + 1);
		assert.equal(lines[at], { harvested: 1, [outcome]: 1 });
		assert.is(commits.length - before, outcome === "dropped" ? 0 : 1, "nothing was stored of a dropped one");
		if (outcome === "dropped") assert.is(scene.harvester.states.stateOf(smallkey), null);
	}
	assert.is(displayName("edited"), "Stations");
});

test("harvests of a second share one commit of at most 50 layers, and one line of the log", async (scene) => {
	const { harvester, lines, looks, commits, timers } = scene;
	const smallkeys = Array.from({ length: 52 }, (_, at) => `n${at}`);
	for (const smallkey of smallkeys) await scene.put(smallkey);
	const { length } = commits;
	void harvester.start();
	await eventually(() => looks.length === 52);
	timers.run(1_000);
	await eventually(() => lines.reduce((sum, { harvested }) => sum + harvested, 0) === 52);
	assert.equal(lines, [
		{ harvested: 50, changed: 50 },
		{ harvested: 2, changed: 2 },
	]);
	const subjects = commits.slice(length).map(({ subject, edits }) => `${subject}: ${edits.length}`);
	assert.equal(subjects, ["harvest 50 layers: 50", "harvest 2 layers: 2"]);
	assert.equal(looks, smallkeys);
});

test("a description that the store refuses keeps no other from being stored", async (scene) => {
	const { handlers, harvester, lines, looks, timers } = scene;
	for (const smallkey of ["ab", "cd"]) await scene.put(smallkey);
	const { store } = handlers;
	const change = store.change.bind(store);
	store.change = async (decide, meta) => {
		if (meta.smallkey === "cd") return change(decide, meta);
		return { status: 400, errors: [problemAt("", "json")] };
	};
	void harvester.start();
	await eventually(() => looks.length === 2);
	timers.run(1_000);
	const states = () => ["ab", "cd"].map((smallkey) => harvester.states.stateOf(smallkey)?.state);
	await eventually(() => !states().includes("waiting"));
	assert.equal([states(), lines], [["failed", "done"], [{ harvested: 1, changed: 1 }]]);
	assert.match(
		JSON.stringify(harvester.states.stateOf("ab")),
		"this catalogue could not read or store it now",
	);
	assert.is(handlers.reported.splice(0).length, 1);
});

test("a process that cannot start is logged once for all layers, which are tried again", async (scene) => {
	for (const smallkey of ["ab", "cd"]) await scene.follow(smallkey, feature("/fails/MapServer/1"));
	const states = () => ["ab", "cd"].map((smallkey) => scene.harvester.states.stateOf(smallkey)?.state);
	await eventually(() => states().every((state) => state === "failed"));
	assert.is(scene.handlers.reported.splice(0).length, 1);
	scene.handlers.store.served = async () => Promise.reject(new Error("git hangs"));
	scene.harvester.follow("ab");
	await eventually(() => states()[0] === "failed");
	assert.is(scene.handlers.reported.splice(0).length, 1);
});

test("a refresh takes the oldest layers, each once", async (scene) => {
	const { harvester, handlers } = scene;
	const { waiting } = harvester.states;
	for (const [at, smallkey] of ["ab", "cd", "ef", "ab"].entries()) {
		await scene.follow(smallkey);
		await scene.stored(at + 1);
		handlers.now += day;
	}
	const [held, release] = gate();
	scene.holds.set("maps.example", held);
	const refresh = (days: number, maxLayers: number | null, only = "") =>
		harvester.refresh({ olderThanMs: days * day, maxLayers, isWanted: (key) => key.includes(only) });
	assert.equal([refresh(0, 1), [...waiting]], [1, ["cd"]]);
	assert.equal([refresh(1.5, null), [...waiting]], [1, ["cd", "ef"]]);
	assert.equal([refresh(0, null, "a"), [...waiting]], [1, ["cd", "ef", "ab"]]);
	assert.equal([refresh(0, null), waiting.size], [3, 3]);
	release();
});

test("a start harvests what is new, one layer of a host at a time, and writes first", async (scene) => {
	const { harvester, lines, looks } = scene;
	await scene.follow("known");
	await scene.stored(1);
	const [held, release] = gate();
	scene.holds.set("maps.example", held);
	for (const smallkey of ["n1", "n2", "n3"]) await scene.put(smallkey);
	await scene.put("wrong", feature("/nowhere/MapServer/1"));
	await scene.put("picture", tiles);
	void harvester.start();
	await eventually(() => harvester.states.waiting.size === 3);
	assert.is(scene.work.most, 1);
	await scene.follow("fresh");
	await eventually(() => scene.work.running === 2);
	release();
	await scene.stored(6);
	assert.equal(lines[1], { harvested: 5, changed: 4, failed: 1 });
	assert.ok(looks.indexOf("fresh") < looks.indexOf("n2"));
	assert.equal([scene.work.most, harvester.states.stateOf("picture")], [2, null]);
	assert.is(harvester.states.stateOf("wrong")?.state, "failed");
});

test("a service that is down is tried again, later and later", async (scene) => {
	const { harvester, timers, looks, displayName, handlers } = scene;
	const nextTry = () => (harvester.states.stateOf("ozone") as { nextTry?: number }).nextTry ?? 0;
	scene.serve(503);
	void harvester.start();
	await eventually(() => timers.waiting.length === 1);
	await scene.follow("ozone");
	await scene.stored(1);
	for (const [round, ms] of [60_000, 120_000, 240_000].entries()) {
		assert.equal([nextTry() - handlers.now, displayName("ozone")], [ms, "ozone"]);
		handlers.now += ms - 1;
		await scene.poll();
		handlers.now += 1;
		await scene.poll();
		await eventually(() => looks.length === round + 2);
		timers.run(1_000);
		await eventually(() => harvester.states.stateOf("ozone")?.state === "failed");
	}
	const findings = ["en", "fr"].map((lang) => ({
		en: `/${lang}/service_url: ${host}${mapLayer}: answers with status 503`,
		fr: `/${lang}/service_url: ${host}${mapLayer} : répond par le statut 503`,
	}));
	const last = { state: "failed", at: handlers.now, findings, nextTry: handlers.now + 480_000, failures: 4 };
	assert.equal(harvester.states.stateOf("ozone"), last);
	assert.equal(harvester.states.lastChecks.get("ozone"), { state: "down", at: handlers.now, findings });
	scene.serve();
	await scene.follow("ozone", feature(mapLayer, { service_name: "round 5" }));
	await scene.stored(5);
	assert.equal([displayName("ozone"), harvester.states.stateOf("ozone")?.state], ["round 5", "done"]);
	await scene.follow("wrong", feature("/nowhere/MapServer/1"));
	await scene.stored(6);
	handlers.now += 3_600_000;
	await scene.poll();
	assert.is(looks.length, 6, "neither a harvested layer nor a wrong registration is tried again");
});

test("while one service hangs, others are harvested; closing stores what there is", async (scene) => {
	const { harvester, lines, commits, looks } = scene;
	const [held, release] = gate();
	scene.holds.set("odd.example", held);
	await scene.follow("odd", feature(mapLayer, {}, "http://odd.example"));
	await eventually(() => scene.work.running === 1);
	for (const smallkey of ["a", "b", "__proto__", "nothing"]) {
		if (smallkey.length === 1) await scene.put(smallkey);
		harvester.follow(smallkey);
	}
	await scene.follow("picture", tiles);
	await eventually(() => looks.length === 3);
	assert.equal(looks.toSorted(), ["a", "b", "picture"]);
	assert.equal(harvester.states.stateOf("odd"), { state: "waiting" });
	const closed = harvester.close();
	release();
	await closed;
	harvester.follow("odd");
	assert.equal([harvester.states.waiting.size, lines], [0, [{ harvested: 2, changed: 2 }]]);
	assert.is(commits.at(-1)?.subject, "harvest 2 layers");
});

test.run();
