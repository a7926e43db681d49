import * as assert from "uvu/assert";
import { putEdits } from "../../api/register.ts";
import { parseRegistration, type Registration } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { problemAt } from "../../registry/texts.ts";
import { type Edit, isRefusal, type Meta, StoreBusy, usedBefore } from "../../store/store.ts";
import { wms } from "../helpers/local.ts";
import { freshSuite } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import type { Effect, Fault } from "./fault-proxy.ts";
import { type Peer, putting, startPeer } from "./github-peer.ts";

const test = freshSuite("changes that come to GitHub together", async (use) => ({
	peer: use(await startPeer()),
}));

const answer = (status: number, message?: string): Effect => ({ kind: "answer", status, message });

/** How often a request was sent so far. */
function count(peer: Peer, request: RegExp): number {
	return peer.proxy.requests.filter((one) => request.test(one)).length;
}

const moves = /^PATCH .*\/git\/refs\/heads\/main$/;
const trees = /^POST .*\/git\/trees$/;

/** The commits' subjects, oldest first, without the first one. */
async function subjects(peer: Peer): Promise<string[]> {
	const commits = (await peer.commits()).reverse().slice(1);
	return commits.map(({ commit }) => commit.message.split("\n")[0] as string);
}

/** A store that stays away from GitHub for one turn of the loop, so that all changes of a test come together. */
function together(peer: Peer, options: Parameters<Peer["store"]>[0] = {}) {
	peer.proxy.latencyMs = 20;
	return peer.store({ sleep: async () => undefined, ...options });
}

test("changes that come together are a commit each, in their order, and the branch moves once for 20", async (scene) => {
	const { peer } = scene;
	const store = together(peer);
	const keys = Array.from({ length: 30 }, (_, index) => `k${String(index).padStart(2, "0")}`);
	const outcomes = await Promise.all(keys.map((key) => store.change(putting(key, "1\n"), metaOf(key))));
	const commits = (await peer.commits()).reverse().slice(1);
	assert.equal(
		outcomes.map((outcome) => !isRefusal(outcome) && outcome.commit),
		commits.map(({ sha }) => sha),
	);
	assert.is(new Set(commits.map(({ sha }) => sha)).size, 30);
	assert.is(count(peer, moves), 2);
	for (const key of keys) assert.is(await peer.file(layerPath(key)), "1\n");
});

for (const [where, listings, keyOf] of [
	["one folder", 2, (index: string) => `b400x${index}`],
	["30 folders", 30, (index: string) => `${index}b400x`],
] as const) {
	test(`30 PUTs at once of keys in ${where}, after many others: a commit each, and nothing is asked twice`, async (scene) => {
		const { peer } = scene;
		const store = together(peer);
		// From 20 commits of the last minutes on, the replay guard has to ask for the history of each key.
		const earlier = Array.from({ length: 20 }, (_, index) => `${index + 10}e`);
		await Promise.all(earlier.map((key) => store.change(putting(key, "1\n"), metaOf(key))));
		const { registration } = parseRegistration(new TextEncoder().encode(wms("a")), "written");
		const keys = Array.from({ length: 30 }, (_, index) => keyOf(String(index).padStart(2, "0")));
		peer.proxy.requests.length = 0;
		const outcomes = await Promise.all(
			keys.map((key) => store.change((now) => putEdits(now, key, registration as Registration), metaOf(key))),
		);
		assert.ok(outcomes.every((outcome) => !isRefusal(outcome) && outcome.changed));
		assert.equal(
			(await subjects(peer)).slice(20),
			keys.map((key) => `register ${key} (wms)`),
		);
		// Of each of two batches the head and the move of the branch; of each change its history, tree and commit.
		assert.is(peer.proxy.requests.length, 2 * 2 + listings + 30 * 3);
	});
}

