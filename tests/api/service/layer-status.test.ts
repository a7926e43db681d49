import * as assert from "uvu/assert";
import { answerFailure, answerStatus, routeOf } from "../../../api/app.ts";
import type { Client } from "../../../api/limits.ts";
import { believedDate, createReadStatus } from "../../../api/service/layer-status.ts";
import { createLayerParts } from "../../../extensions/harvest/harvester/open.ts";
import type { LayerStates } from "../../../extensions/harvest/harvester/states.ts";
import { acceptReview, parseReviewer } from "../../../extensions/review/decide.ts";
import { findWaiting } from "../../../extensions/review/waiting.ts";
import { type Lang, layerPath } from "../../../registry/smallkey.ts";
import { importCommit } from "../../../store/git/writer.ts";
import { StoreBusy } from "../../../store/store.ts";
import { clientAt, feature, Local, manual, noon, responseOf, tiles, wms } from "../../helpers/local.ts";
import { eventually, gate } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";

type HarvestState = NonNullable<ReturnType<LayerStates["stateOf"]>>;

const test = sharedSuite("status", async (use) => ({ local: use(await Local.open()) }));
test.after.each(({ local }) => {
	assert.equal(local.reported, []);
	local.now += 3_600_000;
});

const clockOf = ({ now }: Local) => new Date(now).toISOString().replace(".000Z", "Z");

