import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { PlannedRequest } from "../../../extensions/review/commands/github.ts";
import { cleanEnvironment, root } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { bot, type ReviewPeer, startReviewPeer } from "./approvals/review-peer.ts";
import { makeShims, runBash, startPrograms } from "./runner/programs.ts";

const APP = bot.replace("[bot]", "");
const [head, time] = ["a".repeat(40), "2026-03-04T12:00:00.000Z"];
let peer: ReviewPeer;
let folder: string;

const test = freshSuite(".github/send-plan.sh", async (use) => {
	peer = use(await startReviewPeer());
	for (const from of ["maps:register/abc", "carl:register/abc", "maps:change"]) {
		const pull = { author: "carl", from, base: "main", sha: head, files: [], reviews: [] };
		peer.pulls.push({ number: peer.pulls.length + 1, ...pull });
	}
	folder = use(await temporaryFolder()).path;
	makeShims(folder, use(await startPrograms(() => null)).url);
});

/** Sends a plan as the job with the key does. */
async function send(plan: readonly PlannedRequest[]) {
	const path = join(folder, "plan.json");
	writeFileSync(path, JSON.stringify(plan));
	return run(`.github/send-plan.sh ${path}`);
}

async function run(command: string, GITHUB_RUN_ID = "") {
	const variables = { APP, GH_TOKEN: "x", GITHUB_REPOSITORY: "maps/layers", GITHUB_API_URL: peer.url };
	const github = {
		GITHUB_SERVER_URL: "https://github.example",
		GITHUB_WORKFLOW: "publish",
		RUNNER_TEMP: folder,
	};
	const PATH = `${join(folder, "bin")}:${process.env.PATH}`;
	const env = cleanEnvironment({ ...variables, ...github, PATH, GITHUB_RUN_ID });
	return runBash(root, ["-eo", "pipefail"], command, env);
}

const output = { title: "t", summary: "s", annotations: [] };
const planned = (method: string, path: string, body: object = {}): PlannedRequest => ({ method, path, body });
const check = (conclusion: string, started_at = time, name = "owners") =>
	planned("POST", "check-runs", { name, head_sha: head, conclusion, started_at, output });
const merge = (number: number) =>
	planned("PUT", `pulls/${number}/merge`, { sha: head, merge_method: "squash" });

const writesOf = () => peer.requests.filter((request) => !request.startsWith("GET "));

for (const [what, request] of [
	["another check of the ruleset", check("success", time, "check")],
	["a file", planned("PUT", "contents/SECURITY.md", { content: "" })],
	["another repository", planned("POST", "../other/check-runs")],
	["a ruleset", planned("DELETE", "rulesets/1")],
	["a second path in a line", planned("POST", "issues/1/comments\nPUT pulls/3/merge")],
] as const)
	test(`refuses ${what}, and sends nothing after it`, async () => {
		const { status } = await send([request, planned("POST", "issues/1/comments", { body: "after" })]);
		assert.is.not(status, 0);
		assert.equal(writesOf(), []);
	});

for (const number of [2, 3])
	test(`does not merge ${number === 2 ? "a fork's branch" : "a person's branch"}`, async () => {
		const { status, output } = await send([check("success"), merge(number)]);
		assert.is(status, 1);
		assert.match(output, `pulls/${number}/merge: is no branch of the service`);
		assert.not.ok(peer.pulls.some(({ merged }) => merged));
	});

test("merges the service's branch once the newest check owners is green", async () => {
	const { status, output } = await send([check("success"), merge(1)]);
	assert.is(status, 0, output);
	assert.equal(
		peer.pulls.map(({ merged }) => merged ?? false),
		[true, false, false],
	);
});

test("a check that was judged later stays, and nothing is merged past it", async () => {
	const later = { name: "owners", head_sha: head, conclusion: "failure", output, app: APP };
	peer.checks.push({ ...later, id: 1, started_at: "2026-03-04T12:00:01Z" });
	// What a pull request's own workflow calls so is not the App's.
	peer.checks.push({ ...later, id: 2, conclusion: "success", app: "github-actions" });
	const { status } = await send([check("success"), merge(1)]);
	assert.is(status, 0);
	assert.is(peer.checks.length, 2);
	assert.not.ok(peer.pulls.some(({ merged }) => merged));
});

test("a check that was judged earlier is replaced, also after another App has made a later one of its name", async () => {
	const earlier = { name: "owners", head_sha: head, conclusion: "failure", output };
	peer.checks.push({ ...earlier, id: 1, app: APP, started_at: "2026-03-04T11:59:59Z" });
	peer.checks.push({ ...earlier, id: 2, app: "github-actions", started_at: "2026-03-04T13:00:00Z" });
	assert.is((await send([check("success")])).status, 0);
	assert.is(peer.checks.at(-1)?.conclusion, "success");
});

test("what GitHub refuses keeps nothing else from being sent", async () => {
	const comment = planned("POST", "issues/1/comments", { body: "a\n\tb `c` $(d) é" });
	peer.answers.push({ path: /comments\/99$/, status: 404, message: "Not Found" });
	const { status, output } = await send([planned("PATCH", "issues/comments/99", { body: "x" }), comment]);
	assert.is(status, 1);
	assert.match(output, "PATCH issues/comments/99: GitHub has refused it");
	const texts = peer.comments.map(({ body }) => body);
	assert.equal(texts, ["a\n\tb `c` $(d) é"]);
});

test("a workflow that fails has one issue, until it works again; one of another author stays", async () => {
	const details = join(folder, "problems.txt");
	writeFileSync(details, "layers/x.json: \x1b[31m@maps/operators\n```\n");
	const tell = async (results: string) => {
		const { status, output } = await run(
			`.github/tell-failure.sh "${results}" ${details}`,
			results.replace(" ", "-"),
		);
		assert.is(status, 0, output);
		return peer.issues.map(({ title, body, state }) => [title, body, state]);
	};
	const title = "The workflow publish fails";
	const other = { number: 1_001, title, body: "mine", state: "open", user: { login: "carl" } };
	peer.issues.push(other);
	const closing = "This is closed by the next run that does not fail.";
	const page = "https://github.example/maps/layers/actions/runs";
	const bodyOf = (results: string) =>
		`The last run that failed: ${page}/${results.replace(" ", "-")}\n\n    layers/x.json: [31m@maps/operators\n    \`\`\`\n\n${closing}`;
	assert.is((await tell("success skipped")).length, 1);
	assert.equal((await tell("success failure"))[1], [title, bodyOf("success failure"), "open"]);
	assert.equal((await tell("cancelled"))[1], [title, bodyOf("cancelled"), "open"]);
	const [first, second, ...more] = await tell("success success");
	assert.equal([first?.[2], second?.[2], more], ["open", "closed", []]);
	assert.match(peer.comments[0]?.body ?? "", `It works again: ${page}/success-success`);
});

test.run();
