import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Watched } from "../../../harvest/watch-layer.ts";
import { healthPath, type SickState, weekOf } from "../../../registry/health.ts";
import type { Registration } from "../../../registry/registration.ts";
import { isDue } from "../../../service/harvester/schedule.ts";
import { Watcher } from "../../../service/harvester/watcher.ts";
import { Local, wms } from "../../local.ts";
import { logTo } from "../../store/git-store.ts";
import { eventually } from "../../wait.ts";

const day = 86_400_000;
const gatherMs = 600_000;
const followMs = 60_000;

let local: Local;
let watcher: Watcher;
let timers: { run: () => void; ms: number }[];
/** What is seen of a layer, by its name in the WMS. */
let states: Map<string, SickState | null>;
let looked: string[];
let failing: Error | null;

test.before.each(async () => {
	local = await Local.open();
	timers = [];
	states = new Map();
	looked = [];
	failing = null;
	watcher = new Watcher({
		store: local.store,
		watch: async (registration) => watched(registration),
		readHealth: async () => {
			if (failing) throw failing;
			return health();
		},
		everyMs: 7 * day,
		now: () => new Date(local.now),
		allKeys: () => local.publication.table.smallkeys(),
		log: logTo(local.reported),
		timers: {
			set(run, ms) {
				const timer = { run, ms };
				timers.push(timer);
				return timer;
			},
			clear: (timer) => {
				timers = timers.filter((one) => one !== timer);
			},
		},
	});
});
test.after.each(async () => {
	await watcher.close();
	await local.end();
});

function watched(registration: Registration): Watched {
	const { layer = "" } = registration.en as { layer?: string };
	looked.push(layer);
	const state = states.get(layer) ?? null;
	const findings = state
		? [{ state, lang: "en" as const, pointer: "/en/layer", text: `${layer} is ${state}` }]
		: [];
	return { state, findings };
}

async function put(smallkey: string, layer = smallkey): Promise<void> {
	local.now += 1000;
	const timestamp = new Date(local.now).toISOString();
	const response = await local.write({ target: `/register/${smallkey}`, body: wms(layer), timestamp });
	assert.is(response.status, 201);
}

async function health(): Promise<string | null> {
	return local.git("show", `main:${healthPath}`).then(
		(text) => `${text}\n`,
		() => null,
	);
}

/** Runs the timers of one length. */
function run(ms: number): void {
	const due = timers.filter((one) => one.ms === ms);
	timers = timers.filter((one) => one.ms !== ms);
	for (const timer of due) timer.run();
}

async function follow(...smallkeys: string[]): Promise<void> {
	for (const smallkey of smallkeys) watcher.follow(smallkey);
	const before = looked.length;
	run(followMs);
	await eventually(() => looked.length === before + smallkeys.length);
}

test("what is seen of layers is gathered, and stored in one commit that names the sick ones", async () => {
	for (const smallkey of ["ab", "cd", "ef"]) await put(smallkey);
	states.set("ab", "empty").set("cd", "down");
	await follow("ab", "cd", "ef");
	assert.is(await health(), null, "not yet");
	assert.equal(watcher.sightOf("ab"), {
		state: "empty",
		at: local.now,
		findings: ["/en/layer: ab is empty"],
	});
	assert.equal(watcher.sightOf("ef"), { state: null, at: local.now, findings: [] });
	assert.is(watcher.sightOf("gh"), null);
	run(gatherMs);
	await eventually(async () => (await health()) !== null);
	const since = weekOf(new Date(local.now));
	assert.equal(JSON.parse((await health()) ?? ""), {
		sick: {
			ab: { state: "empty", since, cause: "ab is empty" },
			cd: { state: "down", since, cause: "cd is down" },
		},
	});
	const commit = await local.git("show", "--name-only", "--format=%an %s", "main");
	assert.is(commit, `fragment-publisher health: 2 layers are sick\n\n${healthPath}`);
	assert.equal(local.reported, []);
});

test("what is known already makes no commit, and a layer that is well or gone is forgotten", async () => {
	for (const smallkey of ["ab", "cd"]) await put(smallkey);
	states.set("ab", "empty").set("cd", "down");
	await follow("ab", "cd");
	run(gatherMs);
	await eventually(async () => (await health()) !== null);
	const tip = await local.git("rev-parse", "main");
	local.now += 21 * day;
	await follow("ab", "cd");
	run(gatherMs);
	states.clear();
	await follow("ab");
	local.now += 1000;
	assert.is((await local.write({ method: "DELETE", target: "/register/cd", body: "" })).status, 204);
	assert.is(await local.git("rev-parse", "main~1"), tip, "three weeks later nothing was new");
	run(gatherMs);
	await eventually(async () => (await health()) === null);
	assert.equal(local.reported, []);
});

test("every layer is checked once in a period, and a layer that is none of this is left out", async () => {
	await put("ab");
	watcher.start();
	let moments = 0;
	for (let hour = 0; hour < 7 * 24; hour += 1) {
		const since = local.now;
		local.now += 3_600_000;
		const before = looked.length;
		run(60_000);
		await eventually(() => timers.some(({ ms }) => ms === 60_000));
		if (!isDue("ab", since, local.now, 7 * day)) continue;
		moments += 1;
		await eventually(() => looked.length === before + 1);
	}
	assert.is(moments, 1);
	assert.equal(looked, ["ab"]);
	for (const smallkey of ["nothing", "__proto__"]) watcher.follow(smallkey);
	await follow("ab");
	assert.equal(looked, ["ab", "ab"]);
});

test("a batch waits for its moments: only some of it is checked soon", async () => {
	for (let index = 0; index < 500; index += 1) watcher.follow(`key-${index}`);
	assert.is(timers.length, 100);
});

test("what cannot be stored now is stored with what is seen later, or at the end", async () => {
	await put("ab");
	states.set("ab", "wrong");
	await follow("ab");
	failing = new Error("the repository is gone");
	run(gatherMs);
	await eventually(() => local.reported.length === 1);
	assert.is(await health(), null);
	failing = null;
	await watcher.close();
	assert.match((await health()) ?? "", '"ab": {"state":"wrong"');
	local.reported.length = 0;
});

test.run();
