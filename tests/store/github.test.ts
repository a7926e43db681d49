import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import * as assert from "uvu/assert";
import { textsOf } from "../../registry/problems.ts";
import { descriptionPath, layerPath } from "../../registry/smallkey.ts";
import { githubStore } from "../../store/github/github-store.ts";
import {
	type Edit,
	isRefusal,
	type Meta,
	type Reader,
	type Store,
	StoreBusy,
	usedBefore,
} from "../../store/store.ts";
import { freshSuite } from "../helpers/world.ts";
import { assertBusy, metaOf } from "./contract.ts";
import { type Peer, startPeer } from "./github-peer.ts";

const test = freshSuite("a store on GitHub", async (use) => ({ peer: use(await startPeer()) }));

function putting(smallkey: string, text: string) {
	return async (now: Reader) => {
		const layer = await now.read(smallkey);
		if (!layer) await now.keys(smallkey.slice(0, 2));
		return layer?.registration === text ? [] : [{ path: layerPath(smallkey), text }];
	};
}

async function put(store: Store, smallkey: string, text: string, parts: Partial<Meta> = {}) {
	const outcome = await store.change(putting(smallkey, text), metaOf(smallkey, parts));
	if (isRefusal(outcome)) throw new Error(textsOf(outcome.errors).join());
	return outcome;
}

/** What a change asked of GitHub. */
async function asked(peer: Peer, change: () => Promise<unknown>): Promise<string[]> {
	peer.proxy.requests.length = 0;
	await change();
	return peer.proxy.requests.map((request) =>
		request.replace("/repos/maps/layers", "").replace(/[0-9a-f]{40}/, "…"),
	);
}

test("a commit names the sender, the timestamp's time, what happened and the request", async ({ peer }) => {
	const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
	const { commit } = await put(peer.store(), "23ax5t", "1\n", { time, request: "ab".repeat(32) });
	const [newest, first] = await peer.commits();
	assert.is(newest?.sha, commit);
	assert.is(newest?.commit.message.split("\n")[0], "register 23ax5t (wms)");
	assert.equal(newest?.commit.author, {
		name: "jstest",
		email: "jstest@sender.invalid",
		date: "2026-01-02T03:04:05Z",
	});
	assert.is(first?.commit.message, "Initial commit");
	assert.is(await peer.file("layers/23/23ax5t.json"), "1\n");
	assert.is.not(await peer.file("README.md"), null);
});

test("what one change asks of GitHub", async ({ peer }) => {
	const store = peer.store();
	const read = ["GET /commits", "GET /contents/layers/nh"];
	const write = ["POST /git/trees", "POST /git/commits", "PATCH /git/refs/heads/main"];
	assert.equal(await asked(peer, () => put(store, "nhn", "1\n")), [...read, ...write]);
	const blob = "GET /git/blobs/…";
	assert.equal(await asked(peer, () => put(store, "nhn", "2\n")), [...read, blob, ...write]);
	assert.equal(await asked(peer, () => put(store, "nhn", "2\n")), [...read, blob]);
});

test("edits that change nothing make no commit", async ({ peer }) => {
	const store = peer.store();
	const { commit } = await put(store, "nhn", "1\n");
	const blind = async () => [{ path: layerPath("nhn"), text: "1\n" }];
	assert.equal(await store.change(blind, metaOf("nhn")), { commit, changed: false });
	assert.is((await peer.commits()).length, 2);
});

test("a request that another process used is found, however many changes came after it", async ({ peer }) => {
	const meta = metaOf("nhn");
	await peer.store().change(putting("nhn", "1\n"), meta);
	await put(peer.store(), "nhn", "2\n");
	assert.equal(await peer.store().change(putting("nhn", "1\n"), meta), usedBefore);
	for (let count = 0; count < 25; count += 1) await put(peer.store(), `n${count}`, "1\n");
	assert.equal(await peer.store().change(putting("nhn", "1\n"), meta), usedBefore);
	assert.is(await peer.file(layerPath("nhn")), "2\n");
});

test("a request is forgotten after five minutes", async ({ peer }) => {
	const meta = metaOf("nhn");
	const store = peer.store();
	await store.change(putting("nhn", "1\n"), meta);
	await put(store, "nhn", "2\n");
	const later = peer.store({ now: () => new Date(Date.now() + 302_000) });
	const outcome = await later.change(putting("nhn", "1\n"), meta);
	assert.is(isRefusal(outcome), false);
});

test("reads are of one commit, whatever is pushed meanwhile", async ({ peer }) => {
	await peer.push(layerPath("nhn"), "old\n");
	const seen: unknown[] = [];
	await peer.store().change(async (now) => {
		await peer.push(layerPath("nhn"), "new\n");
		await peer.push(layerPath("nhx"), "new\n");
		seen.push((await now.read("nhn"))?.registration, await now.keys("nh"));
		return [];
	}, metaOf("nhn"));
	assert.equal(seen, ["old\n", ["nhn"]]);
});

