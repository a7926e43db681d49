import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "../process.ts";
import { startPeer } from "../store/github-peer.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { type Files, wmsFile } from "./repository.ts";

/** An address that is never asked: it is not of the public internet. */
const nowhere = "http://127.0.0.1:9/wms";

let origin: Origin;

test.before(() => {
	origin = new Origin();
});

test.after(() => origin.remove());

/** The check of a pull request, and its summary on the check's page. */
async function check(number: number, files: Files) {
	origin.propose(number, files);
	const cwd = origin.checkout();
	const summary = join(cwd, "summary.md");
	const env = { NUMBER: String(number), GITHUB_STEP_SUMMARY: summary };
	const ended = await runJob(cwd, commands("review", "review"), env);
	return { ...ended, cwd, summary: existsSync(summary) ? readFileSync(summary, "utf8") : "" };
}

test("the check of a good pull request passes, and shows what changes", async () => {
	const path = "layers/to/toporama.json";
	const renamed = readFileSync(join(root, "tests/fixtures", path), "utf8").replace(
		'"Toporama"',
		'"Topographic map"',
	);
	const { status, output, summary } = await check(1, { [path]: renamed });
	assert.is(status, 0, output);
	assert.match(
		output,
		"approval of @fragment-publisher/layer-reviewers for 1 file\n1 layers changed, 0 to correct",
	);
	assert.match(summary, '+        "displayName": "Topographic map",');
});

test("the check of a wrong one fails, with the place as an annotation", async () => {
	const { status, output } = await check(2, { "layers/ne/new.json": wmsFile("a", "ftp://maps.example") });
	assert.is(status, 1);
	assert.match(
		output,
		"::error file=layers/ne/new.json,line=5,title=Layer::/en/service_url: must be an http",
	);
});

test("code that a pull request brings is looked at and never run", async () => {
	const pwned = join(origin.folder, "pwned");
	const evil = `require("node:fs").writeFileSync(${JSON.stringify(pwned)}, "")`;
	const { status, output, cwd } = await check(3, {
		"scripts/review.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(pwned)}, "");\n`,
		"package.json": JSON.stringify({
			scripts: { review: `node -e '${evil}'`, preinstall: `node -e '${evil}'` },
		}),
		".npmrc": `node-options=--eval=${evil}`,
		".gitattributes": "* filter=evil diff=evil",
		".github/workflows/review.yml": "on: push",
		"layers/ne/new.json": wmsFile("a", nowhere),
	});
	assert.is(status, 1, "the registered address is not of the public internet");
	assert.match(output, "approval of @fragment-publisher/operators for 5 files");
	assert.not.ok(existsSync(pwned));
	assert.not.match(readFileSync(join(cwd, "package.json"), "utf8"), "preinstall");
});

test("a wrong pull request from a fork gets its comment, made anew and posted with the number that GitHub says", async () => {
	const peer = await startPeer();
	try {
		const [first] = await peer.commits();
		await peer.api("POST", "/git/refs", { ref: "refs/heads/change", sha: first?.sha });
		await peer.push("x", "x", "change");
		const [newest] = await peer.commits("change");
		const pull = { title: "A change", head: "change", base: "main" };
		const { number } = (await peer.api<{ number: number }>("POST", "/pulls", pull)).data;

		const head = origin.propose(4, { "layers/ne/new.json": wmsFile("a", "ftp://maps.example/@maps/all") });
		const reviewed = origin.checkout();
		const output = join(reviewed, "output");
		const review = await runJob(reviewed, commands("comment", "look"), { HEAD: head, GITHUB_OUTPUT: output });
		assert.is(review.status, 0, review.output);
		assert.is(readFileSync(output, "utf8"), "state=failure\n");

		const posting = origin.checkout();
		mkdirSync(join(posting, "reviewed"));
		cpSync(join(reviewed, "comment.md"), join(posting, "reviewed", "comment.md"));
		const event = join(posting, "event.json");
		const run = {
			event: "pull_request",
			head_branch: "change",
			head_sha: newest?.sha,
			head_repository: { owner: { login: "maps" } },
			pull_requests: [],
		};
		writeFileSync(event, JSON.stringify({ workflow_run: run }));
		// The peer knows no statuses.
		const status = { path: /\/status(?:es|es\/\w+)$/, times: 1 };
		peer.proxy.faults.push(
			{ ...status, method: "GET", effect: { kind: "answer", status: 200, json: [] } },
			{
				...status,
				method: "POST",
				body: (text) => JSON.parse(text).state === "failure" && JSON.parse(text).context === "layers",
				effect: { kind: "answer", status: 201, json: {} },
			},
		);
		const env = {
			GITHUB_EVENT_PATH: event,
			GITHUB_TOKEN: peer.token,
			GITHUB_API_URL: peer.proxy.url,
			STATE: "failure",
			AUTHOR: "maps",
		};
		const posted = await runJob(posting, commands("comment", "comment"), env);
		assert.is(posted.status, 0, posted.output);
		assert.match(posted.output, `#${number}: posted`);
		assert.equal(peer.proxy.faults, [], "the status was set");
		const comments = (await peer.api<{ body: string }[]>("GET", `/issues/${number}/comments`)).data;
		assert.is(comments.length, 1);
		assert.match(comments[0]?.body ?? "", "### 2 things to mend in this change");
		assert.not.match(comments[0]?.body ?? "", "@maps/all");
	} finally {
		await peer.close();
	}
});

test("a review that cannot be made fails, and leaves no comment behind", async () => {
	const cwd = origin.checkout();
	const { status } = await runJob(cwd, commands("comment", "look"), {
		HEAD: "1".repeat(40),
		GITHUB_OUTPUT: join(cwd, "output"),
	});
	assert.ok(status !== 0);
	assert.not.ok(existsSync(join(cwd, "comment.md")));
	assert.not.ok(existsSync(join(cwd, "output")));
});

test.run();
