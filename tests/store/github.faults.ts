import * as assert from "uvu/assert";
import { textsOf } from "../../registry/problems.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { isRefusal, type Reader, type Store, StoreBusy } from "../../store/store.ts";
import { freshSuite } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import type { Effect, Fault } from "./fault-proxy.ts";
import { type Peer, pausingClock, putting, startPeer } from "./github-peer.ts";

const test = freshSuite("faults of GitHub", async (use) => ({ peer: use(await startPeer()) }));

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

for (const { stage, effect } of pairs) {
	const [method, path] = stage;
	const [name, kind] = effect;

	test(`${name} at ${method} ${path.source}, once: one commit`, async ({ peer }) => {
		const clock = pausingClock();
		const store = peer.store({ ...clock, limits: impatient });
		peer.proxy.faults.push({ method, path, times: 1, effect: kind });
		const commit = await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")));
		assert.equal(peer.proxy.faults, [], "the fault was met");
		assert.is((await peer.commits())[0]?.sha, commit);
		assert.is(await commitsAbout(peer, "nhn"), 1);
		assert.is(await peer.file(layerPath("nhn")), "1\n");
	});

	test(`${name} at ${method} ${path.source}, without end: a retry ends in one commit`, async ({ peer }) => {
		const clock = pausingClock();
		const store = peer.store({ ...clock, limits: impatient });
		peer.proxy.faults.push({ method, path, times: 1_000, effect: kind });
		const meta = metaOf("nhn");
		const outcome = await outcomeOf(store.change(putting("nhn", "1\n"), meta));
		assert.ok(clock.slept() < impatient.batchMs, `answered after ${clock.slept()} ms of pauses`);
		const isStored = (await commitsAbout(peer, "nhn")) === 1;
		// A lost answer of the last write is found by reading.
		assert.is(typeof outcome, isStored ? "string" : "number");
		assert.is(isStored, method === "PATCH" && /after|in the answer/.test(name));
		peer.proxy.faults.length = 0;
		const commit = await outcomeOf(store.change(putting("nhn", "1\n"), meta));
		assert.is((await peer.commits())[0]?.sha, commit);
		assert.is(await commitsAbout(peer, "nhn"), 1);
	});
}

for (const status of [403, 429]) {
	test(`${status} with a short Retry-After: the pause is kept, then one commit`, async ({ peer }) => {
		const clock = pausingClock();
		const store = peer.store(clock);
		const effect: Effect = { kind: "answer", status, headers: { "Retry-After": "3" } };
		peer.proxy.faults.push({ method: "POST", path: /trees$/, times: 1, effect });
		const commit = await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")));
		assert.is((await peer.commits())[0]?.sha, commit);
		assert.ok(clock.slept() >= 3_000 && clock.slept() < 4_000, String(clock.slept()));
	});

	test(`${status} with a long Retry-After: GitHub is not asked before its end`, async ({ peer }) => {
		const clock = pausingClock();
		const store = peer.store(clock);
		const effect: Effect = { kind: "answer", status, headers: { "Retry-After": "60" } };
		peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect });
		const meta = metaOf("nhn");
		assert.is(
			await outcomeOf(store.change(putting("nhn", "1\n"), meta)),
			60 + 15,
			"spread by half a minute at most",
		);
		const asked = peer.proxy.requests.length;
		const soon = await outcomeOf(store.change(putting("nrn", "1\n"), metaOf("nrn")));
		assert.ok(typeof soon === "number" && soon > 55 + 15 && soon <= 60 + 15, String(soon));
		assert.is(peer.proxy.requests.length, asked);
		assert.is(await commitsAbout(peer, "nhn"), 0);
		await clock.sleep(60_000);
		const commit = await outcomeOf(store.change(putting("nhn", "1\n"), meta));
		assert.is((await peer.commits())[0]?.sha, commit);
		assert.is(await commitsAbout(peer, "nhn"), 1);
	});
}