test("each of them gets its own outcome", async ({ peer }) => {
	await peer.push(layerPath("same"), "1\n");
	const store = together(peer);
	const refusal = { status: 409, errors: [problemAt("smallkey", "required")] };
	const meta = metaOf("a");
	const outcomes = await Promise.allSettled([
		store.change(putting("a", "1\n"), meta),
		store.change(async () => refusal, metaOf("b")),
		store.change(putting("same", "1\n"), metaOf("same")),
		store.change(async () => {
			throw new Error("a fault of the test");
		}, metaOf("c")),
		store.change(putting("a", "2\n"), metaOf("a")),
		store.change(putting("a", "1\n"), meta),
		store.change(putting("a", "2\n"), metaOf("a")),
	]);
	const [first, second] = (await peer.commits()).slice(0, 2).reverse();
	assert.equal(outcomes[0], { status: "fulfilled", value: { commit: first?.sha, changed: true } });
	assert.equal(outcomes[1], { status: "fulfilled", value: refusal });
	assert.equal(outcomes[2], { status: "fulfilled", value: { commit: first?.sha, changed: false } });
	assert.is(outcomes[3]?.status, "rejected");
	assert.equal(outcomes[4], { status: "fulfilled", value: { commit: second?.sha, changed: true } });
	assert.equal(outcomes[5], { status: "fulfilled", value: usedBefore }, "used within the same batch");
	assert.equal(outcomes[6], { status: "fulfilled", value: { commit: second?.sha, changed: false } });
	assert.is(count(peer, moves), 1);
});

test("what a change removes is not there for the changes that came with it", async ({ peer }) => {
	await peer.push(layerPath("a1"), "1\n");
	const store = together(peer);
	const seen: unknown[] = [];
	await Promise.all([
		store.change(async () => [{ path: layerPath("a1"), text: null }], metaOf("a1")),
		store.change(async (now) => {
			seen.push([await now.read("a1"), await now.ids("a1"), await now.keys("a1")]);
			return [{ path: layerPath("b1"), text: "1\n" }];
		}, metaOf("b1")),
	]);
	assert.equal(seen.at(-1), [null, null, []]);
	assert.is(count(peer, moves), 1);
});

test("two keys that differ only in case and come together: one is registered", async ({ peer }) => {
	const store = together(peer);
	const { registration } = parseRegistration(new TextEncoder().encode(wms("a")), "written");
	assert.ok(registration);
	const outcomes = await Promise.all(
		["ab", "AB", "aB"].map((key) =>
			store.change(
				(now) => putEdits(now, key, registration as NonNullable<typeof registration>),
				metaOf(key),
			),
		),
	);
	assert.equal(
		outcomes.map((outcome) => (isRefusal(outcome) ? outcome.status : "stored")),
		["stored", 409, 409],
	);
	assert.equal(await store.keys("ab"), ["ab"]);
});

test("another writer moves the branch meanwhile: all of them are built anew, and none twice", async (scene) => {
	const { peer } = scene;
	const run = () => peer.push(layerPath("zz"), "theirs\n");
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect: { kind: "meanwhile", run } });
	const store = together(peer);
	const keys = ["a", "b", "zz"];
	await Promise.all(keys.map((key) => store.change(putting(key, "1\n"), metaOf(key))));
	assert.equal(await subjects(peer), [
		`push ${layerPath("zz")}`,
		...keys.map((key) => `register ${key} (wms)`),
	]);
});

test("a move whose answer is lost: all of them are found on the branch", async ({ peer }) => {
	peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1, effect: { kind: "cut answer" } });
	const store = together(peer);
	const keys = ["a", "b", "c"];
	const outcomes = await Promise.all(keys.map((key) => store.change(putting(key, "1\n"), metaOf(key))));
	const commits = (await peer.commits()).reverse().slice(1);
	assert.equal(
		outcomes,
		commits.map(({ sha }) => ({ commit: sha, changed: true })),
	);
	assert.is(commits.length, 3);
});

