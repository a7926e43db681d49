import * as assert from "uvu/assert";
import { textsOf } from "../../registry/problems.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { isRefusal, type Store, StoreBusy } from "../../store/store.ts";
import { sharedSuite } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import type { Effect } from "./fault-proxy.ts";
import { type Peer, pausingClock, putting, startPeer } from "./github-peer.ts";

const test = sharedSuite("faults of GitHub", async (use) => ({ peer: use(await startPeer()) }));
test.before.each(({ peer }) => {
	peer.proxy.faults.length = 0;
});

/** The service's own limits, but for the time of one request: a request without an answer ends at once. */
const impatient = { waitMs: 9_000, raceMs: 8_000, batchMs: 14_000 };

/** The commit's id, or how many seconds the publisher is asked to wait. */
async function outcomeOf(change: ReturnType<Store["change"]>): Promise<string | number> {
	try {
		const outcome = await change;
		if (isRefusal(outcome)) throw new Error(textsOf(outcome.errors).join());
		return outcome.commit;
	} catch (error) {
		if (error instanceof StoreBusy) return error.retryAfter;
		throw error;
	}
}

/** How many commits on the branch are about a key. */
async function commitsAbout(peer: Peer, smallkey: string): Promise<number> {
	const commits = await peer.commits();
	return commits.filter(({ commit }) => commit.message.startsWith(`register ${smallkey} `)).length;
}

const stages: [string, RegExp][] = [
	["GET", /\/commits$/],
	["GET", /\/contents\//],
	["POST", /\/git\/trees$/],
	["POST", /\/git\/commits$/],
	["PATCH", /\/git\/refs\//],
];

const answer = (status: number, message?: string): Effect => ({ kind: "answer", status, message });
const effects: [string, Effect][] = [
	["500", answer(500)],
	["502", answer(502)],
	["time-out before", { kind: "silence" }],
	["time-out after", { kind: "lost answer" }],
	["connection cut before", { kind: "cut before" }],
	["connection cut in the answer", { kind: "cut answer" }],
];
const races: [string, Effect][] = [
	["409 expected", answer(409, "is at 1111 but expected 2222")],
	["422 not a fast forward", answer(422, "Update is not a fast forward")],
];
const branchWrite = stages.at(-1) as [string, RegExp];
const pairs = [
	...stages.flatMap((stage) => effects.map((effect) => ({ stage, effect }))),
	...races.map((effect) => ({ stage: branchWrite, effect })),
];

for (const [index, { stage, effect }] of pairs.entries()) {
	const [method, path] = stage;
	const [name, kind] = effect;
	const meta = metaOf(`key${index}`);
	const edits = putting(`key${index}`, "1\n");

	test(`${name} at ${method} ${path.source}, without end and then not: one commit`, async ({ peer }) => {
		const clock = pausingClock();
		const store = peer.store({ ...clock, limits: impatient });
		peer.proxy.faults.push({ method, path, times: 1_000, effect: kind });
		const outcome = await outcomeOf(store.change(edits, meta));
		assert.ok(clock.slept() < impatient.batchMs, `answered after ${clock.slept()} ms of pauses`);
		const isStored = (await commitsAbout(peer, `key${index}`)) === 1;
		// A lost answer of the last write is found by reading.
		assert.is(typeof outcome, isStored ? "string" : "number");
		assert.is(isStored, method === "PATCH" && /after|in the answer/.test(name));
		peer.proxy.faults.length = 0;
		const commit = await outcomeOf(store.change(edits, meta));
		assert.is((await peer.commits())[0]?.sha, commit);
		assert.is(await commitsAbout(peer, `key${index}`), 1);
	});

	test(`${name} at ${method} ${path.source}, once: one commit`, async ({ peer }) => {
		const store = peer.store({ ...pausingClock(), limits: impatient });
		peer.proxy.faults.push({ method, path, times: 1, effect: kind });
		const commit = await outcomeOf(store.change(putting(`once${index}`, "1\n"), metaOf(`once${index}`)));
		assert.equal(peer.proxy.faults, [], "the fault was met");
		assert.is((await peer.commits())[0]?.sha, commit);
		assert.is(await commitsAbout(peer, `once${index}`), 1);
	});
}

test("a move that is lost and followed by another's: found on the branch, and not made twice", async () => {
	await using peer = await startPeer();
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect: { kind: "lost answer" } });
	const run = () => peer.push(layerPath("nhn"), "theirs\n");
	const store = peer.store({ ...pausingClock(), limits: impatient });
	const change = store.change(async (now) => {
		const edits = await putting("nhn", "ours\n")(now);
		const moved = { kind: "meanwhile", run } as const;
		peer.proxy.faults.push({ method: "GET", path: /\/commits$/, times: 1, effect: moved });
		return edits;
	}, metaOf("nhn"));
	const commit = await outcomeOf(change);
	const commits = await peer.commits();
	assert.is(commits[1]?.sha, commit);
	assert.is(await commitsAbout(peer, "nhn"), 1);
	assert.is(await peer.file(layerPath("nhn")), "theirs\n");
});

