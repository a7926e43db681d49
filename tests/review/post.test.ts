import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { marker, maxCommentLength } from "../../review/comment.ts";
import { fittingLabels, isOwnBranch } from "../../review/pulls.ts";
import type { Report } from "../../review/report.ts";
import { checkComment } from "../../review/report.ts";
import { exits, runScript, warns } from "../helpers/process.ts";
import { sharedSuite, temporaryFolder } from "../helpers/world.ts";
import { type Peer, startPeer } from "../store/github-peer.ts";

interface Comment {
	body: string;
	user: { login: string };
}

let peer: Peer;
let folder: string;
let number: number;
let head: string;

const problem = { file: "layers/ab/abc.json", line: 3, text: "/en/layer: is missing" };

function report(comment: string, more: Partial<Report> = {}): object {
	const annotations = [{ level: "error", title: "Layer", ...problem }];
	return { conclusion: "failure", comment, annotations, ...more };
}

/** Runs `npx fragment-publisher comment` as the workflow does. */
async function comment(text: string | object | null, pulls: object = [{ number, head }], author = "maps") {
	const path = join(folder, `review-${number}.json`);
	await rm(path, { force: true });
	const json = typeof text === "string" ? report(text) : text;
	if (text !== null) await writeFile(path, JSON.stringify(json));
	const words = ["--pulls", JSON.stringify(pulls), "--reports", folder, "--author", author];
	return runScript("comment", words, peer.env);
}

async function comments(): Promise<Comment[]> {
	const found: Comment[] = [];
	for (let page = 1; ; page += 1) {
		const { data } = await peer.api<Comment[]>("GET", `/issues/${number}/comments?per_page=100&page=${page}`);
		found.push(...data);
		if (data.length < 100) return found;
	}
}

interface Check {
	id: number;
	name: string;
	conclusion: string;
	output: { title: string; summary: string; annotations_count: number };
}

async function checks(): Promise<Check[]> {
	const path = `/commits/${head}/check-runs?filter=all&per_page=100`;
	return (await peer.api<{ check_runs: Check[] }>("GET", path)).data.check_runs;
}

const test = sharedSuite("what is said at a pull request", async (use) => {
	folder = use(await temporaryFolder()).path;
	peer = use(await startPeer());
	const [first] = await peer.commits();
	await peer.api("POST", "/git/refs", { ref: "refs/heads/a/change", sha: first?.sha });
	await peer.push("layers/ab/abc.json", "{}", "a/change");
	head = (await peer.commits("a/change"))[0]?.sha as string;
	const pull = { title: "A change", head: "a/change", base: "main" };
	number = (await peer.api<{ number: number }>("POST", "/pulls", pull)).data.number;
});

test("one comment is posted, then edited, and left alone where it says the same", async () => {
	await peer.api("POST", `/issues/${number}/comments`, { body: "A comment of a person" });
	assert.match((await comment(`${marker}\nfirst\n`)).stdout, `#${number}: posted`);
	assert.match((await comment(`${marker}\nsecond\n`)).stdout, `#${number}: edited`);
	assert.match((await comment(`${marker}\nsecond\n`)).stdout, `#${number}: unchanged`);
	const texts = (await comments()).map(({ body }) => body);
	assert.equal(texts, ["A comment of a person", `${marker}\nsecond\n`]);
});

test("the check layers has the same text on its page, and an annotation at the line of a problem", async () => {
	await comment(`${marker}\nsecond\n`);
	const [newest] = (await checks()).sort((a, b) => b.id - a.id);
	assert.equal([newest?.name, newest?.conclusion], ["layers", "failure"]);
	assert.match(newest?.output.title ?? "", "something has to be corrected: see the comment");
	assert.is(newest?.output.summary, `${marker}\nsecond\n`);
	const path = `/check-runs/${newest?.id}/annotations`;
	const data = (await peer.api<{ check_annotations: object[] }>("GET", path)).data.check_annotations;
	const expected = { path: problem.file, start_line: 3, end_line: 3, annotation_level: "failure" };
	assert.is(data.length, 1);
	for (const [name, value] of Object.entries({ ...expected, message: "/en/layer: is missing" }))
		assert.is((data[0] as Record<string, unknown>)[name], value, name);
	await comment(report(`${marker}\nsecond\n`, { conclusion: "success", annotations: [] }));
	const [after] = (await checks()).sort((a, b) => b.id - a.id);
	assert.equal([after?.conclusion, after?.output.title], ["success", "the layers are in order"]);
});

