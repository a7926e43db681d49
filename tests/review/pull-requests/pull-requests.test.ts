import { suite } from "uvu";
import * as assert from "uvu/assert";
import { runScript } from "../../process.ts";
import { type Peer, startPeer } from "../../store/github-peer.ts";
import { wmsFile } from "../repository.ts";

interface Pull {
	number: number;
	state: string;
	head: { sha: string };
}

const test = suite<{ peer: Peer }>("npx fragments pull-requests");

test.before.each(async (scene) => {
	scene.peer = await startPeer();
	await scene.peer.push("layers/ab/abc.json", wmsFile("before"));
});
test.after.each(({ peer }) => peer.close());

async function tend(peer: Peer, now = new Date()) {
	const env = {
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_TOKEN: peer.token,
		GITHUB_API_URL: peer.proxy.url,
	};
	return runScript("pull-requests", ["--author", "maps"], env, { now: () => now });
}

/** A pull request that changes one layer; the branch below changes it, too, where it is said. */
async function propose(peer: Peer, branch: string, path = "layers/ab/abc.json"): Promise<number> {
	const [first] = await peer.commits();
	await peer.api("POST", "/git/refs", { ref: `refs/heads/${branch}`, sha: first?.sha });
	await peer.push(path, wmsFile("proposed"), branch);
	const pull = { title: "A change", head: branch, base: "main" };
	return (await peer.api<Pull>("POST", "/pulls", pull)).data.number;
}

async function pullOf(peer: Peer, number: number): Promise<Pull> {
	return (await peer.api<Pull>("GET", `/pulls/${number}`)).data;
}

async function commentsOf(peer: Peer, number: number): Promise<string[]> {
	const { data } = await peer.api<{ body: string }[]>("GET", `/issues/${number}/comments`);
	return data.map(({ body }) => body);
}

/** What GitHub says of a conflict, and of the files, which the peer does not know. */
async function sayConflict(peer: Peer, number: number, mergeable: boolean | null, files: object[] = []) {
	const rewrite = (body: unknown) => ({ ...(body as object), mergeable });
	peer.proxy.faults.push({
		method: "GET",
		path: new RegExp(`/pulls/${number}$`),
		times: 1,
		effect: { kind: "rewrite", body: rewrite },
	});
	peer.proxy.faults.push({
		method: "GET",
		path: new RegExp(`/pulls/${number}/files$`),
		times: 1,
		effect: { kind: "answer", status: 200, json: files },
	});
}

async function blobOf(peer: Peer, path: string, branch: string): Promise<string> {
	const { data } = await peer.api<{ sha: string }>("GET", `/contents/${path}?ref=${branch}`);
	return data.sha;
}

test("the author of a pull request with a conflict is told once, and told when it is over", async ({
	peer,
}) => {
	const number = await propose(peer, "a/change");
	await sayConflict(peer, number, false);
	assert.is((await tend(peer)).stdout, `#${number}: has a conflict, and its author is told\n`);
	await sayConflict(peer, number, false);
	assert.is((await tend(peer)).stdout, "");
	const [comment, ...others] = await commentsOf(peer, number);
	assert.equal(others, []);
	assert.match(comment ?? "", "### This cannot be merged: `main` has changed the same lines");
	assert.match(comment ?? "", "**Next:** press *Resolve conflicts* below");
	await sayConflict(peer, number, null);
	assert.is((await tend(peer)).stdout, "", "GitHub does not know yet");
	assert.is((await tend(peer)).stdout, `#${number}: the conflict is over\n`);
	assert.equal(await commentsOf(peer, number), [
		"<!-- fragment-publisher: conflict -->\nThe conflict is over.\n",
	]);
});

test("the service's own is built anew, with what both sides have, and its branch only moves forward", async ({
	peer,
}) => {
	const number = await propose(peer, "register/abc");
	const before = (await pullOf(peer, number)).head.sha;
	await peer.push("layers/ab/abc.json", wmsFile("merged by others"));
	await peer.push("layers/xy/xyz.json", wmsFile("another"));
	const sha = await blobOf(peer, "layers/ab/abc.json", "register/abc");
	await sayConflict(peer, number, false, [{ filename: "layers/ab/abc.json", status: "modified", sha }]);
	const { code, stdout, stderr } = await tend(peer);
	assert.is(code, 0, stderr);
	assert.is(stdout, `#${number}: had a conflict, and is built anew on main\n`);
	assert.is(await peer.file("layers/ab/abc.json", "register/abc"), wmsFile("proposed"));
	assert.is(await peer.file("layers/xy/xyz.json", "register/abc"), wmsFile("another"));
	const { data } = await peer.api<{ parents: { sha: string }[] }>("GET", "/commits/register/abc");
	const [main] = await peer.commits();
	assert.equal(
		data.parents.map((parent) => parent.sha),
		[before, main?.sha],
	);
	assert.equal(await commentsOf(peer, number), []);
	assert.is((await pullOf(peer, number)).state, "open");
});