test("GitHub refuses what one of them brings: the others are stored", async ({ peer }) => {
	const fault = {
		method: "POST",
		path: /trees$/,
		body: (text: string) => text.includes("poison"),
		times: 1_000,
	};
	peer.proxy.faults.push({ ...fault, effect: answer(422, "Repository rule violations found: a secret") });
	const store = together(peer);
	const texts = ["1\n", "poison\n", "3\n"];
	const changes = texts.map((text, index) => store.change(putting(`k${index}`, text), metaOf(`k${index}`)));
	const outcomes = await Promise.allSettled(changes);
	assert.equal(
		outcomes.map(({ status }) => status),
		["fulfilled", "rejected", "fulfilled"],
	);
	assert.match(String((outcomes[1] as PromiseRejectedResult).reason), /rule violations found: a secret/);
	assert.equal(await subjects(peer), ["register k0 (wms)", "register k2 (wms)"]);
});

test("where time runs short the branch is moved to what is there, and the others come next", async (scene) => {
	const { peer } = scene;
	let ahead = 0;
	const run = async () => {
		ahead += 4_000;
	};
	const slow: Fault = { method: "POST", path: /commits$/, times: 4, effect: { kind: "meanwhile", run } };
	peer.proxy.faults.push(slow);
	const limits = { batchMs: 14_000, waitMs: 60_000 };
	const store = together(peer, { now: () => new Date(Date.now() + ahead), limits });
	const keys = ["a", "b", "c", "d", "e"];
	await Promise.all(keys.map((key) => store.change(putting(key, "1\n"), metaOf(key))));
	assert.equal(
		await subjects(peer),
		keys.map((key) => `register ${key} (wms)`),
	);
	assert.is(count(peer, moves), 2);
});

test("a history that cannot be read proves nothing: 503, and nothing is stored", async ({ peer }) => {
	const used = metaOf("nhn");
	await peer.store().change(putting("nhn", "1\n"), used);
	const keys = Array.from({ length: 20 }, (_, index) => `n${index}`);
	const other = peer.store();
	await other.change(putting("nhn", "2\n"), metaOf("nhn"));
	await Promise.all(keys.map((key) => other.change(putting(key, "1\n"), metaOf(key))));
	const before = (await peer.commits()).length;
	const unread = "l’historique de la couche ne peut pas être lu";
	for (const [effect, reason] of [
		[answer(404, "Not Found"), unread],
		[answer(409, "odd"), unread],
		[answer(422, "odd"), unread],
		[answer(500), "GitHub répond 500; renvoyez la même requête plus tard"],
	] as const) {
		peer.proxy.faults.push({ method: "GET", path: /commits$/, query: /path=/, times: 1_000, effect });
		const reported: string[] = [];
		const log = { error: (error: unknown) => reported.push((error as Error).message) };
		const store = peer.store({ log, sleep: async () => undefined });
		await store.change(putting("nhn", "1\n"), used).then(
			(outcome) =>
				assert.unreachable(`it is unknown whether the signature was used: ${JSON.stringify(outcome)}`),
			(error: unknown) => assertBusy(error, reason),
		);
		assert.is(reported.length, 1);
		assert.is((await peer.commits()).length, before);
		peer.proxy.faults.length = 0;
	}
	assert.equal(await peer.store().change(putting("nhn", "1\n"), used), usedBefore);
});

test("the same payload, stored in the canonical form, costs two requests", async ({ peer }) => {
	const store = peer.store();
	const { registration } = parseRegistration(new TextEncoder().encode(wms("a")), "written");
	const put = () =>
		store.change(
			(now) => putEdits(now, "nhn", registration as NonNullable<typeof registration>),
			metaOf("nhn"),
		);
	await put();
	peer.proxy.requests.length = 0;
	const again = await put();
	assert.is(!isRefusal(again) && again.changed, false);
	assert.equal(peer.proxy.requests, [
		"GET /repos/maps/layers/commits",
		"GET /repos/maps/layers/contents/layers/nh",
	]);
});

/** Many layers in one commit. */
const batchMeta: Meta = { ...metaOf("x", { request: null }), smallkey: null, subject: "register a batch" };

