import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { longestComment, marker } from "../../review/comment.ts";
import { isOwnBranch } from "../../review/label-pull.ts";
import { fittingLabels } from "../../review/labels.ts";
import { checkComment, parseRun } from "../../review/post.ts";
import { runScript } from "../process.ts";
import { type Peer, startPeer } from "../store/github-peer.ts";

interface Comment {
	body: string;
	user: { login: string };
}

let peer: Peer;
let folder: string;
let number: number;
let head: string;

/** The event as GitHub sends it for a fork: with a branch and a commit, and no pull request. */
function event(more: object = {}): object {
	return {
		action: "completed",
		workflow_run: {
			event: "pull_request",
			head_branch: "a/change",
			head_sha: head,
			head_repository: { owner: { login: "maps" } },
			pull_requests: [],
			...more,
		},
	};
}

/** Runs `npx fragments comment` as the workflow does. */
async function comment(text: string, body: object = event(), author = "maps") {
	const [file, eventFile] = [join(folder, "comment.md"), join(folder, "event.json")];
	await writeFile(file, text);
	await writeFile(eventFile, JSON.stringify(body));
	return runScript("comment", ["--file", file, "--author", author], {
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_TOKEN: peer.token,
		GITHUB_API_URL: peer.proxy.url,
		GITHUB_EVENT_PATH: eventFile,
	});
}

async function comments(): Promise<Comment[]> {
	const found: Comment[] = [];
	for (let page = 1; ; page += 1) {
		const { data } = await peer.api<Comment[]>("GET", `/issues/${number}/comments?per_page=100&page=${page}`);
		found.push(...data);
		if (data.length < 100) return found;
	}
}

test.before(async () => {
	peer = await startPeer();
	folder = await mkdtemp(join(tmpdir(), "publisher-post-"));
	const [first] = await peer.commits();
	await peer.api("POST", "/git/refs", { ref: "refs/heads/a/change", sha: first?.sha });
	await peer.push("layers/ab/abc.json", "{}", "a/change");
	head = (await peer.commits("a/change"))[0]?.sha as string;
	const pull = { title: "A change", head: "a/change", base: "main" };
	number = (await peer.api<{ number: number }>("POST", "/pulls", pull)).data.number;
});

test.after(async () => {
	await rm(folder, { recursive: true, force: true });
	await peer.close();
});

test("one comment is posted, then edited, and left alone where it says the same", async () => {
	await peer.api("POST", `/issues/${number}/comments`, { body: "A comment of somebody" });
	assert.match((await comment(`${marker}\nfirst\n`)).stdout, `#${number}: posted`);
	assert.match((await comment(`${marker}\nsecond\n`)).stdout, `#${number}: edited`);
	assert.match((await comment(`${marker}\nsecond\n`)).stdout, `#${number}: unchanged`);
	assert.equal(
		(await comments()).map(({ body }) => body),
		["A comment of somebody", `${marker}\nsecond\n`],
	);
});

async function labelsNow(): Promise<string[]> {
	const { data } = await peer.api<{ name: string }[]>("GET", `/issues/${number}/labels`);
	return data.map(({ name }) => name).sort();
}

/** The peer lists no files of a pull request: here they are. */
function listFiles(...names: string[]): void {
	const json = names.map((filename) => ({ filename, status: "modified" }));
	peer.proxy.faults.length = 0;
	const path = /\/pulls\/\d+\/files$/;
	peer.proxy.faults.push({ method: "GET", path, times: 1, effect: { kind: "answer", status: 200, json } });
}

test("its labels say what it changes, and follow it; those of others stay", async () => {
	listFiles("layers/ab/abc.json");
	assert.match((await comment(`${marker}\nsecond\n`)).stdout, `#${number}: labelled layer\n`);
	assert.equal(await labelsNow(), ["layer"]);
	await peer.api("POST", "/labels", { name: "urgent" });
	await peer.api("POST", `/issues/${number}/labels`, { labels: ["urgent", "removal"] });
	listFiles("layers/ab/abc.json", "README.md");
	const { stdout } = await comment(`${marker}\nsecond\n`);
	assert.match(stdout, `#${number}: labelled layer, code`);
	assert.equal(await labelsNow(), ["code", "layer", "urgent"]);
});