test("403 at the end of the hour's requests: the publisher waits for the next hour", async ({ peer }) => {
	const reset = String(Math.floor(Date.now() / 1000) + 600);
	const headers = { "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset };
	peer.proxy.faults.push({
		method: "GET",
		path: /commits$/,
		times: 1,
		effect: { kind: "answer", status: 403, headers },
	});
	const wait = await outcomeOf(peer.store().change(putting("nhn", "1\n"), metaOf("nhn")));
	assert.ok(typeof wait === "number" && wait > 590 + 15 && wait <= 600 + 15, String(wait));
});

test("403 of the secondary limit without a time: a minute", async ({ peer }) => {
	const effect = answer(403, "You have exceeded a secondary rate limit.");
	peer.proxy.faults.push({ method: "POST", path: /trees$/, times: 1, effect });
	assert.is(await outcomeOf(peer.store().change(putting("nhn", "1\n"), metaOf("nhn"))), 60 + 15);
	assert.is(await commitsAbout(peer, "nhn"), 0);
});

test("an answer of something in between, without GitHub's JSON, is none; its Retry-After counts", async (scene) => {
	const { peer } = scene;
	const page = (status: number, headers = {}): Effect => ({
		kind: "answer",
		status,
		headers,
		text: "<html>",
	});
	for (const status of [200, 404, 409, 422, 500, 502, 503]) {
		peer.proxy.faults.push({ method: "GET", path: /contents/, times: 1, effect: page(status) });
	}
	const store = peer.store(pausingClock());
	assert.is(typeof (await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")))), "number");
	assert.is(typeof (await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")))), "string");
	assert.equal(peer.proxy.faults, []);
	const effect = page(429, { "Retry-After": "50" });
	peer.proxy.faults.push({ method: "GET", path: /contents/, times: 1, effect });
	assert.is(await outcomeOf(store.change(putting("nhn", "2\n"), metaOf("nhn"))), 50 + 15);
	assert.is(await commitsAbout(peer, "nhn"), 1);
});

test("why GitHub was given up on is for the operator, without the token", async ({ peer }) => {
	const reported: string[] = [];
	const log = { error: (error: unknown) => reported.push(`${(error as Error).stack}`) };
	const faults: [Effect, RegExp][] = [
		[answer(502, "Unicorn"), /GET .*commits: 502, Unicorn/],
		[{ kind: "cut before" }, /GET .*commits: .*(?:closed|hang up|reset)/],
		[{ kind: "silence" }, /GET .*commits: .*(?:timeout|abort)/],
	];
	for (const [effect, text] of faults) {
		peer.proxy.faults.push({ method: "GET", path: /commits$/, times: 4, effect });
		const store = peer.store({ ...pausingClock(), limits: impatient, log });
		assert.is(await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn"))), 15 + 8);
		assert.match(reported.pop() ?? "", text);
		assert.equal(reported, []);
	}
	// With nothing of the test's: the end of a request's own time.
	peer.proxy.faults.push({ method: "GET", path: /commits$/, times: 4, effect: { kind: "silence" } });
	const late = peer.store({ ...pausingClock(), limits: { requestMs: 50 }, fetch, log });
	assert.is(await outcomeOf(late.change(putting("nhn", "1\n"), metaOf("nhn"))), 15 + 8);
	assert.match(reported.pop() ?? "", /GET .*commits: .*(?:timeout|abort)/);
	const elsewhere = peer.store({ ...pausingClock(), apiUrl: "http://127.0.0.1:1", log });
	assert.is(await outcomeOf(elsewhere.change(putting("nhn", "1\n"), metaOf("nhn"))), 15 + 8);
	assert.not.match(reported.join(), new RegExp(peer.token));
});

const refusals: [string, string, RegExp, Effect, RegExp][] = [
	["bad credentials", "GET", /commits$/, answer(401, "Bad credentials"), /401 .*Bad credentials/],
	[
		"no permission",
		"POST",
		/trees$/,
		answer(403, "Resource not accessible by integration"),
		/403 .*not accessible/,
	],
	["an unknown repository", "GET", /commits$/, answer(404, "Not Found"), /404 .*branch main/],
	[
		"a protected branch",
		"PATCH",
		/refs/,
		answer(422, "Changes must be made through a pull request."),
		/pull request/,
	],
	["another 422", "PATCH", /refs/, answer(422, "Object is odd"), /422 .*odd/],
];

for (const [name, method, path, effect, text] of refusals) {
	test(`${name}: an error for the operator, without the token`, async ({ peer }) => {
		peer.proxy.faults.push({ method, path, times: 1_000, effect });
		const store = peer.store({ ...pausingClock(), auth: { token: "very-secret" } });
		const failing = peer.store({ ...pausingClock() });
		for (const each of [store, failing]) {
			try {
				await each.change(putting("nhn", "1\n"), metaOf("nhn"));
				assert.unreachable("it cannot have worked");
			} catch (error) {
				assert.not.instance(error, StoreBusy);
				const words = `${(error as Error).stack}${JSON.stringify(error)}`;
				assert.not.match(words, /very-secret|the-token-of-the-test/);
				if (each === failing) assert.match((error as Error).message, text);
			}
		}
		assert.is(await commitsAbout(peer, "nhn"), 0);
	});
}

test("another writer moves the branch between the read and the write: both are kept", async ({ peer }) => {
	let pushes = 0;
	const run = () => {
		pushes += 1;
		return peer.push(`layers/zz/zz${pushes}.json`, "{}\n");
	};
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 3, effect: { kind: "meanwhile", run } });
	const store = peer.store(pausingClock());
	const commit = await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")));
	assert.is((await peer.commits())[0]?.sha, commit);
	assert.equal(await store.keys("zz"), ["zz1", "zz2", "zz3"]);
	assert.is(await commitsAbout(peer, "nhn"), 1);
});

test("another writer moves the branch each time: 503 after five tries, and nothing of it is there", async (scene) => {
	const { peer } = scene;
	let pushes = 0;
	const run = () => {
		pushes += 1;
		return peer.push(`other${pushes}.txt`, "\n");
	};
	peer.proxy.faults.push({
		method: "PATCH",
		path: /refs/,
		times: 1_000,
		effect: { kind: "meanwhile", run },
	});
	assert.is(await outcomeOf(peer.store(pausingClock()).change(putting("nhn", "1\n"), metaOf("nhn"))), 2 + 1);
	assert.is(pushes, 5);
	assert.is(await peer.file(layerPath("nhn")), null);
});

test("another writer writes the same meanwhile: success, and no second commit", async ({ peer }) => {
	const run = () => peer.push(layerPath("nhn"), "1\n");
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect: { kind: "meanwhile", run } });
	const outcome = await peer.store(pausingClock()).change(putting("nhn", "1\n"), metaOf("nhn"));
	const head = (await peer.commits())[0];
	assert.equal(outcome, { commit: head?.sha, changed: false });
	assert.is(head?.commit.message, `push ${layerPath("nhn")}`);
});

test("another writer changes the key meanwhile: the edits decide anew on that", async ({ peer }) => {
	const run = () => peer.push(layerPath("nhn"), "theirs\n");
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect: { kind: "meanwhile", run } });
	const seen: (string | undefined)[] = [];
	const edits = async (now: Reader) => {
		seen.push((await now.read("nhn"))?.registration);
		return [{ path: layerPath("nhn"), text: "ours\n" }];
	};
	await outcomeOf(peer.store(pausingClock()).change(edits, metaOf("nhn")));
	assert.equal(seen, [undefined, "theirs\n"]);
	assert.is(await peer.file(layerPath("nhn")), "ours\n");
});