test("a folder of which the contents API lists no more than 1,000 files is read as a tree", async (scene) => {
	const { peer } = scene;
	const store = peer.store();
	await put(store, "nhn", "1\n");
	await put(store, "nhx", "2\n");
	const listed = { type: "file", sha: "0".repeat(40) };
	const many = Array.from({ length: 1000 }, (_, index) => ({ ...listed, name: `nh${index}.json` }));
	const effect = { kind: "rewrite", body: () => many } as const;
	peer.proxy.faults.push({ method: "GET", path: /contents/, times: 2, effect });
	assert.equal(await store.keys("nh"), ["nhn", "nhx"]);
	assert.is((await store.read("nhx"))?.registration, "2\n");
});

test("links and folders are no layers", async ({ peer }) => {
	await peer.push("layers/nh/sub.json/x.json", "1\n");
	await peer.push("layers/nh/notes.txt", "1\n");
	await peer.push("layers/nh/nhn.service.json", "1\n");
	const store = peer.store();
	assert.equal(await store.keys("nh"), []);
	assert.is(await store.read("sub"), null);
	assert.is(await store.read("nhn"), null);
});

test("an empty repository is an empty catalogue; the first change makes the branch", async () => {
	await using peer = await startPeer({ empty: true });
	const store = peer.store();
	assert.is(await store.read("nhn"), null);
	assert.equal(await store.keys("nh"), []);
	assert.equal(await store.change(async () => [], metaOf("nhn")), { commit: "", changed: false });
	assert.equal(await peer.commits(), []);
	const meta = metaOf("nhn", { review: true });
	try {
		await store.change(putting("nhn", "1\n"), meta);
		assert.unreachable("there is nothing to review against");
	} catch (error) {
		assertBusy(error, "le dépôt sur GitHub n’a pas encore de commit\u00a0: son exploitant doit en créer un");
	}
	const { commit, changed } = await put(store, "nhn", "é\n");
	assert.is(changed, true);
	const commits = await peer.commits();
	assert.equal(
		commits.map(({ sha }) => sha),
		[commit],
	);
	assert.equal(commits[0]?.commit.author.name, "jstest");
	await put(store, "nrn", "2\n");
	assert.is(await peer.file(layerPath("nhn")), "é\n");
	assert.is((await peer.commits()).length, 2);
});

test("an empty repository whose first answer is lost gets one commit", async () => {
	await using peer = await startPeer({ empty: true });
	const store = peer.store();
	peer.proxy.faults.push({ method: "PUT", path: /contents/, times: 1, effect: { kind: "lost answer" } });
	const { commit } = await put(store, "nhn", "1\n");
	assert.equal(
		(await peer.commits()).map(({ sha }) => sha),
		[commit],
	);
});

test("a GitHub App finds its installation and keeps its token", async ({ peer }) => {
	const store = peer.store({ auth: peer.app });
	const first = await asked(peer, () => put(store, "nhn", "1\n"));
	assert.equal(first.slice(0, 2), ["GET /installation", "POST /app/installations/815/access_tokens"]);
	const second = await asked(peer, () => put(store, "nhn", "2\n"));
	assert.not(second.some((request) => /installation/.test(request)));
});

test("an App's private key may be PKCS#8, and in one line as environments like it", async ({ peer }) => {
	const key = createPrivateKey(peer.app.privateKey);
	const pkcs8 = key.export({ type: "pkcs8", format: "pem" }) as string;
	const forms = [pkcs8, pkcs8.replaceAll("\n", "\\n"), peer.app.privateKey.replaceAll("\n", "\r\n")];
	for (const [index, privateKey] of forms.entries()) {
		await put(peer.store({ auth: { ...peer.app, privateKey } }), `k${index}`, "1\n");
	}
	assert.is((await peer.commits()).length, 4);
});

test("a GitHub App renews its token before it ends, and when GitHub ends it", async ({ peer }) => {
	const mints = (requests: string[]) => requests.filter((request) => /access_tokens/.test(request)).length;
	const start = Date.now();
	const expires_at = new Date(start + 121_000).toISOString();
	const body = (token: unknown) => ({ ...(token as object), expires_at });
	const effect = { kind: "rewrite", body } as const;
	peer.proxy.faults.push({ method: "POST", path: /access_tokens/, times: 1, effect });
	let ahead = 0;
	const store = peer.store({ auth: peer.app, now: () => new Date(start + ahead) });
	assert.is(mints(await asked(peer, () => put(store, "nhn", "1\n"))), 1);
	ahead = 2_000;
	assert.is(mints(await asked(peer, () => put(store, "nhn", "2\n"))), 1);
	assert.is(mints(await asked(peer, () => put(store, "nhn", "3\n"))), 0);
	const ended = { kind: "answer", status: 401, message: "Bad credentials" } as const;
	peer.proxy.faults.push({ method: "GET", path: /commits$/, times: 1, effect: ended });
	assert.is(mints(await asked(peer, () => put(store, "nhn", "4\n"))), 1);
	assert.is(await peer.file(layerPath("nhn")), "4\n");
});