async function ask(local: Local, target: string, client: Client = []): Promise<Response> {
	const route = routeOf("GET", target, local.context.settings);
	if (route.kind !== "status") throw new Error(`${target} is no status`);
	const { status = null, log } = local.context;
	const failed = (error: unknown) => answerFailure(error, "status", log);
	return responseOf(await answerStatus(route.segment, status, client).catch(failed));
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
async function statusOf(local: Local, smallkey: string): Promise<any> {
	const answer = await ask(local, `/status/${smallkey}`);
	assert.is(answer.status, 200, smallkey);
	return answer.json();
}

test("a receipt names where a registration is followed: time and commit", async ({ local }) => {
	const put = await local.put("23ax5t");
	const receipt = (await put.json()) as { status: string; commit: string };
	assert.is(receipt.status, "/status/23ax5t");
	const answer = await ask(local, `${receipt.status}?x=1`);
	assert.is(answer.headers.get("Access-Control-Allow-Origin"), "*");
	assert.is(answer.headers.get("Cache-Control"), "no-store");
	const etag = `"${await local.git("rev-parse", "main:layers/23/23ax5t.json")}"`;
	for (const { headers } of [put, answer]) assert.is(headers.get("ETag"), etag);
	const { commit: registering } = receipt;
	const first = {
		smallkey: "23ax5t",
		registered: clockOf(local),
		commit: registering,
		etag,
		review: null,
		declined: null,
		harvest: { state: "off" },
		health: { state: "unknown" },
	};
	assert.equal(await answer.json(), first);
	local.now += 60_000;
	await local.put("other");
	assert.equal(await statusOf(local, "%323ax5t"), first, "another layer's commit is not its own");
	const { commit } = (await (await local.put("23ax5t", wms("other"))).json()) as { commit: string };
	const status = await statusOf(local, "23ax5t");
	assert.equal([status.commit, status.registered], [commit, clockOf(local)]);
});

test("of an odd date what is shown is not before its parent, nor after now", async ({ local }) => {
	await local.put("dated");
	const { registered: first } = await statusOf(local, "dated");
	for (const timeMs of [Date.UTC(2001), Date.now() + 365 * 86_400_000]) {
		const who = `Ann <ann@example.org> ${Math.floor(timeMs / 1_000)} +0000`;
		const edits = [{ path: layerPath("dated"), text: wms(`at ${timeMs}`) }];
		const change = { author: who, committer: who, message: "dated\n", edits };
		const commit = await importCommit(local.repository, await local.git("rev-parse", "main"), change);
		await local.git("update-ref", "refs/heads/main", commit);
		await eventually(() => local.store.tip === commit);
		const { commit: shown, registered } = await statusOf(local, "dated");
		assert.equal([shown, registered], [commit, first]);
	}
});

test("a change that waits is named, without its sender, until it is merged", async ({ local }) => {
	const write = { target: "/register/fresh", body: manual, sender: "careful" };
	const { commit } = (await (await local.write(write)).json()) as { commit: string };
	const review = { branch: "register/fresh", commit, since: clockOf(local) };
	const status = await statusOf(local, "fresh");
	assert.equal([status.registered, status.commit, status.etag, status.review], [null, null, null, review]);
	assert.not.match(JSON.stringify(status), /careful/);
	const waiting = await findWaiting(local.repository, "register/fresh");
	const parentMs = await believedDate(local.repository, "main", local.now);
	const merge = await acceptReview(local.repository, waiting, parseReviewer("Ann"));
	await eventually(() => local.store.tip === merge);
	const merged = await statusOf(local, "fresh");
	assert.equal([merged.commit, merged.review], [merge, null]);
	// The merge's time is ahead of the service's clock.
	const registeredMs = Date.parse(merged.registered);
	assert.ok(registeredMs >= parentMs && registeredMs <= local.now, merged.registered);
});

test("a smallkey that is impossible or not registered is refused", async ({ local }) => {
	await local.put("gone");
	local.now += 1_000;
	await local.delete("gone");
	for (const [smallkey, status, text] of [
		["none", 404, /^smallkey: none is not registered$/],
		["gone", 404, /^smallkey: gone is not registered$/],
		...["a.b", "", "%zz", "a%2Fb"].map((bad) => [bad, 400, /^smallkey: must be 1 to 64/] as const),
	] as const) {
		const answer = await ask(local, `/status/${smallkey}`);
		assert.is(answer.status, status, smallkey);
		assert.match(((await answer.json()) as { errors: string[] }).errors.join(), text);
	}
	assert.is((await answerStatus("gone", null)).status, 404, "the layers are elsewhere");
});

test("harvest and health are what the harvester knows, in the publisher's words", async ({ local }) => {
	local.now = noon + 7 * 86_400_000;
	let state: HarvestState | null = null;
	const lastChecks: LayerStates["lastChecks"] = new Map();
	const { repository, store } = local;
	const layer = createLayerParts(repository, { stateOf: () => state, lastChecks });
	const statuses = createReadStatus(repository, store, () => new Date(), [{ layer }]);
	await local.put("wells", feature);
	await local.put("roads", tiles);
	const read = async (smallkey = "wells", lang: Lang = "en") => {
		const status = await statuses(smallkey, []);
		const { harvest, health } = status?.(lang) ?? {};
		return [harvest, health] as const;
	};
	assert.equal(await read(), [{ state: "waiting" }, { state: "unknown" }]);
	assert.equal(await read("roads"), [{ state: "none" }, { state: "unknown" }]);
	const [en, fr] = ["answers 404", "répond 404"] as const;
	const findings = [{ en, fr }];
	state = { state: "failed", at: noon, findings, nextTry: noon + 60_000, failures: 1 };
	lastChecks.set("wells", { state: "down", at: noon, findings });
	const at = "2026-03-04T12:00:00Z";
	assert.equal(await read(), [
		{ state: "failed", at, findings: [en], next_try: "2026-03-04T12:01:00Z" },
		{ state: "down", at, findings: [en] },
	]);
	for (const part of await read("wells", "fr")) assert.equal(part?.findings, [fr]);
	const reply = await answerStatus("wells", statuses);
	assert.match(new TextDecoder().decode(reply.bodyIn?.("fr")), `"findings":["${fr}"]`);
	const path = "layers/health.json";
	const health = '{"sick":{"wells":{"state":"down","since":"2026-W09"}}}';
	const meta = { smallkey: null, author: "x", time: noon, subject: "x", request: null };
	await local.store.change(async () => [{ path, text: health }], { ...meta, review: false });
	assert.is((await read())[1]?.since, "2026-W09");
	lastChecks.clear();
	assert.equal((await read())[1], { state: "down", since: "2026-W09" });
	lastChecks.set("wells", { state: null, at: noon, findings: [] });
	state = { state: "done", at: noon, findings: [], nextTry: noon, failures: 0 };
	assert.equal(await read(), [
		{ state: "done", at, findings: [], next_try: at },
		{ state: "well", at, findings: [] },
	]);
});

test("too many look-ups of one address, and beyond all room, are 503", async ({ local }) => {
	const [held, release] = gate();
	// A released look-up fails, without a process of git.
	const served = () => held.then(() => Promise.reject(new StoreBusy("busy", 7, "slow")));
	const store = { served, lastCommit: async () => null };
	const { repository } = local;
	local.context.status = createReadStatus(repository, store, () => new Date(), []);
	const answers: string[] = [];
	const look = async (address: string) => {
		const { status, headers } = await ask(local, "/status/a", address ? clientAt(address) : []);
		answers.push(`${address} ${status} ${headers.get("Retry-After")}`);
	};
	const looks = Array.from({ length: 40 }, () => look("192.0.2.0"));
	await eventually(() => answers.includes("192.0.2.0 503 2"));
	looks.push(look("198.51.100.1"), ...Array.from({ length: 200 }, () => look("")));
	await eventually(() => answers.includes(" 503 2"));
	release();
	await Promise.all(looks);
	assert.ok(answers.includes("198.51.100.1 503 7"), "it was looked up");
});

test.run();
