import * as assert from "uvu/assert";
import type { HarvestLine } from "../../../../extensions/harvest/harvester/commit.ts";
import { createHarvester, type StartLine } from "../../../../extensions/harvest/harvester/harvester.ts";
import { nextMoment } from "../../../../extensions/harvest/harvester/schedule.ts";
import { createHarvestLayer, type HarvestLayer } from "../../../../extensions/harvest/layer.ts";
import { Handlers, tiles } from "../../../helpers/handlers.ts";
import { suite } from "../../../helpers/suite.ts";
import { eventually, gate } from "../../../helpers/wait.ts";
import { featureAt, nodeOf } from "../../../viewer/viewer.ts";
import { entry, layerDocument, legend, mapLayer } from "../arcgis-server.ts";
import { host, json, memoryHost, type Route } from "../memory.ts";
import { HeldTimers } from "./held-timers.ts";

const day = 86_400_000;
const test = suite<ReturnType<typeof openScene>>("harvester");
test.before.each((scene) => void Object.assign(scene, openScene()));
test.after.each(async ({ harvester }) => harvester.close());

/** A harvester over a store in memory. `hold` delays the harvests. */
function openScene(everyMs = 7 * day, againMs = 0) {
	const handlers = new Handlers();
	const server = memoryHost({});
	const timers = new HeldTimers();
	const [lines, startLines] = [[] as HarvestLine[], [] as StartLine[]];
	const [looks, begun] = [[] as string[], [] as string[]];
	const holds = new Map<string, Promise<void>>();
	const work = { running: 0, most: 0 };
	const real = createHarvestLayer({ ask: server.ask, mapWkid: 3978 });
	const harvest: HarvestLayer = async (registration, signal, known) => {
		const { service_url } = registration.en;
		begun.push(service_url);
		work.running += 1;
		work.most = Math.max(work.most, work.running);
		await holds.get(new URL(service_url).host);
		work.running -= 1;
		return real(registration, signal, known);
	};
	const displayName = (smallkey: string) => {
		const fragment = handlers.file("v0.9/doc/en", smallkey);
		return fragment ? nodeOf(new TextDecoder().decode(fragment.body)).displayName : "(none)";
	};
	const harvester = createHarvester({
		...{ store: handlers.store, harvest, everyMs, timers },
		againUntilMs: handlers.now + againMs,
		now: () => new Date(handlers.now),
		allKeys: () => [...handlers.store.files.keys()].flatMap((path) => /\/(\w+)\.json$/.exec(path)?.[1] ?? []),
		check: async (smallkey) => void looks.push(`${smallkey}: ${displayName(smallkey)}`),
		log: {
			info: (line) =>
				"harvest" in line ? lines.push(line as HarvestLine) : startLines.push(line as StartLine),
			warn: () => undefined,
			error: (error) => handlers.reported.push(error),
		},
	});
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
	const serve = (layer: Route = json(layerDocument())) =>
		Object.assign(server.routes, {
			[mapLayer]: layer,
			[`${mapLayer}/query`]: json({ count: 12 }),
			[mapLayer.replace("/3", "/legend")]: json(legend(entry("Station", 1))),
		});
	serve();
	const parts = { handlers, holds, work, timers, lines, startLines, looks, begun, harvester, displayName };
	return { ...parts, put, follow, remove, serve, commits: handlers.store.commits };
}

function feature(path = mapLayer, more: object = {}, origin = host): string {
	return JSON.stringify(featureAt(origin + path, more));
}

test("a layer is served in its generic form at once, and enriched by a commit of the service; no change, no commit", async (scene) => {
	const { harvester, lines, looks, commits, displayName, handlers } = scene;
	const [held, release] = gate();
	scene.holds.set("maps.example", held);
	await scene.put("ozone");
	assert.equal([displayName("ozone"), harvester.stateOf("ozone")], ["ozone", null]);
	harvester.follow("ozone");
	assert.equal(harvester.stateOf("ozone"), { state: "waiting" });
	await eventually(() => scene.begun.length === 1);
	assert.equal([displayName("ozone"), harvester.stateOf("ozone")], ["ozone", { state: "waiting" }]);
	release();
	await eventually(() => looks.length === 1);
	assert.equal([lines, looks], [[{ harvest: "ozone", outcome: "changed" }], ["ozone: Stations"]]);
	const { author, subject, edits } = commits.at(-1) ?? {};
	assert.equal(
		[author, subject, edits?.map(({ path }) => path)],
		["fragment-publisher", "harvest ozone", ["layers/oz/ozone.service.json"]],
	);
	const nextTry = nextMoment("ozone", handlers.now, 7 * day);
	assert.equal(harvester.stateOf("ozone"), { state: "done", at: handlers.now, findings: [], nextTry });
	harvester.follow("ozone");
	await eventually(() => looks.length === 2);
	assert.equal([lines[1]?.outcome, commits.length], ["unchanged", 2]);
});

