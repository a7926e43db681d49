import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { PlannedRequest } from "../../../extensions/review/commands/approvals.ts";
import { type Ended, exits, root, runProgram, warns } from "../../helpers/process.ts";
import { type Files, freshSuite, Repository, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { bot, type ReviewPeer, startReviewPeer } from "./approvals/review-peer.ts";
import { featureFile, ownersFile, wmsFile } from "./repository.ts";
import { makeShims, startPrograms } from "./runner/programs.ts";

const APP = bot.replace("[bot]", "");
const [head, time] = ["a".repeat(40), "2026-03-04T12:00:00.000Z"];
const [wells, description] = ["layers/we/wells.json", "layers/we/wells.service.json"];
const base: Record<string, string> = {
	"SECURITY.md": "how to report\n",
	"layers/owners.json": ownersFile,
	[wells]: featureFile(),
	"layers/sp/spare.json": wmsFile("spare"),
};
let peer: ReviewPeer;
let folder: string;
let repository: Repository;

const test = freshSuite("a script of the workflows", async (use) => {
	peer = use(await startReviewPeer());
	for (const from of ["maps:register/abc", "carl:register/abc", "maps:change"]) {
		const pull = { author: "carl", from, base: "main", sha: head, files: [], reviews: [] };
		peer.pulls.push({ number: peer.pulls.length + 1, ...pull });
	}
	folder = use(await temporaryFolder()).path;
	makeShims(folder, use(await startPrograms(() => null)).url);
	repository = use(new Repository({ ...base, ".github": { link: join(root, ".github") } }));
});

function run(script: string, ...words: string[]): Promise<Ended> {
	return runProgram("bash", [`.github/${script}.sh`, ...words], variables(), repository.path);
}

const variables = (): Record<string, string> => ({
	APP,
	GH_TOKEN: "x",
	GITHUB_REPOSITORY: "maps/layers",
	GITHUB_API_URL: peer.url,
	GITHUB_SERVER_URL: "https://github.example",
	GITHUB_WORKFLOW: "publish",
	GITHUB_RUN_ID: "7",
	RUNNER_TEMP: folder,
	PATH: `${join(folder, "bin")}:${process.env.PATH}`,
});

/** Sends a plan as the job with the key does. */
function send(...plan: PlannedRequest[]): Promise<Ended> {
	writeFileSync(join(folder, "plan.json"), JSON.stringify(plan));
	return run("send-plan", join(folder, "plan.json"));
}

const output = { title: "t", summary: "s" };
const planned = (method: string, path: string, body: object = {}): PlannedRequest => ({ method, path, body });
const check = (name = "owners") =>
	planned("POST", "check-runs", { name, head_sha: head, conclusion: "success", started_at: time, output });
const merge = (number: number) =>
	planned("PUT", `pulls/${number}/merge`, { sha: head, merge_method: "squash" });

test("send-plan refuses what no review plans, and sends nothing after it", async () => {
	for (const [what, request] of [
		["another check of the ruleset", check("check")],
		["a file", planned("PUT", "contents/SECURITY.md", { content: "" })],
		["another repository", planned("POST", "../other/check-runs")],
		["a second path in a line", planned("POST", "issues/1/comments\nPUT pulls/3/merge")],
	] as const) {
		const { code } = await send(request, planned("POST", "issues/1/comments", { body: "after" }));
		assert.is.not(code, 0, what);
	}
	assert.equal(
		peer.requests.filter((request) => !request.startsWith("GET ")),
		[],
	);
});

const mergedPulls = () => peer.pulls.filter(({ merged }) => merged).map(({ number }) => number);

test("send-plan merges the service's branch, and neither a fork's nor a person's", async () => {
	for (const number of [2, 3])
		await warns(send(check(), merge(number)), 1, `pulls/${number}/merge: is no branch of the service`);
	assert.equal(mergedPulls(), []);
	await exits(send(check(), merge(1)), 0);
	assert.equal(mergedPulls(), [1]);
});

test("a check that was judged later stays, and nothing is merged past it; an earlier one is replaced", async () => {
	const other = { name: "owners", head_sha: head, conclusion: "failure", output, app: APP };
	peer.checks.push({ ...other, id: 1, started_at: "2026-03-04T12:00:01Z" });
	// What a pull request's own workflow calls so is not the App's.
	peer.checks.push({ ...other, id: 2, conclusion: "success", app: "github-actions" });
	await exits(send(check(), merge(1)), 0);
	assert.equal([peer.checks.length, mergedPulls()], [2, []]);
	peer.checks.splice(0, 1, { ...other, id: 1, started_at: "2026-03-04T11:59:59Z" });
	await exits(send(check()), 0);
	assert.is(peer.checks.at(-1)?.conclusion, "success");
});

test("what GitHub refuses keeps nothing else from being sent", async () => {
	const comment = planned("POST", "issues/1/comments", { body: "a\n\tb `c` $(d) é" });
	peer.answers.push({ path: /comments\/99$/, status: 404, message: "Not Found" });
	const sent = send(planned("PATCH", "issues/comments/99", { body: "x" }), comment);
	await warns(sent, 1, "PATCH issues/comments/99: GitHub has refused it");
	assert.is(peer.comments.map(({ body }) => body).join(), "a\n\tb `c` $(d) é");
});

test("a workflow that fails has one issue, until it works again; one of another author stays", async () => {
	const details = join(folder, "problems.txt");
	writeFileSync(details, "layers/x.json: \x1b[31m@maps/operators\n```\n");
	const other = { number: 1_001, title: "The workflow publish fails", body: "mine", state: "open" };
	peer.issues.push({ ...other, user: { login: "carl" } });
	const run7 = "https://github.example/maps/layers/actions/runs/7";
	const body = `The last run that failed: ${run7}\n\n    layers/x.json: [31m@maps/operators\n    \`\`\`\n\nThis is closed by the next run that does not fail.\n`;
	for (const [results, ...states] of [
		["success skipped", "open"],
		["success failure", "open", "open"],
		["cancelled", "open", "open"],
		["success success", "open", "closed"],
	] as const) {
		await exits(run("tell-failure", results, details), 0);
		assert.equal(
			peer.issues.map(({ state }) => state),
			states,
			results,
		);
	}
	assert.equal([peer.issues[1]?.title, peer.issues[1]?.body], [other.title, body.trimEnd()]);
	assert.is(peer.comments.map(({ body }) => body).join(), `It works again: ${run7}`);
});

/** Makes a commit of a branch as the jobs do that read what a harvest has found. @param change with names of files that were renamed */
function commit(branch: string, change: Files, message = ""): Promise<Ended> {
	using harvested = new Repository(base);
	harvested.write(change);
	harvested.git("add", "-A");
	const patch = harvested.git("diff", "--cached", "--binary", "-M50%");
	writeFiles(repository.path, {
		[`found/${branch}/a.patch`]: patch,
		[`found/${branch}/message.txt`]: message,
	});
	return run("commit", branch);
}

const renamed = (from: string, to: string): Files => ({ [from]: null, [to]: base[from] as string });

/** What a job may hand over that no harvest and no search for repairs has written, and what is said of it. */
const refused: [branch: string, change: Files, error: string][] = [
	["descriptions", renamed("SECURITY.md", description), "SECURITY.md: D 000000 is no change of descriptions"],
	["descriptions", renamed(wells, description), `${wells}: D 000000 is no`],
	["descriptions", { [description]: { link: "/proc/self/environ" } }, `${description}: A 120000 is no`],
	["descriptions", { "layers/no/none.service.json": "{}\n" }, "none.service.json: A 100644 is no"],
	["descriptions", { "layers/owners.json": "{}\n" }, "descriptions: changes no layer"],
	["refresh", { "layers/health.json": { link: "/etc/passwd" } }, "layers/health.json: A 120000 is no"],
	["refresh", renamed(wells, description), `${wells}: D 000000 is no`],
	["repair/wells", renamed("layers/owners.json", "layers/we/wells-2.json"), "owners.json: D 000000 is no"],
	[
		"repair/wells",
		renamed(wells, "layers/we/wells-2.json"),
		`${wells}: D 000000 is no change of repair/wells`,
	],
	["main", { [wells]: featureFile("https://other.example/MapServer/1") }, ""],
];

test("of a patch that no harvest has written no commit is made", async () => {
	for (const [branch, change, error] of refused) await warns(commit(branch, change), 1, error);
	const branches = repository.git("for-each-ref", "--format=%(refname:short) %(contents:subject)");
	assert.is(branches, "main base\n");
});

test("a repair is a commit on its own branch; only layers and three trailers come with it", async () => {
	const change = { [wells]: featureFile("https://other.example/MapServer/1"), "layers/health.json": "{}" };
	const message = "repair wells\n\nRepairs: wells\nEvidence: 0123456789abcdef\nCertainty: same";
	await exits(
		commit("repair/wells", { ...change, "SECURITY.md": "mine\n" }, `${message}\nSender: jstest\n`),
		0,
	);
	assert.is(repository.git("diff", "--name-only", "HEAD", "repair/wells").trim(), wells);
	const log = repository.git("log", "--format=%an: %B", "repair/wells").trim();
	assert.is(log, `fragment-publisher: ${message}\n\ntester: base`);
	assert.is(repository.git("status", "--porcelain"), "?? found/\n");
});

test("of what was drawn only pictures and their list are stored, in one commit", async () => {
	repository.git("clone", "-q", "--bare", ".", join(folder, "origin"));
	repository.git("remote", "add", "origin", join(folder, "origin"));
	const pictures = { "mo/moved.0123456789ab.webp": "RIFF", "proofs.json": "{}" };
	const all = { ...pictures, "mo/moved.0.webp": "x".repeat(20_000), "mo/page.html": "<script>" };
	writeFiles(join(repository.path, "found"), all);
	for (let times = 0; times < 2; times += 1) await exits(run("store-pictures", "found"), 0);
	const stored = repository.git("-C", join(folder, "origin"), "ls-tree", "-r", "--name-only", "pictures");
	assert.equal(stored.trim().split("\n"), Object.keys(pictures));
	const commits = repository.git("-C", join(folder, "origin"), "log", "--format=%an", "pictures");
	assert.is(commits, "fragment-publisher\n");
});

test.run();