test("a move that is lost and followed by another's: found on the branch, and not made twice", async (scene) => {
	const { peer } = scene;
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

test("a read that lags behind the last change is not decided on", async ({ peer }) => {
	for (const review of [false, true]) {
		const store = peer.store(pausingClock());
		const key = review ? "nrn" : "nhn";
		const change = (text: string) => {
			return outcomeOf(store.change(putting(key, text), metaOf(key, { review })));
		};
		for (const text of ["0\n", "1\n", "2\n"]) await change(text);
		const body = (commits: unknown) => (commits as unknown[]).slice(1);
		const lag: Fault = { method: "GET", path: /\/commits$/, times: 2, effect: { kind: "rewrite", body } };
		peer.proxy.faults.push(lag);
		// Seen without the last change, the key would hold this text already.
		await change("1\n");
		assert.is(await peer.file(layerPath(key), review ? `register/${key}` : "main"), "1\n");
		peer.proxy.faults.length = 0;
	}
});

test("a folder that GitHub cannot show yet is not taken for an empty one", async ({ peer }) => {
	const store = peer.store(pausingClock());
	await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")));
	const effect = answer(404, "No commit found for the ref 1111");
	peer.proxy.faults.push({ method: "GET", path: /contents/, times: 2, effect });
	const seen: unknown[] = [];
	await store.change(async (now) => {
		seen.push((await now.read("nhn"))?.registration);
		return [];
	}, metaOf("nhn"));
	assert.equal(seen, ["1\n"]);
	assert.equal(peer.proxy.faults, []);
});

test("a slow answer within the patience is waited for", async ({ peer }) => {
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect: { kind: "slow", ms: 100 } });
	const store = peer.store();
	const commit = await outcomeOf(store.change(putting("nhn", "1\n"), metaOf("nhn")));
	assert.is((await peer.commits())[0]?.sha, commit);
});

test("others who move the branch all the time are named in French", async ({ peer }) => {
	const store = peer.store({ ...pausingClock(), limits: impatient });
	const [method, path] = branchWrite;
	for (const [, effect] of races) {
		peer.proxy.faults.push({ method, path, times: 1_000, effect });
		const error = await store.change(putting("nhn", "1\n"), metaOf("nhn")).catch((error: unknown) => error);
		assertBusy(error, "d’autres modifient les couches au même moment");
		peer.proxy.faults.length = 0;
	}
	assert.is(await peer.file(layerPath("nhn")), null);
});

test("50 changes at once to a GitHub that is slow: each is answered, each success is on the branch", async (scene) => {
	const { peer } = scene;
	const slow = { kind: "slow", ms: 100 } as const;
	peer.proxy.faults.push({ method: "GET", path: /./, times: 10_000, effect: slow });
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

test.run();
