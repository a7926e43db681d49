import { createPrivateKey } from "node:crypto";
import pMap from "p-map";
import * as assert from "uvu/assert";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";
import { usedBefore } from "../../store/decide.ts";
import { githubStore } from "../../store/github/github-store.ts";
import { serviceAuthor } from "../../store/naming.ts";
import { type Edit, type Meta, type Reader, type Store, StoreBusy } from "../../store/store.ts";
import { gate } from "../helpers/wait.ts";
import { sharedSuite } from "../helpers/world.ts";
import { assertBusy, commitOf, metaOf, putting } from "./contract.ts";
import type { Effect } from "./fault-proxy.ts";
import { type Peer, pausingClock, startPeer } from "./github-peer.ts";

/** One repository for all tests: each has smallkeys of its own. */
const test = sharedSuite("a store on GitHub", async (use) => ({ peer: use(await startPeer()) }));
test.before.each(({ peer }) => void peer.proxy.faults.splice(0));

async function put(store: Store, smallkey: string, text: string, parts: Partial<Meta> = {}) {
	return commitOf(store.change(putting(smallkey, text), metaOf(smallkey, parts)));
}

async function requestsOf(peer: Peer, change: () => Promise<unknown>): Promise<string[]> {
	peer.proxy.requests.length = 0;
	await change();
	return peer.proxy.requests.map((request) => request.replace("/repos/maps/layers", ""));
}

async function failureOf(change: Promise<unknown>): Promise<Error> {
	const failure = await change.catch((error: Error) => error);
	if (!(failure instanceof Error)) throw new Error("it cannot have worked");
	return failure;
}

function fault({ proxy }: Peer, method: string, path: RegExp, effect: Effect, times = 1_000): void {
	proxy.faults.push({ method, path, times, effect });
}

const count = async (peer: Peer) => (await peer.commits()).length;

const answer = (status: number, message?: string, headers = {}): Effect => ({
	kind: "answer",
	status,
	message,
	headers,
});

test("a commit names its sender, time, request and the service", async ({ peer }) => {
	const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
	const request = "ab".repeat(32);
	const { commit } = await put(peer.store(), "23ax5t", "é\n", { time, author: "energy", request });
	const { data } = await peer.api<{ commit: Record<string, unknown> }>("GET", `/commits/${commit}`);
	const { author, committer, message } = data.commit;
	const date = "2026-01-02T03:04:05Z";
	assert.equal(author, { name: "energy", email: "energy@sender.invalid", date });
	assert.is((committer as { name: string }).name, serviceAuthor);
	assert.is(
		message,
		`register 23ax5t (wms)\n\nSender: energy\nTimeStamp: 2026-01-02T03:04:05.678Z\nRequest: ${request}`,
	);
	assert.is(await peer.file("layers/23/23ax5t.json"), "é\n");
	assert.is.not(await peer.file("README.md"), null);
});

test("changes of a sender that come together are one commit for 20", async ({ peer }) => {
	const store = peer.store();
	const keys = Array.from({ length: 30 }, (_, index) => `to${index}`);
	const authorOf = (index: number) => (index < 25 ? "ann" : "bo");
	const all = keys.map((key, index) => put(store, key, "1\n", { author: authorOf(index) }));
	const outcomes = Promise.all(all);
	const requests = await requestsOf(peer, () => outcomes);
	const commits = (await peer.commits()).slice(0, 3).reverse();
	const made = keys.map((_, index) => commits[[20, 25, 30].findIndex((end) => index < end)]?.sha);
	assert.equal(
		await outcomes,
		made.map((commit) => ({ commit, changed: true })),
	);
	for (const start of ["PATCH ", "POST /git/commits", "POST /git/trees", "GET /contents/layers/to"])
		assert.is(requests.filter((request) => request.startsWith(start)).length, 3, start);
	for (const { commit } of commits) assert.is(commit.message.match(/^Sender: /gm)?.length, 1);
	for (const key of keys) assert.is(await peer.file(layerPath(key)), "1\n");
});

test("a request that another process used is found for five minutes", async ({ peer }) => {
	const meta = metaOf("used");
	await peer.store().change(putting("used", "1\n"), meta);
	await put(peer.store(), "used", "2\n");
	assert.equal(await peer.store().change(putting("used", "1\n"), meta), usedBefore);
	const store = peer.store();
	for (let count = 0; count < 25; count += 1) await put(store, `n${count}`, "1\n");
	assert.equal(await peer.store().change(putting("used", "1\n"), meta), usedBefore);
	fault(peer, "GET", /commits\?.*since=/, answer(404, "Not Found"));
	await failureOf(peer.store().change(putting("used", "1\n"), meta));
	peer.proxy.faults.length = 0;
	assert.is(await peer.file(layerPath("used")), "2\n");
	const later = peer.store({ now: () => new Date(Date.now() + 302_000) });
	await commitOf(later.change(putting("used", "1\n"), meta));
});