test("without a report the check says so, and the comment stays", async () => {
	const before = await comments();
	const { code, stdout } = await comment(null);
	assert.equal([code, stdout], [0, `#${number}: could not be checked\n`]);
	const [newest] = (await checks()).sort((a, b) => b.id - a.id);
	assert.equal([newest?.conclusion, newest?.output.title], ["failure", "could not be checked"]);
	assert.equal(await comments(), before);
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

test("a pull request's labels follow what it changes; labels of others stay", async () => {
	listFiles("layers/ab/abc.json");
	assert.match((await comment(`${marker}\nsecond\n`)).stdout, `#${number}: unchanged, labelled layer\n`);
	assert.equal(await labelsNow(), ["layer"]);
	await peer.api("POST", "/labels", { name: "urgent" });
	await peer.api("POST", `/issues/${number}/labels`, { labels: ["urgent", "removal"] });
	listFiles("layers/ab/abc.json", "README.md");
	const { stdout } = await comment(`${marker}\nsecond\n`);
	assert.match(stdout, `#${number}: unchanged, labelled layer, code`);
	assert.equal(await labelsNow(), ["code", "layer", "urgent"]);
});

test("labels are chosen by the kind of change and by whether the service proposes it", () => {
	const of = (filename: string, status = "modified") => fittingLabels([{ filename, status }], false);
	assert.equal([...of("layers/ab/abc.json")], ["layer"]);
	assert.equal([...of("layers/ab/abc.json", "removed")], ["removal"]);
	assert.equal([...of("layers/ab/abc.service.json")], [], "what a machine writes");
	assert.equal([...of("scripts/x.ts")], ["code"]);
	assert.equal([...fittingLabels([], true)], ["service"]);
	for (const branch of ["register/abc", "repair/abc", "refresh"]) assert.ok(isOwnBranch(branch));
	for (const branch of ["registers", "refreshing", "main"]) assert.not(isOwnBranch(branch));
});

test("the comment is found behind more than a page of other comments", async () => {
	const texts = Array.from({ length: 110 }, (_, index) => `comment ${index}`);
	for (const body of texts) await peer.api("POST", `/issues/${number}/comments`, { body });
	assert.match((await comment(`${marker}\nthird\n`)).stdout, "edited");
});

test("a marker in another author's comment is ignored", async () => {
	const before = await comments();
	const { stdout } = await comment(`${marker}\nfourth\n`, [{ number, head }], "maps-workflows[bot]");
	assert.match(stdout, "posted");
	const after = await comments();
	assert.equal(after.slice(0, -1), before);
	assert.is(after.at(-1)?.body, `${marker}\nfourth\n`);
});

test("nothing is posted for an older commit, or once the pull request is closed", async () => {
	const before = [await comments(), await checks()];
	const older = await comment(`${marker}\nother\n`, [{ number, head: "1".repeat(40) }]);
	assert.equal([older.code, older.stdout], [0, `#${number}: nothing posted: it has changed meanwhile\n`]);
	await peer.api("PATCH", `/pulls/${number}`, { state: "closed" });
	assert.match((await comment(`${marker}\nother\n`)).stdout, "nothing posted");
	await peer.api("PATCH", `/pulls/${number}`, { state: "open" });
	assert.equal([await comments(), await checks()], before);
});

const long = "x".repeat(maxCommentLength);
const refused: [string, object, RegExp][] = [
	["no marker", report("text\n"), /marker/],
	["too much text", report(`${marker}\n${long}`), /more than 65000/],
	["far too much", report(long.repeat(9)), /has more than \d+ characters/],
	["a control character", report(`${marker}\n\u001b[31m\n`), /control/],
	["a right-to-left mark", report(`${marker}\n\u202e\n`), /control/],
	["no conclusion", report(`${marker}\n`, { conclusion: "neutral" as "success" }), /conclusion/],
	[
		"an annotation of another form",
		report(`${marker}\n`, { annotations: [{}] as Report["annotations"] }),
		/annotations/,
	],
];

for (const [what, json, error] of refused) {
	test(`a report with ${what} is refused, and nothing is posted`, async () => {
		const before = [await comments(), await checks()];
		await warns(comment(json), 2, error);
		assert.equal([await comments(), await checks()], before);
	});
}

test("when one comment cannot be posted, the others still are", async () => {
	const { code, stdout, stderr } = await comment(`${marker}\nlast\n`, [
		{ number: 99, head },
		{ number, head },
	]);
	assert.is(code, 2);
	assert.match(stderr, /^#99: GitHub answers 404/m);
	assert.match(stdout, new RegExp(`^#${number}: edited`, "m"));
});

test("a report may have line breaks and any letters", () => {
	assert.not.throws(() => checkComment(`${marker}\nRéseau 😀\n\n- x\n`));
});

test("the pull requests are listed for an event's commit, for a missing check, or all", async () => {
	const list = async (...words: string[]) => {
		const { stdout } = await exits(runScript("pull-requests", words, peer.env), 0);
		return JSON.parse(stdout) as unknown;
	};
	assert.equal(await list(), [{ number, head }]);
	assert.equal(await list("--head", head), [{ number, head }]);
	assert.equal(await list("--head", "1".repeat(40)), []);
	// The peer names no App of a check.
	const own = (body: unknown) => {
		const { check_runs } = body as { check_runs: object[] };
		const total_count = check_runs.length;
		return {
			total_count,
			check_runs: check_runs.map((run) => ({ ...run, app: { id: 1, slug: "maps-workflows" } })),
		};
	};
	const effect = { kind: "rewrite", body: own } as const;
	peer.proxy.faults.push({ method: "GET", path: /\/check-runs$/, times: 2, effect });
	assert.equal(await list("--missing", "layers", "--author", "maps-workflows[bot]"), []);
	assert.equal(await list("--missing", "layers", "--author", "other[bot]"), [{ number, head }]);
});

test("without a token nothing is asked, and the error names what is missing", async () => {
	const words = ["--pulls", "[]", "--reports", folder];
	await warns(runScript("comment", words, { GITHUB_REPOSITORY: "maps/layers" }), 2, /GITHUB_TOKEN/);
});

test("no output holds the token", async () => {
	const { stdout, stderr } = await comment("text\n");
	assert.not.match(stdout + stderr, peer.token);
});

test.run();