test("a GitHub App that is not installed, or has another key: an error for the operator", async (scene) => {
	const { peer } = scene;
	const other = generateKeyPairSync("rsa", {
		modulusLength: 2048,
		privateKeyEncoding: { type: "pkcs8", format: "pem" },
		publicKeyEncoding: { type: "spki", format: "pem" },
	});
	const broken = [
		peer.store({ auth: peer.app, repository: "maps/other" }),
		peer.store({ auth: { ...peer.app, privateKey: other.privateKey } }),
	];
	for (const store of broken) {
		try {
			await put(store, "nhn", "1\n");
			assert.unreachable("it cannot have worked");
		} catch (error) {
			assert.not.instance(error, StoreBusy);
			assert.match((error as Error).message, /^GitHub/);
			assert.not.match(`${(error as Error).stack}`, /PRIVATE KEY|ey[A-Za-z0-9_-]{10,}\./);
		}
	}
});

test("options that cannot be used are refused at once, without their secrets", () => {
	const now = () => new Date();
	for (const repository of ["", "layers", "a/b/c", "a b/c", "https://github.com/a/b"]) {
		assert.throws(() => githubStore({ repository, auth: { token: "t" }, now }), /GITHUB_REPOSITORY/);
	}
	for (const privateKey of ["", "secret", "-----BEGIN PRIVATE KEY-----\n%%\n-----END PRIVATE KEY-----"]) {
		const auth = { appId: "1", privateKey };
		assert.throws(
			() => githubStore({ repository: "a/b", auth, now }),
			(error: Error) => /GITHUB_APP_PRIVATE_KEY/.test(error.message) && !/secret|%%/.test(error.message),
		);
	}
});

test("a change for review opens one pull request, which further changes update", async ({ peer }) => {
	await peer.push(layerPath("nhn"), '{"a":"old","same":1}\n');
	const store = peer.store();
	const first = await put(store, "nhn", '{"a":"new","same":1}\n', { review: true });
	const second = await put(store, "nhn", '{"a":"newer","same":1}\n', {
		review: true,
		subject: "register nhn (feature)",
	});
	assert.is(second.pullRequest, first.pullRequest);
	type Pull = {
		number: number;
		html_url: string;
		title: string;
		body: string;
		head: { ref: string };
		base: { ref: string };
	};
	const { data: pulls } = await peer.api<Pull[]>("GET", "/pulls?state=all");
	assert.is(pulls.length, 1);
	const [pull] = pulls as [Pull];
	assert.equal(
		[pull.html_url, pull.title, pull.head.ref, pull.base.ref],
		[first.pullRequest, "register nhn (feature)", "register/nhn", "main"],
	);
	assert.match(pull.body, "| <code>&#47;a</code> | <code>old</code> | <code>newer</code> |");
	assert.not.match(pull.body, /same/);
	assert.is((await peer.commits("register/nhn")).length, 4);
	assert.is(await peer.file(layerPath("nhn")), '{"a":"old","same":1}\n');
	// Merged: the next change starts a new branch from main, and a new pull request.
	await peer.api("PATCH", "/git/refs/heads/main", { sha: second.commit });
	await peer.api("PATCH", `/pulls/${pull.number}`, { state: "closed" });
	assert.is(await peer.file(layerPath("nhn")), '{"a":"newer","same":1}\n');
	const third = await put(store, "nhn", '{"a":"newest"}\n', { review: true });
	assert.is.not(third.pullRequest, first.pullRequest);
	const [head, before] = await peer.commits("register/nhn");
	assert.is(head?.sha, third.commit);
	assert.is(before?.sha, (await peer.commits())[0]?.sha);
});

test("what one change for review asks of GitHub", async ({ peer }) => {
	const store = peer.store();
	const review = { review: true };
	assert.is((await asked(peer, () => put(store, "nhn", "1\n", review))).length, 7);
	assert.is((await asked(peer, () => put(store, "nhn", "2\n", review))).length, 10);
	await put(store, "nrn", "1\n");
	assert.is((await asked(peer, () => put(store, "nrn", "2\n", review))).length, 8);
	assert.is((await asked(peer, () => put(store, "nrn", "3\n", review))).length, 11);
	assert.is((await asked(peer, () => put(store, "nrn", "3\n", review))).length, 7);
});