test("50 changes at once to a GitHub that is slow: each is answered, each success is on the branch", async (scene) => {
	const { peer } = scene;
	peer.proxy.latencyMs = 100;
	const store = peer.store({ limits: { waitMs: 300 }, maxBatch: 5 });
	const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
	const outcomes = await Promise.all(
		keys.map(async (key) => {
			const change = store.change(putting(key, "1\n"), metaOf(key));
			await change.catch((error: unknown) => assertBusy(error, "trop de modifications attendent GitHub"));
			return outcomeOf(change);
		}),
	);
	peer.proxy.faults.length = 0;
	const onBranch = new Set((await peer.commits()).map(({ sha }) => sha));
	const successes = outcomes.filter((outcome) => typeof outcome === "string");
	assert.ok(successes.length > 0 && successes.length < 50, String(successes.length));
	for (const sha of successes) assert.ok(onBranch.has(sha as string));
	for (const wait of outcomes.filter((outcome) => typeof outcome === "number")) assert.ok(Number(wait) >= 1);
	for (const key of keys) await outcomeOf(peer.store().change(putting(key, "1\n"), metaOf(key)));
	for (const key of keys) assert.is(await commitsAbout(peer, key), 1);
});

test("two processes at once on one branch: every success is there", async ({ peer }) => {
	const stores = [peer.store(), peer.store({ random: Math.random })];
	const changes = Array.from({ length: 20 }, (_, index) => {
		const key = `p${index}`;
		return outcomeOf((stores[index % 2] as Store).change(putting(key, "1\n"), metaOf(key)));
	});
	const outcomes = await Promise.all(changes);
	const onBranch = new Set((await peer.commits()).map(({ sha }) => sha));
	for (const outcome of outcomes) if (typeof outcome === "string") assert.ok(onBranch.has(outcome));
	assert.ok(outcomes.filter((outcome) => typeof outcome === "string").length >= 10);
});

test("a review that stops half-way is whole after a retry", async () => {
	await using peer = await startPeer();
	for (const [method, path] of [
		["POST", /\/git\/refs$/],
		["POST", /\/pulls$/],
	] as const) {
		for (const kind of ["silence", "lost answer", "cut answer"] as const) {
			let ahead = 0;
			const sleep = async (ms: number) => {
				ahead += ms;
			};
			const store = peer.store({
				sleep,
				now: () => new Date(Date.now() + ahead),
			});
			const key = `${path.source.replace(/\W/g, "")}-${kind.replace(" ", "-")}`;
			const meta = metaOf(key, { review: true });
			peer.proxy.faults.push({ method, path, times: 1_000, effect: { kind } });
			try {
				await store.change(putting(key, "1\n"), meta);
			} catch (error) {
				assert.instance(error, StoreBusy);
			}
			peer.proxy.faults.length = 0;
			const outcome = await store.change(putting(key, "1\n"), meta);
			if (isRefusal(outcome)) throw new Error(textsOf(outcome.errors).join());
			const { data } = await peer.api<{ html_url: string }[]>("GET", `/pulls?head=maps:register/${key}`);
			assert.equal(
				data.map(({ html_url }) => html_url),
				[outcome.pullRequest],
				key,
			);
			assert.is((await peer.commits(`register/${key}`)).length, 2, key);
		}
	}
});

test.run();
