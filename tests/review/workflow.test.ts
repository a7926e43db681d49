import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parseReport } from "../../review/report.ts";
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

/** The review of a pull request by the workflow `layers`: its report, and the summary on the run's page. */
async function check(number: number, files: Files) {
	const HEAD = origin.propose(number, files);
	const cwd = origin.checkout();
	const summary = join(cwd, "summary.md");
	const ended = await runJob(cwd, commands("layers", "look"), { HEAD, GITHUB_STEP_SUMMARY: summary });
	const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
	const report = parseReport(read(join(cwd, "report.json")));
	return { ...ended, cwd, report, summary: read(summary) };
}

test("the check of a good pull request passes, and shows what changes", async () => {
	const path = "layers/to/toporama.json";
	const renamed = readFileSync(join(root, "tests/fixtures", path), "utf8").replace(
		'"Toporama"',
		'"Topographic map"',
	);
	const { status, output, report, summary } = await check(1, { [path]: renamed });
	assert.is(status, 0, output);
	assert.is(report.conclusion, "success");
	assert.match(
		output,
		"approval of @fragment-publisher/layer-reviewers for 1 file\n1 layer changed, 0 to correct",
	);
	assert.match(summary, '+        "displayName": "Topographic map",');
});

test("the check of a wrong one fails, with the place as an annotation", async () => {
	const files = { "layers/ne/new.json": wmsFile("a", "ftp://maps.example") };
	const { status, output, report } = await check(2, files);
	assert.is(status, 0, output);
	assert.is(report.conclusion, "failure");
	const [annotation] = report.annotations;
	assert.equal([annotation?.level, annotation?.file, annotation?.line], ["error", "layers/ne/new.json", 5]);
	assert.match(annotation?.text ?? "", /^\/en\/service_url: must be an http/);
});

test("code that a pull request brings is read and never run", async () => {
	const pwned = join(origin.folder, "pwned");
	const evil = `require("node:fs").writeFileSync(${JSON.stringify(pwned)}, "")`;
	const { status, output, report, cwd } = await check(3, {
		"scripts/review.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(pwned)}, "");\n`,
		"package.json": JSON.stringify({
			scripts: { review: `node -e '${evil}'`, preinstall: `node -e '${evil}'` },
		}),
		".npmrc": `node-options=--eval=${evil}`,
		".gitattributes": "* filter=evil diff=evil",
		".github/workflows/layers.yml": "on: push",
		"layers/ne/new.json": wmsFile("a", nowhere),
	});
	assert.is(status, 0, output);
	assert.is(report.conclusion, "failure", "the registered address is not of the public internet");
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

		const reviewed = await check(4, {
			"layers/ne/new.json": wmsFile("a", "ftp://maps.example/@maps/all"),
		});
		const env = { GITHUB_TOKEN: peer.token, GITHUB_API_URL: peer.proxy.url };
		const cwd = origin.checkout();
		const output = join(cwd, "output");
		const event = { EVENT: "workflow_run", HEAD: newest?.sha as string, GITHUB_OUTPUT: output };
		const found = await runJob(cwd, commands("layers", "find"), { ...env, ...event });
		assert.is(found.status, 0, found.output);
		const PULLS = JSON.stringify([{ number, head: newest?.sha }]);
		assert.is(readFileSync(output, "utf8"), `pulls=${PULLS}\n`);

		mkdirSync(join(cwd, "reports", `review-${number}`), { recursive: true });
		cpSync(join(reviewed.cwd, "report.json"), join(cwd, "reports", `review-${number}`, "report.json"));
		const posted = await runJob(cwd, commands("layers", "report"), { ...env, PULLS, AUTHOR: "maps" });
		assert.is(posted.status, 0, posted.output);
		assert.match(posted.output, `#${number}: posted`);
		const path = `/commits/${newest?.sha}/check-runs`;
		const { check_runs } = (await peer.api<{ check_runs: Record<string, unknown>[] }>("GET", path)).data;
		assert.equal(
			check_runs.map(({ name, conclusion }) => [name, conclusion]),
			[["layers", "failure"]],
		);
		const comments = (await peer.api<{ body: string }[]>("GET", `/issues/${number}/comments`)).data;
		assert.is(comments.length, 1);
		assert.match(comments[0]?.body ?? "", "### 2 things to correct in this change");
		assert.not.match(comments[0]?.body ?? "", "@maps/all");
	} finally {
		await peer.close();
	}
});

test("a review that cannot be made fails, and leaves no report behind", async () => {
	const cwd = origin.checkout();
	const env = { HEAD: "1".repeat(40), GITHUB_STEP_SUMMARY: join(cwd, "summary.md") };
	assert.ok((await runJob(cwd, commands("layers", "look"), env)).status !== 0);
	assert.not.ok(existsSync(join(cwd, "report.json")));
});

test.run();