test("a harvest is dropped if its layer moved, changed its type or was removed meanwhile; else it is kept", async (scene) => {
	const { lines, commits, displayName } = scene;
	for (const [smallkey, change, outcome] of [
		["moved", () => scene.put("moved", feature("/elsewhere/MapServer/1")), "dropped"],
		["retyped", () => scene.put("retyped", tiles), "dropped"],
		["removed", () => scene.remove("removed"), "dropped"],
		["edited", () => scene.put("edited", feature(mapLayer, { loading_mode: "ondemand" })), "changed"],
	] as const) {
		const [held, release] = gate();
		scene.holds.set("maps.example", held);
		await scene.follow(smallkey);
		await eventually(() => scene.work.running === 1);
		await change();
		const before = commits.length;
		release();
		await eventually(() => lines.some(({ harvest }) => harvest === smallkey));
		assert.is(lines.find(({ harvest }) => harvest === smallkey)?.outcome, outcome);
		assert.is(commits.length - before, outcome === "dropped" ? 0 : 1, "nothing was stored of a dropped one");
	}
	assert.is(displayName("edited"), "Stations");
});

test("a start harvests what was never harvested, one layer of a host at a time, and logs it in one line", async (scene) => {
	const { harvester, lines, startLines, looks } = scene;
	await scene.follow("known");
	await eventually(() => looks.length === 1);
	const [held, release] = gate();
	scene.holds.set("maps.example", held);
	lines.length = 0;
	for (const smallkey of ["n1", "n2", "n3"]) await scene.put(smallkey);
	await scene.put("wrong", feature("/nowhere/MapServer/1"));
	await scene.put("picture", tiles);
	harvester.start();
	await eventually(() => harvester.waiting() === 4);
	await scene.follow("fresh", feature(mapLayer, { service_name: "fresh" }));
	await eventually(() => harvester.waiting() === 5);
	release();
	await eventually(() => startLines.length === 1);
	assert.equal(startLines, [
		{
			...{ harvested: 4, changed: 3, unchanged: 0, dropped: 0, failed: 1, findings: 1 },
			read: "npx fragment-publisher check-services",
		},
	]);
	assert.equal(lines, [{ harvest: "fresh", outcome: "changed" }], "a line of its own");
	assert.is(looks[2]?.split(":")[0], "fresh", "before those that wait");
	assert.equal([scene.work.most, harvester.stateOf("picture")], [1, null]);
	assert.match(
		JSON.stringify(harvester.stateOf("wrong")),
		/"failed".*\/en\/service_url: http.* answers with status 404/,
	);
});

test("a service that is down is tried again, later and later, until its layer is removed or harvested", async (scene) => {
	const { harvester, timers, lines, displayName, handlers } = scene;
	scene.serve(503);
	await scene.follow("ozone");
	for (const ms of [60_000, 120_000, 240_000]) {
		await eventually(() => timers.waiting.length === 1);
		assert.equal([timers.waiting[0]?.ms, displayName("ozone")], [ms, "ozone"]);
		timers.run();
	}
	await eventually(() => timers.waiting.length === 1);
	assert.is(lines.length, 1, "a service that stays down is logged once");
	const findings = ["en", "fr"].map((lang) => ({
		en: `/${lang}/service_url: ${host}${mapLayer} answers with status 503`,
		fr: `/${lang}/service_url: ${host}${mapLayer} répond par le statut 503`,
	}));
	const nextTry = handlers.now + 480_000;
	assert.equal(harvester.stateOf("ozone"), { state: "failed", at: handlers.now, findings, nextTry });
	scene.serve();
	await scene.follow("ozone", feature(mapLayer, { service_name: "round 5" }));
	await eventually(() => displayName("ozone") === "round 5" && harvester.stateOf("ozone")?.state === "done");
	assert.equal(timers.waiting, [], "nor is one that was harvested");
	scene.serve(503);
	await scene.follow("gone");
	await eventually(() => timers.waiting.length === 1);
	await scene.remove("gone");
	timers.run();
	await eventually(() => harvester.stateOf("gone") === null);
	await scene.follow("wrong", feature("/nowhere/MapServer/1"));
	await eventually(() => harvester.stateOf("wrong")?.state === "failed");
	assert.equal(timers.waiting, [], "neither a removed layer nor a wrong registration is tried again");
});

test("after a change of the rules every layer is harvested once more within a day, and only a difference is committed", async (before) => {
	await before.harvester.close();
	const scene = openScene(365 * day, day);
	const { harvester, startLines, timers, lines, handlers, commits } = scene;
	for (const smallkey of ["ozone", "roads", "trails"]) await scene.put(smallkey);
	harvester.start();
	await eventually(() => startLines.length === 1 && timers.waiting.length === 3);
	const start = commits.length;
	for (let hours = 0; hours < 24; hours += 6) {
		handlers.now += 6 * 3_600_000;
		timers.run(60_000);
		await eventually(() => timers.waiting.length === 3 && harvester.waiting() === 0);
	}
	const asked = lines.map(({ harvest }) => harvest).sort();
	assert.equal([asked, commits.length], [["ozone", "roads", "trails"], start]);
	// Three writes took a second each.
	timers.run(day - 3_000);
	assert.is(timers.waiting.length, 1, "once");
	await harvester.close();
});

test("while one service hangs, layers of others are harvested; closing ends it, and stores nothing more", async (scene) => {
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
	await eventually(() => looks.length === 3 && lines.length === 2);
	assert.equal(looks.toSorted(), ["a: Stations", "b: Stations", "picture: (none)"]);
	assert.equal(harvester.stateOf("odd"), { state: "waiting" });
	const closed = harvester.close();
	release();
	await closed;
	harvester.follow("odd");
	assert.equal([harvester.waiting(), lines.length, commits.at(-1)?.subject], [0, 2, commits.at(-1)?.subject]);
	assert.not(commits.some(({ subject }) => subject === "harvest odd"));
});

test.run();