test("reads are of one commit, whatever is pushed meanwhile", async ({ peer }) => {
	await peer.push(layerPath("reads"), "old\n");
	await peer.store().change(async (now) => {
		for (const key of ["reads", "rest"]) await peer.push(layerPath(key), "new\n");
		const rest = await now.spellings("rest");
		assert.equal([(await now.read("reads"))?.registration, rest], ["old\n", []]);
		return [];
	}, metaOf("reads"));
});

test("a folder over 1,000 files is read as a tree; folders in it are no layers", async ({ peer }) => {
	const store = peer.store();
	await put(store, "large", "1\n");
	await put(store, "lake", "2\n");
	for (const path of ["la/lane.json/x.json", "li/link.json/x.json"]) await peer.push(`layers/${path}`, "1\n");
	const before = await store.served();
	assert.equal([await before.spellings("link"), await before.read("link")], [[], null]);
	const listed = { type: "file", sha: "0".repeat(40), download_url: "https://raw.example" };
	const submodule = { ...listed, name: "module.json", download_url: null };
	fault(peer, "GET", /contents/, { kind: "rewrite", body: () => [submodule] }, 1);
	assert.is(await (await store.served()).ids("module"), null);
	const many = Array.from({ length: 1000 }, (_, index) => ({ ...listed, name: `la${index}.json` }));
	fault(peer, "GET", /contents/, { kind: "rewrite", body: () => many }, 1);
	const now = await store.served();
	assert.equal([await now.spellings("Lake"), await now.spellings("lane")], [["lake"], []]);
	assert.is((await now.read("lake"))?.registration, "2\n");
});

test("a change in many folders lists the first ones, and then all at once", async ({ peer }) => {
	const path = "layers/zy/zyx.json";
	for (const pushed of [path, "layers/zz/zzx.json/deep.json"]) await peer.push(pushed, "1\n");
	const keys = Array.from({ length: 100 }, (_, at) => `${at + 100}`.slice(1)).concat("zyx", "zzx");
	const stored: string[] = [];
	const decide = async (now: Reader) => {
		for (const key of keys) if (await now.ids(key)) stored.push(key, ...(await now.spellings(key)));
		return [];
	};
	const requests = await requestsOf(peer, () => peer.store().change(decide, metaOf("batch")));
	assert.equal(stored, ["zyx", "zyx"]);
	assert.ok(requests.length < 50, `${requests.length} requests`);
	stored.length = 0;
	const body = (tree: unknown) => ({ ...(tree as object), truncated: true });
	fault(peer, "GET", /trees/, { kind: "rewrite", body }, 3);
	await peer.store().change(decide, metaOf("batch"));
	assert.equal(stored, ["zyx", "zyx"], "GitHub truncates the list of all");
});

test("a large change is one commit, in portions of 100 files and a megabyte", async ({ peer }) => {
	const many = Array.from({ length: 230 }, (_, at) => ({ path: layerPath(`po${at}x`), text: "1\n" }));
	const sizes = [600_000, 200_000, 200_000, 300_000, 100_000];
	const large = sizes.map((size, at) => ({ path: layerPath(`by${at}x`), text: `${"x".repeat(size)}\n` }));
	for (const edits of [many, large]) {
		const meta = metaOf("batch", { smallkey: null, request: null });
		const before = await count(peer);
		const requests = await requestsOf(peer, () => peer.store().change(async () => edits, meta));
		assert.is(requests.filter((request) => request === "POST /git/trees").length, 3);
		assert.is(await count(peer), before + 1);
		for (const { path, text } of edits.slice(-5)) assert.is(await peer.file(path), text);
	}
});

test("a batch that never ends holds up no other", async ({ peer }) => {
	const clock = pausingClock();
	const store = peer.store({ ...clock, limits: { batchMs: 20_000 } });
	const [held, release] = gate();
	const [begun, begin] = gate();
	const first = store.change(async () => {
		begin();
		return held.then(() => []);
	}, metaOf("held"));
	await begun;
	await clock.sleep(20_001);
	await put(store, "after", "1\n");
	assert.is(await peer.file(layerPath("after")), "1\n");
	release();
	await first;
});