function layers(length: number, text = "1\n"): Edit[] {
	return Array.from({ length }, (_, index) => ({
		path: layerPath(`${(index % 60) + 10}-${index}`),
		text,
	}));
}

test("a large change is one commit of a tree that is written in portions", async ({ peer }) => {
	const outcome = await peer.store().change(async () => layers(250), batchMeta);
	assert.is(!isRefusal(outcome) && outcome.changed, true);
	assert.is(count(peer, trees), 3);
	assert.equal(await subjects(peer), ["register a batch"]);
	for (const { path } of [layers(250)[0], layers(250)[249]] as Edit[])
		assert.is(await peer.file(path), "1\n");
	peer.proxy.requests.length = 0;
	const large = "x".repeat(200_000);
	await peer.store().change(async () => layers(6, large), batchMeta);
	assert.is(count(peer, trees), 3, "two of 400 kB each fit into a megabyte");
});

for (const [name, effect] of [
	["422 timed out", answer(422, "Sorry, your request timed out. It's likely that your input was too large.")],
	["502", answer(502)],
] as const) {
	test(`a portion that is too large for GitHub (${name}) is made smaller`, async ({ peer }) => {
		const isTooLarge = (text: string) => JSON.parse(text).tree.length > 40;
		const fault = { method: "POST", path: /trees$/, body: isTooLarge, times: 1_000 };
		peer.proxy.faults.push({ ...fault, effect });
		const outcome = await peer
			.store({ sleep: async () => undefined })
			.change(async () => layers(60), batchMeta);
		assert.is(!isRefusal(outcome) && outcome.changed, true);
		assert.equal(await subjects(peer), ["register a batch"]);
		for (const { path } of layers(60)) assert.is(await peer.file(path), "1\n");
	});
}

test("the layers of many folders are compared by few requests, and none reads a file", async ({ peer }) => {
	const { registration } = parseRegistration(new TextEncoder().encode(wms("a")), "written");
	const store = peer.store();
	const keys = Array.from({ length: 400 }, (_, index) => `${(index % 200) + 100}-${index}`.slice(0, 12));
	const folderKeys = keys.map((key, index) => `${index.toString(36).padStart(2, "0")}${key}`);
	const change = () =>
		store.change(async (now) => {
			const edits: Edit[] = [];
			for (const key of folderKeys) {
				const wanted = await putEdits(now, key, registration as NonNullable<typeof registration>, "text");
				if (isRefusal(wanted)) return wanted;
				edits.push(...wanted);
			}
			return edits;
		}, batchMeta);
	await change();
	assert.ok(peer.proxy.requests.length < 60, String(peer.proxy.requests.length));
	peer.proxy.requests.length = 0;
	const again = await change();
	assert.is(!isRefusal(again) && again.changed, false);
	assert.ok(peer.proxy.requests.length < 50, String(peer.proxy.requests.length));
	assert.is(count(peer, /blobs/), 0);
});

/** GitHub's own words for a race, each with the request that they answer. */
const races: [string, number, string, RegExp][] = [
	["PATCH", 422, "Update is not a fast forward", /refs/],
	["PATCH", 422, "Reference cannot be updated", /refs/],
	["PATCH", 409, "is at 1111 but expected 2222", /refs/],
	["POST", 422, "base_tree is not a valid tree oid", /trees$/],
	["GET", 409, "Conflict", /commits$/],
];

for (const [method, status, words, path] of races) {
	test(`${status} ${words}: a race, tried again, and 503 in the end`, async ({ peer }) => {
		peer.proxy.faults.push({ method, path, times: 2, effect: answer(status, words) });
		const reported: string[] = [];
		const log = { error: (error: unknown) => reported.push((error as Error).message) };
		const store = peer.store({ sleep: async () => undefined, log });
		const outcome = await store.change(putting("nhn", "1\n"), metaOf("nhn"));
		assert.is(!isRefusal(outcome) && outcome.changed, true);
		assert.equal([peer.proxy.faults, reported], [[], []]);
		peer.proxy.faults.push({ method, path, times: 1_000, effect: answer(status, words) });
		await store.change(putting("nrn", "1\n"), metaOf("nrn")).then(
			() => assert.unreachable("it cannot have worked"),
			(error: unknown) => assert.instance(error, StoreBusy),
		);
		assert.is(reported.length, 1);
		assert.ok(reported[0]?.includes(words), reported[0]);
		assert.is(await peer.file(layerPath("nrn")), null);
	});
}

