import * as assert from "uvu/assert";
import { messageOf, verify } from "../../../../api/signature.ts";
import { createHealthGroups } from "../../../../extensions/harvest/harvester/commit.ts";
import { createNotifier, type Notice } from "../../../../extensions/harvest/harvester/notifier.ts";
import { checkResult, weekOf } from "../../../../extensions/harvest/health.ts";
import { healthPath } from "../../../../registry/smallkey.ts";
import { causeOf, type SickState } from "../../../../site/data/health.ts";
import { Handlers, wms } from "../../../helpers/handlers.ts";
import { test } from "../../../helpers/suite.ts";
import { eventually } from "../../../helpers/wait.ts";
import { HeldTimers } from "./held-timers.ts";

const day = 86_400_000;
const collectMs = 600_000;

let handlers: Handlers;
let groups: ReturnType<typeof createHealthGroups>;
let timers: HeldTimers;
let states: Map<string, SickState | null>;
let failing: Error | null;
let noticed: Notice[];

test.before.each(async () => {
	handlers = new Handlers();
	timers = new HeldTimers();
	states = new Map();
	failing = null;
	noticed = [];
	groups = createHealthGroups({
		notify: (notice) => noticed.push(notice),
		store: handlers.store,
		readHealth: async () => {
			if (failing) throw failing;
			return health();
		},
		now: () => new Date(handlers.now),
		allKeys: () => [...handlers.store.files.keys()].flatMap((path) => /\/(\w+)\.json$/.exec(path)?.[1] ?? []),
		log: { info: () => {}, warn: () => {}, error: (error) => handlers.reported.push(error) },
		timers,
	});
});
test.after.each(async () => {
	await groups.close();
});

function missing(layer: string) {
	return { cause: `has no layer ${layer} among its 2`, code: "no-layer", values: [layer, "2"] };
}

async function put(smallkey: string, layer = smallkey) {
	handlers.now += 1000;
	assert.is((await handlers.put(smallkey, wms(layer))).status, 201);
}

async function health() {
	return handlers.store.files.get(healthPath) ?? null;
}

function look(...smallkeys: string[]) {
	for (const smallkey of smallkeys) {
		const state = states.get(smallkey);
		groups.add(smallkey, state ? checkResult(state, causeOf("no-layer", smallkey, 2)) : null);
	}
}

test("the states of all layers are stored in one commit that names the sick ones", async () => {
	for (const smallkey of ["ab", "cd", "ef"]) await put(smallkey);
	states.set("ab", "empty").set("cd", "down");
	look("ab", "cd", "ef");
	assert.is(await health(), null, "not yet");
	timers.run(collectMs);
	await eventually(async () => (await health()) !== null);
	const since = weekOf(new Date(handlers.now));
	await eventually(async () => noticed.length === 1);
	const ab = { ...missing("ab"), state: "empty", since };
	const cd = { ...missing("cd"), state: "down", since };
	const layers = Object.entries({ ab, cd }).map(([smallkey, sickness]) => ({ smallkey, ...sickness }));
	assert.equal(noticed, [{ event: "sick", layers }]);
	assert.equal(JSON.parse((await health()) ?? ""), { sick: { ab, cd } });
	const { author, subject, edits } = handlers.store.commits.at(-1) ?? {};
	assert.equal(
		[author, subject, edits?.map(({ path }) => path)],
		["fragment-publisher", "health: 2 layers are sick", [healthPath]],
	);
	assert.equal(handlers.reported, []);
});

test("an unchanged state is no commit, and a layer that is well or removed is forgotten", async () => {
	for (const smallkey of ["ab", "cd"]) await put(smallkey);
	states.set("ab", "empty").set("cd", "down");
	look("ab", "cd");
	handlers.now += 1000;
	await handlers.delete("cd");
	timers.run(collectMs);
	await eventually(async () => (await health()) !== null);
	assert.equal(Object.keys(JSON.parse((await health()) ?? "").sick), ["ab"]);
	const { length } = handlers.store.commits;
	handlers.now += 21 * day;
	look("ab");
	timers.run(collectMs);
	await eventually(() => noticed.length === 2);
	assert.is(handlers.store.commits.length, length);
	states.clear();
	look("ab");
	timers.run(collectMs);
	await eventually(async () => (await health()) === null);
	assert.equal(handlers.reported, []);
});