test("a GitHub App finds its installation, and renews its token in time", async ({ peer }) => {
	const mint = "POST /app/installations/815/access_tokens";
	const start = Date.now();
	const expires_at = new Date(start + 121_000).toISOString();
	const body = (token: unknown) => ({ ...(token as object), expires_at });
	fault(peer, "POST", /access_tokens/, { kind: "rewrite", body }, 1);
	let ahead = 0;
	const store = peer.store({ auth: peer.app, now: () => new Date(start + ahead) });
	const requests = (text: string) => requestsOf(peer, () => put(store, "app", text));
	const mints = async (text: string) => (await requests(text)).filter((line) => line === mint).length;
	assert.equal((await requests("1\n")).slice(0, 2), ["GET /installation", mint]);
	ahead = 2_000;
	assert.equal([await mints("2\n"), await mints("3\n")], [1, 0]);
	fault(peer, "GET", /commits$/, answer(401, "Bad credentials"), 1);
	assert.is(await mints("4\n"), 1);
	const pkcs8 = createPrivateKey(peer.app.privateKey).export({ type: "pkcs8", format: "pem" }) as string;
	const inBase64 = Buffer.from(peer.app.privateKey).toString("base64");
	for (const privateKey of [pkcs8.replaceAll("\n", "\\r\\n"), inBase64.replace(/.{76}/g, "$&\n")])
		await put(peer.store({ auth: { ...peer.app, privateKey } }), "app", `${privateKey.length}\n`);
});

test("options that cannot be used are refused, without their secrets", async ({ peer }) => {
	const now = () => new Date();
	for (const repository of ["", "https://github.com/a/b"])
		assert.throws(() => githubStore({ repository, auth: { token: "t" }, now }), /GITHUB_REPOSITORY/);
	for (const privateKey of ["secret", "-----BEGIN PRIVATE KEY-----\n%%\n-----END PRIVATE KEY-----"])
		assert.throws(
			() => githubStore({ repository: "a/b", auth: { appId: "1", privateKey }, now }),
			(error: Error) => /GITHUB_APP_PRIVATE_KEY/.test(error.message) && !/secret|%%/.test(error.message),
		);
	const error = await failureOf(put(peer.store({ auth: peer.app, repository: "maps/other" }), "nhn", "1\n"));
	assert.not.instance(error, StoreBusy);
	assert.match(error.message, /^GitHub/);
	assert.not.match(`${error.stack}`, /PRIVATE KEY|ey[A-Za-z0-9_-]{10,}\./);
});

type Pull = { number: number; base: { ref: string } } & Record<"html_url" | "title" | "body", string>;

test("changes for review share one pull request, until it is merged or closed", async ({ peer }) => {
	const pulls = async () =>
		(await peer.api<Pull[]>("GET", "/pulls?state=all&head=maps:register/review")).data;
	await peer.push(layerPath("review"), '{"a":"old","same":1}\n');
	await peer.push(descriptionPath("review"), "{}\n");
	const store = peer.store();
	const review = { review: true };
	const first = await put(store, "review", '{"a":"new","same":1}\n', review);
	const second = await put(store, "review", '{"a":"newer","same":1}\n', { ...review, subject: "again" });
	assert.is(second.pullRequest, first.pullRequest);
	const [pull, ...others] = await pulls();
	if (!pull) throw new Error("there is no pull request");
	assert.equal([pull.html_url, pull.title, pull.base.ref, others], [first.pullRequest, "again", "main", []]);
	assert.match(pull.body, "The sender <code>jstest</code> sends this change.");
	assert.is(await peer.file(layerPath("review")), '{"a":"old","same":1}\n');
	await peer.api("PATCH", `/pulls/${pull.number}`, { state: "closed" });
	const third = await put(store, "review", '{"a":"newest"}\n', review);
	assert.is.not(third.pullRequest, first.pullRequest);
	const [tip, before] = await peer.commits("register/review");
	assert.equal([tip?.sha, before?.sha], [third.commit, (await peer.commits())[0]?.sha]);
	const decide = async (): Promise<Edit[]> =>
		[layerPath, descriptionPath].map((pathOf) => ({ path: pathOf("review"), text: null }));
	await store.change(decide, metaOf("review", review));
	const head = { ref: "register/fork", repo: { full_name: "other/layers" } };
	const ofFork = { head, base: { repo: { full_name: peer.repository } } };
	fault(peer, "GET", /pulls$/, { kind: "rewrite", body: () => [ofFork] }, 1);
	assert.ok((await put(store, "fork", "1\n", review)).pullRequest);
	const batch = async () => ["a1", "b2"].map((key) => ({ path: layerPath(key), text: "1\n" }));
	const { branch } = await commitOf(store.change(batch, metaOf("batch", { smallkey: null, ...review })));
	assert.equal([branch, await peer.file(layerPath("b2"), branch)], ["register/jstest.batch", "1\n"]);
});