test("a pull request that was closed is not taken up again", async ({ peer }) => {
	const store = peer.store();
	const first = await put(store, "nhn", "1\n", { review: true });
	await peer.api("PATCH", "/pulls/1", { state: "closed" });
	const second = await put(store, "nhn", "2\n", { review: true });
	assert.is.not(second.pullRequest, first.pullRequest);
	assert.equal((await peer.commits("register/nhn")).length, 2);
});

test("a review that stops half-way is whole after a retry", async ({ peer }) => {
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

test("a pull request whose text was not written with its branch has it after a retry", async ({ peer }) => {
	const store = peer.store({ sleep: async () => undefined });
	const asLayer = (key: string, subject: string) => metaOf(key, { review: true, subject });
	const unanswered = [
		["PATCH", /\/pulls\/\d+$/, { kind: "answer", status: 502 }, 4],
		["PATCH", /\/git\/refs\//, { kind: "lost answer" }, 1],
	] as const;
	for (const [index, [method, path, effect, times]] of unanswered.entries()) {
		const key = `nhn-${index}`;
		await store.change(putting(key, '"first"\n'), asLayer(key, "first"));
		const meta = asLayer(key, "second");
		peer.proxy.faults.push({ method, path, times, effect });
		await store.change(putting(key, '"second"\n'), meta).catch((error) => {
			assert.instance(error, StoreBusy);
		});
		assert.equal(peer.proxy.faults, []);
		if (index === 0) await store.change(putting(key, '"second"\n'), meta);
		type Pull = { title: string; body: string };
		const { data: pulls } = await peer.api<Pull[]>("GET", `/pulls?head=maps:register/${key}`);
		assert.is(pulls.length, 1);
		assert.is(pulls[0]?.title, "second");
		assert.match(pulls[0]?.body ?? "", "<code>second</code>");
		assert.is((await peer.commits(`register/${key}`)).length, 3);
		const requests = await asked(peer, () => store.change(putting(key, '"second"\n'), meta));
		assert.equal(
			requests.filter((request) => !request.startsWith("GET ")),
			[],
			"nothing is written that is there",
		);
	}
});

test("a removal for review takes the description along", async ({ peer }) => {
	await peer.push(layerPath("ozone"), '{"a":1}\n');
	await peer.push(descriptionPath("ozone"), "{}\n");
	const edits: Edit[] = [layerPath("ozone"), descriptionPath("ozone")].map((path) => ({
		path,
		text: null,
	}));
	const meta = metaOf("ozone", { review: true, subject: "remove ozone" });
	const outcome = await peer.store().change(async () => edits, meta);
	assert.is(isRefusal(outcome), false);
	assert.is(await peer.file(layerPath("ozone"), "register/ozone"), null);
	assert.is(await peer.file(descriptionPath("ozone"), "register/ozone"), null);
	assert.is(await peer.file(layerPath("ozone")), '{"a":1}\n');
	const { data } = await peer.api<{ body: string }[]>("GET", "/pulls");
	assert.match(data[0]?.body ?? "", "<code>jstest</code> removes the layer <code>ozone</code>");
	assert.match(data[0]?.body ?? "", "| <code>&#47;a</code> | <code>1</code> |  |");
});

test("many layers for review share one pull request, on a branch that is no layer's", async ({ peer }) => {
	const keys = ["a1", "b2", "c3"];
	const edits = async () => keys.map((key) => ({ path: layerPath(key), text: "1\n" }));
	const meta = metaOf("batch", { smallkey: null, review: true, subject: "register 3 layers" });
	const outcome = await peer.store().change(edits, meta);
	if (isRefusal(outcome)) throw new Error(textsOf(outcome.errors).join());
	assert.is(outcome.branch, "register/jstest.batch");
	for (const key of keys) assert.is(await peer.file(layerPath(key), "register/jstest.batch"), "1\n");
	assert.is((await peer.commits("register/jstest.batch")).length, 2);
});

test("two services on one repository: every change of both is there, and a request that one has carried out is used", async (scene) => {
	const { peer } = scene;
	const services = [peer.store(), peer.store()];
	const keys = Array.from({ length: 8 }, (_, index) => `key${index}`);
	await Promise.all(keys.map((key, index) => put(services[index % 2] as Store, key, `${key}\n`)));
	for (const key of keys) assert.is(await peer.file(layerPath(key)), `${key}\n`);
	assert.is((await peer.commits()).length, keys.length + 1);

	const request = "cd".repeat(32);
	const [one, other] = services as [Store, Store];
	await put(one, "key0", "changed\n", { request });
	await put(other, "key0", "changed again\n");
	const again = await other.change(putting("key0", "changed\n"), metaOf("key0", { request }));
	assert.equal(again, usedBefore);
	assert.is(await peer.file(layerPath("key0")), "changed again\n");
});

test.run();