test("the labels that fit: by kind of change, and whose it is", () => {
	const of = (filename: string, status = "modified") => fittingLabels([{ filename, status }], false);
	assert.equal([...of("layers/ab/abc.json")], ["layer"]);
	assert.equal([...of("layers/ab/abc.json", "removed")], ["removal"]);
	assert.equal([...of("layers/ab/abc.service.json")], [], "what a machine writes");
	assert.equal([...of("scripts/x.ts")], ["code"]);
	assert.equal([...fittingLabels([], true)], ["service"]);
	for (const branch of ["register/abc", "refresh"]) assert.ok(isOwnBranch(branch));
	for (const branch of ["registers", "refreshing", "main"]) assert.not(isOwnBranch(branch));
});

test("it is found behind more than a page of others", async () => {
	const texts = Array.from({ length: 110 }, (_, index) => `comment ${index}`);
	for (const body of texts) await peer.api("POST", `/issues/${number}/comments`, { body });
	assert.match((await comment(`${marker}\nthird\n`)).stdout, "edited");
});

test("a marker in somebody else's comment means nothing", async () => {
	const before = await comments();
	const { stdout } = await comment(`${marker}\nfourth\n`, event(), "github-actions[bot]");
	assert.match(stdout, "posted");
	const after = await comments();
	assert.equal(after.slice(0, -1), before);
	assert.is(after.at(-1)?.body, `${marker}\nfourth\n`);
});

const silent: [string, () => object][] = [
	["a run of an older commit", () => event({ head_sha: "1".repeat(40) })],
	["a run of another branch", () => event({ head_branch: "other" })],
	["a branch with an address's own characters", () => event({ head_branch: "a/change&state=all#x" })],
	["another owner's branch of that name", () => event({ head_repository: { owner: { login: "mallory" } } })],
	["a fork that is gone", () => event({ head_repository: null })],
	["a run for a push", () => event({ event: "push" })],
	["a commit that is none", () => event({ head_sha: "main" })],
	["a number that only the run names", () => event({ head_branch: "x", pull_requests: [{ number }] })],
];

for (const [what, body] of silent) {
	test(`nothing is posted for ${what}`, async () => {
		const before = await comments();
		const { code, stdout } = await comment(`${marker}\nother\n`, body());
		assert.is(code, 0);
		assert.match(stdout, "nothing posted");
		assert.equal(await comments(), before);
	});
}

const refused: [string, string, RegExp][] = [
	["no marker", "text\n", /marker/],
	["too much text", `${marker}\n${"x".repeat(longestComment)}`, /more than 65000/],
	["far too much", "x".repeat(4 * longestComment + 1), /bytes/],
	["a control character", `${marker}\n\u001b[31m\n`, /control/],
	["a right-to-left mark", `${marker}\n\u202e\n`, /control/],
];

for (const [what, text, error] of refused) {
	test(`a comment with ${what} is refused, and nothing is posted`, async () => {
		const before = await comments();
		const { code, stderr } = await comment(text);
		assert.is(code, 2);
		assert.match(stderr, error);
		assert.equal(await comments(), before);
	});
}

test("a comment with line breaks and any letters is ours", () => {
	assert.not.throws(() => checkComment(`${marker}\nRéseau 😀\n\n- x\n`));
});

test("an event of another kind is an error", () => {
	assert.throws(() => parseRun("{}"), /not a workflow_run/);
});

test("without a token nothing is asked, and the error names what is missing", async () => {
	const { code, stderr } = await runScript("comment", ["--file", "x", "--event", "y"], {
		GITHUB_REPOSITORY: "maps/layers",
	});
	assert.is(code, 2);
	assert.match(stderr, /GITHUB_TOKEN/);
});

test("no output holds the token", async () => {
	const { stdout, stderr } = await comment("text\n");
	assert.not.match(stdout + stderr, peer.token);
});

test.run();