test("many changes for one review are few commits and one pull request", async ({ peer }) => {
	const store = peer.store();
	const all = async () => (await peer.api<Pull[]>("GET", "/pulls?state=all&per_page=100")).data;
	const before = (await all()).length;
	const review = { author: "many", review: true, reviewName: "spring" };
	const keys = Array.from({ length: 40 }, (_, at) => `many-${at}`);
	// A client sends eight at the same time.
	await pMap(keys, (key) => put(store, key, `${key}\n`, review), { concurrency: 8 });
	const branch = "register/many+review.spring";
	const commits = (await peer.commits(branch)).map(({ commit }) => commit.message);
	const messages = commits.filter((message) => message.includes("Sender: many\n"));
	const requests = messages.flatMap((message) => message.match(/^Request: /gm) ?? []);
	assert.is(requests.length, keys.length, "each request is in the history");
	assert.ok(messages.length < 10, `${messages.length}: GitHub lists 250 commits of a pull request`);
	const [pull] = await all();
	assert.is((await all()).length, before + 1);
	assert.is(pull?.title, "review spring of many");
	await put(store, "many-0", "changed\n", review);
	assert.equal((await all())[0]?.body, pull?.body);
});

/** The faults of GitHub that a change survives. */
const survived: [name: string, method: string, path: RegExp, effect: Effect][] = [
	["409 of a race", "PATCH", /refs/, answer(409, "is at 1111 but expected 2222")],
	["a branch that a read does not show yet", "GET", /contents/, answer(404, "No commit found for the ref 1")],
	["a lost answer to the move of the branch", "PATCH", /refs/, { kind: "lost answer" }],
	["no answer", "POST", /\/git\/commits$/, { kind: "silence" }],
	["a page in HTML", "GET", /contents/, { kind: "answer", status: 404, text: "<html>" }],
	["403 with a short Retry-After", "POST", /trees$/, answer(403, "wait", { "Retry-After": "3" })],
];

for (const [index, [name, method, path, effect]] of survived.entries())
	test(`${name}, once: one commit`, async ({ peer }) => {
		const clock = pausingClock();
		const before = await count(peer);
		fault(peer, method, path, effect, 1);
		const { commit, changed } = await put(peer.store(clock), `fault${index}`, "1\n");
		assert.equal(peer.proxy.faults, [], "the fault was met");
		const commits = await peer.commits();
		assert.equal([commits[0]?.sha, changed, commits.length], [commit, true, before + 1]);
		assert.is(clock.slept() >= 3_000, name.includes("Retry-After"));
	});

/** Faults without an end, after how many seconds a retry is due, and the cause for the operator. */
type Endless = [method: string, path: RegExp, effect: Effect, seconds: number, cause: RegExp];

const endless: [name: string, ...Endless][] = [
	["races", "PATCH", /refs/, answer(422, "Update is not a fast forward"), 2, /422 .*fast forward/],
	["502", "GET", /commits$/, answer(502), 15, /502/],
	["403 with Retry-After", "PATCH", /refs/, answer(403, "", { "Retry-After": "60" }), 60, /403/],
	["403 of a secondary limit", "POST", /trees$/, answer(403, "a secondary rate limit"), 60, /rate limit/],
];

for (const [index, [name, method, path, effect, seconds, cause]] of endless.entries())
	test(`${name} without end: 503, nothing is stored, and a retry ends in one commit`, async ({ peer }) => {
		const clock = pausingClock();
		const key = `endless${index}`;
		const meta = metaOf(key);
		const before = await count(peer);
		fault(peer, method, path, effect);
		const store = peer.store({ ...clock, limits: { batchMs: 14_000 } });
		const error = await failureOf(store.change(putting(key, "1\n"), meta));
		assertBusy(error, name === "races" ? "branch-moved" : "github");
		const { retryAfter } = error as StoreBusy;
		assert.ok(retryAfter >= seconds && retryAfter <= seconds + Math.min(seconds, 30), String(retryAfter));
		assert.match(error.message, cause);
		assert.not.match(error.message, new RegExp(peer.token));
		assert.is(await count(peer), before);
		peer.proxy.faults.length = 0;
		if (seconds === 60) {
			peer.proxy.requests.length = 0;
			assert.instance(await failureOf(put(store, "other", "1\n")), StoreBusy);
			assert.equal(peer.proxy.requests, [], "GitHub is not asked before the end of the pause");
			await clock.sleep(60_000);
		}
		assert.ok((await commitOf(store.change(putting(key, "1\n"), meta))).changed);
		assert.is(await count(peer), before + 1);
	});