test("a state that cannot be stored is stored with the next one, or at the end", async () => {
	await put("ab");
	states.set("ab", "wrong");
	look("ab");
	failing = new Error("the repository is gone");
	timers.run(collectMs);
	await eventually(() => handlers.reported.length === 1);
	assert.is(await health(), null);
	failing = null;
	await groups.close();
	assert.match((await health()) ?? "", '"ab": {"state":"wrong"');
	handlers.reported.length = 0;
});

const secret = "notify-secret";
const target = { url: "https://hooks.example.org/maps/notices", secret };
const noon = () => new Date("2026-03-04T12:00:00Z");
const sickLayer = { smallkey: "roads", state: "down", since: "2026-W10" } as const;
const sick: Notice = { event: "sick", layers: [sickLayer] };

type Sent = { url: string; method?: string; headers: Record<string, string>; body: Uint8Array };

/** A notifier whose requests get these statuses in turn; 0: no answer. */
function notifierWith(statuses: number[]) {
	const [sent, pauses, warned] = [[] as Sent[], [] as number[], [] as string[]];
	const notifier = createNotifier({
		target,
		now: noon,
		warn: (line) => warned.push(line),
		pause: async (ms) => pauses.push(ms),
		fetch: async (url, request) => {
			sent.push({ ...(request as Sent), url: String(url) });
			const status = statuses.shift() ?? 0;
			if (status === 0) throw new Error("refuses the connection");
			return new Response(null, { status });
		},
	});
	return { notifier, sent, pauses, warned };
}

test("a notice is signed as a PUT is, and small", async () => {
	const { notifier, sent, warned } = notifierWith([204]);
	await notifier.notify(sick);
	const [{ url, method, headers, body } = {} as Sent] = sent;
	assert.equal([url, method, sent.length], [target.url, "POST", 1]);
	assert.equal(JSON.parse(new TextDecoder().decode(body)), sick);
	const { Authorization: signature = "", TimeStamp: timestamp = "", Sender: sender = "" } = headers;
	const message = messageOf({ path: "/maps/notices", sender, timestamp, body });
	assert.ok(await verify(secret, message, signature));
	assert.equal([timestamp, sender, warned], ["2026-03-04T12:00:00.000Z", "fragment-publisher", []]);
	const layers = Array.from({ length: 5_000 }, (_, at) => ({ ...sickLayer, smallkey: `k${at}` }));
	const many = notifierWith([200]);
	await many.notifier.notify({ event: "sick", layers });
	assert.is(JSON.parse(new TextDecoder().decode(many.sent[0]?.body)).layers.length, 100);
});

test("a notice without an answer is tried again, and the others follow in order", async () => {
	const { notifier, sent, pauses, warned } = notifierWith([503, 0, 200, 404, 404, 404, 404, 0]);
	const repairs = [{ branch: "repair/roads", sure: "same" as const, smallkeys: ["roads"] }];
	await Promise.all([notifier.notify(sick), notifier.notify({ event: "repair", repairs })]);
	const events = sent.map(({ body }) => JSON.parse(new TextDecoder().decode(body)).event);
	assert.equal(events, [...Array(3).fill("sick"), ...Array(5).fill("repair")]);
	assert.equal(pauses, [1_000, 10_000, 1_000, 10_000, 60_000, 600_000]);
	const line = "NOTIFY_URL: a notice (repair) was not delivered: refuses the connection";
	assert.equal(warned, [line], "without the address");
	await notifier.notify({ event: "sick", layers: [] });
	notifier.close();
	await notifier.notify(sick);
	assert.is(sent.length, 8, "nothing is sent about nothing, or after the end");
});

test.run();