test("one whose publisher was faster is left as it is, and the others are looked at", async ({ peer }) => {
	const number = await propose(peer, "register/abc");
	const other = await propose(peer, "a/change");
	const sha = await blobOf(peer, "layers/ab/abc.json", "register/abc");
	await sayConflict(peer, number, false, [{ filename: "layers/ab/abc.json", status: "modified", sha }]);
	await sayConflict(peer, other, false);
	peer.proxy.faults.push({
		method: "PATCH",
		path: /\/git\/refs\//,
		times: 1,
		effect: {
			kind: "meanwhile",
			run: () => peer.push("layers/ab/abc.json", wmsFile("newer"), "register/abc"),
		},
	});
	const { code, stdout, stderr } = await tend(peer);
	assert.is(code, 2);
	assert.match(stderr, new RegExp(`^#${number}: .*fast.?forward`, "im"));
	assert.match(stdout, `#${other}: has a conflict`);
	assert.is(await peer.file("layers/ab/abc.json", "register/abc"), wmsFile("newer"));
});

test("one that has nothing of its own any more is closed, and its branch goes an hour later", async ({
	peer,
}) => {
	const number = await propose(peer, "register/abc");
	const kept = await propose(peer, "register/def", "layers/de/def.json");
	await peer.push("layers/ab/abc.json", wmsFile("proposed"));
	const sha = await blobOf(peer, "layers/ab/abc.json", "register/abc");
	await sayConflict(peer, number, false, [{ filename: "layers/ab/abc.json", status: "modified", sha }]);
	assert.is((await tend(peer)).stdout, `#${number}: is closed: main has all of it\n`);
	assert.is((await pullOf(peer, number)).state, "closed");
	const branches = async () => {
		const { data } = await peer.api<{ name: string }[]>("GET", "/branches");
		return data.map(({ name }) => name).sort();
	};
	assert.equal(await branches(), ["main", "register/abc", "register/def"]);
	const later = new Date(Date.now() + 2 * 60 * 60_000);
	assert.is((await tend(peer, later)).stdout, "register/abc: removed, its pull request is closed\n");
	assert.equal(await branches(), ["main", "register/def"]);
	// A branch that has a newer commit than its closed pull request is of a change that has no pull request yet.
	await peer.api("PATCH", `/pulls/${kept}`, { state: "closed" });
	await peer.push("layers/de/def.json", wmsFile("newer"), "register/def");
	assert.is((await tend(peer, later)).stdout, "");
	assert.equal(await branches(), ["main", "register/def"]);
});

test("a fork's branch is its author's, whatever it is called", async ({ peer }) => {
	const number = await propose(peer, "register/abc");
	const ofFork = (body: unknown) =>
		(body as { head: object }[]).map((pull) => ({
			...pull,
			head: { ...pull.head, repo: { full_name: "mallory/layers" } },
		}));
	const effect = { kind: "rewrite", body: ofFork } as const;
	peer.proxy.faults.push({ method: "GET", path: /\/pulls$/, query: /state=open/, times: 1, effect });
	await sayConflict(peer, number, false);
	const before = await peer.commits("register/abc");
	assert.is((await tend(peer)).stdout, `#${number}: has a conflict, and its author is told\n`);
	assert.equal(await peer.commits("register/abc"), before);
});

test("without an App the workflow's token may not build anew: that is said, and is no failure", async ({
	peer,
}) => {
	const number = await propose(peer, "register/abc");
	const sha = await blobOf(peer, "layers/ab/abc.json", "register/abc");
	await sayConflict(peer, number, false, [{ filename: "layers/ab/abc.json", status: "modified", sha }]);
	const effect = { kind: "answer", status: 403, message: "Resource not accessible by integration" } as const;
	peer.proxy.faults.push({ method: "POST", path: /\/git\/trees$/, times: 1, effect });
	const before = await peer.commits("register/abc");
	const { code, stdout, stderr } = await tend(peer);
	assert.equal([code, stdout], [0, ""]);
	assert.match(stderr, new RegExp(`^#${number}: .*not accessible by integration`));
	assert.equal(await peer.commits("register/abc"), before);
});

test("an App's token is asked for with this repository, and no more than is needed", async ({ peer }) => {
	const asked: unknown[] = [];
	const note = (text: string) => {
		asked.push(JSON.parse(text));
		return false;
	};
	const effect = { kind: "silence" } as const;
	peer.proxy.faults.push({ method: "POST", path: /\/access_tokens$/, times: 1, body: note, effect });
	const { code, stderr } = await runScript("pull-requests", [], {
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_API_URL: peer.proxy.url,
		GITHUB_APP_ID: peer.app.appId,
		GITHUB_APP_PRIVATE_KEY: peer.app.privateKey,
	});
	assert.is(code, 0, stderr);
	const permissions = { contents: "write", pull_requests: "write" };
	assert.equal(asked, [{ repositories: ["layers"], permissions }]);
});

test("branches of others stay, whatever became of their pull requests", async ({ peer }) => {
	const number = await propose(peer, "a/change");
	await peer.api("PATCH", `/pulls/${number}`, { state: "closed" });
	await peer.api("POST", "/git/refs", { ref: "refs/heads/refresher", sha: (await peer.commits())[0]?.sha });
	assert.is((await tend(peer, new Date(Date.now() + 2 * 60 * 60_000))).stdout, "");
	const { data } = await peer.api<unknown[]>("GET", "/branches");
	assert.is(data.length, 3);
});

test.run();