test("bad credentials: an error for the operator, without the token", async ({ peer }) => {
	fault(peer, "GET", /commits$/, answer(401, "Bad credentials"));
	const before = await count(peer);
	const error = await failureOf(put(peer.store(pausingClock()), "never", "1\n"));
	assert.not.instance(error, StoreBusy);
	assert.match(error.message, /401 .*heads%2Fmain.*Bad credentials/);
	assert.not.match(`${error.stack}${JSON.stringify(error)}`, new RegExp(peer.token));
	assert.is(await count(peer), before);
});

test("of changes that come together, GitHub refuses one", async ({ peer }) => {
	const store = peer.store();
	fault(peer, "POST", /git\/commits$/, answer(409, "a protected branch"), 2);
	const all = await Promise.allSettled(["re1", "re2", "re3"].map((key) => put(store, key, "1\n")));
	assert.equal(
		all.map(({ status }) => status),
		["rejected", "fulfilled", "fulfilled"],
	);
	assert.is(await peer.file(layerPath("re1")), null);
});

test("another writer moves the branch: both are kept, the edits decide again", async ({ peer }) => {
	const run = () => peer.push(layerPath("meanwhile"), "theirs\n");
	fault(peer, "PATCH", /refs/, { kind: "meanwhile", run }, 1);
	const texts: unknown[] = [];
	await peer.store(pausingClock()).change(async (now: Reader) => {
		texts.push((await now.read("meanwhile"))?.registration);
		return [{ path: layerPath("meanwhile"), text: "ours\n" }];
	}, metaOf("meanwhile"));
	assert.equal([...new Set(texts)], [undefined, "theirs\n"]);
	assert.is(await peer.file(layerPath("meanwhile")), "ours\n");
});

test("a read that lags behind the last change is not decided on", async ({ peer }) => {
	for (const review of [false, true]) {
		const store = peer.store(pausingClock());
		const key = review ? "lag-review" : "lag";
		for (const text of ["0\n", "1\n", "2\n"]) await put(store, key, text, { review });
		const body = (commits: unknown) => (commits as unknown[]).slice(1);
		fault(peer, "GET", /\/commits$/, { kind: "rewrite", body }, 2);
		// Without the last change, the key would hold this text already.
		await put(store, key, "1\n", { review });
		assert.is(await peer.file(layerPath(key), review ? `register/${key}` : "main"), "1\n");
		peer.proxy.faults.length = 0;
	}
});

test("a move that is lost and followed by another's: found on the branch, and not made twice", async () => {
	await using peer = await startPeer();
	fault(peer, "PATCH", /refs/, { kind: "lost answer" }, 1);
	const run = () => peer.push(layerPath("lost"), "theirs\n");
	const store = peer.store(pausingClock());
	const change = store.change(async (now) => {
		const edits = await putting("lost", "ours\n")(now);
		fault(peer, "GET", /\/commits$/, { kind: "meanwhile", run }, 1);
		return edits;
	}, metaOf("lost"));
	const outcome = await commitOf(change);
	const commits = await peer.commits();
	assert.is(outcome.commit, commits[1]?.sha);
	assert.is(commits.filter(({ commit }) => commit.message.startsWith("register lost ")).length, 1);
	assert.is(await peer.file(layerPath("lost")), "theirs\n");
});

test("a review that stops half-way is whole after a retry", async ({ peer }) => {
	const faults = [
		["POST", /\/git\/refs$/, "silence"],
		["POST", /\/pulls$/, "lost answer"],
	] as const;
	for (const [at, [method, path, kind]] of faults.entries()) {
		const store = peer.store(pausingClock());
		const key = `half${at}`;
		const meta = metaOf(key, { review: true });
		fault(peer, method, path, { kind });
		await store.change(putting(key, "1\n"), meta).catch((error) => assert.instance(error, StoreBusy));
		peer.proxy.faults.length = 0;
		const { commit, pullRequest } = await commitOf(store.change(putting(key, "1\n"), meta));
		const { data } = await peer.api<Pull[]>("GET", `/pulls?head=maps:register/${key}`);
		assert.equal([data[0]?.html_url, data.length], [pullRequest, 1]);
		assert.is((await peer.commits(`register/${key}`))[0]?.sha, commit);
	}
});

test.run();