/** GitHub's own words for a rule of the repository. */
const rules = [
	"Repository rule violations found\n\nCannot update this protected ref.",
	"Changes must be made through a pull request.",
	"Reference update failed",
	"At least 1 approving review is required by reviewers with write access.",
	'Required status check "check" is expected.',
];

for (const words of rules) {
	test(`422 ${words.split("\n")[0]}: a refusal with its reason, tried once`, async ({ peer }) => {
		peer.proxy.faults.push({ method: "PATCH", path: /refs/, times: 1_000, effect: answer(422, words) });
		await peer
			.store()
			.change(putting("nhn", "1\n"), metaOf("nhn"))
			.then(
				() => assert.unreachable("it cannot have worked"),
				(error: unknown) => {
					assert.not.instance(error, StoreBusy);
					assert.ok(String(error).includes(words), String(error));
				},
			);
		assert.is(count(peer, moves), 1);
		assert.is(await peer.file(layerPath("nhn")), null);
	});
}

test("a branch for review that a rule forbids is a refusal with its reason", async ({ peer }) => {
	const effect = answer(422, "Reference update failed");
	peer.proxy.faults.push({ method: "POST", path: /git\/refs$/, times: 1_000, effect });
	await peer
		.store()
		.change(putting("nhn", "1\n"), metaOf("nhn", { review: true }))
		.then(
			() => assert.unreachable("it cannot have worked"),
			(error: unknown) =>
				assert.match(String(error), /make the branch register\/nhn: Reference update failed/),
		);
	assert.is(count(peer, /git\/refs$/), 1);
});

test("only a 409 that says so is an empty repository", async ({ peer }) => {
	const store = peer.store({ sleep: async () => undefined });
	peer.proxy.faults.push({
		method: "GET",
		path: /commits$/,
		times: 1,
		effect: answer(409, "Git Repository is empty."),
	});
	assert.equal(await store.keys("nh"), []);
	peer.proxy.faults.push({ method: "GET", path: /commits$/, times: 1_000, effect: answer(409, "odd") });
	await store.keys("nh").then(
		() => assert.unreachable("unknown outcome"),
		(error: unknown) => assert.match(String(error), /409.*odd/),
	);
});

test("publishers who are sent away together do not come back together", async ({ peer }) => {
	peer.proxy.faults.push({ method: "GET", path: /commits$/, times: 1_000, effect: answer(500) });
	const waits: number[] = [];
	for (const random of [0, 0.5, 0.999]) {
		const store = peer.store({ random: () => random, sleep: async () => undefined });
		await store.change(putting("nhn", "1\n"), metaOf("nhn")).catch((error: StoreBusy) => {
			waits.push(error.retryAfter);
		});
	}
	assert.equal(waits, [15, 23, 30]);
});

test("a branch other than main", async ({ peer }) => {
	const [first] = await peer.commits();
	await peer.api("POST", "/git/refs", { ref: "refs/heads/data/layers", sha: first?.sha });
	const store = peer.store({ branch: "data/layers" });
	await store.change(putting("nhn", "1\n"), metaOf("nhn"));
	const review = await store.change(putting("nhn", "2\n"), metaOf("nhn", { review: true }));
	assert.is(await peer.file(layerPath("nhn"), "data/layers"), "1\n");
	assert.is(await peer.file(layerPath("nhn")), null);
	const { data } = await peer.api<{ base: { ref: string }; html_url: string }[]>("GET", "/pulls");
	assert.equal(
		data.map(({ base, html_url }) => [base.ref, html_url]),
		[["data/layers", !isRefusal(review) && review.pullRequest]],
	);
});

test.run();
