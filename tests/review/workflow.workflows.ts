import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { parseReport } from "../../review/report.ts";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import type { Files } from "../helpers/world.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { nowhere, wmsFile } from "./repository.ts";

const origin = new Origin();
test.after(() => origin.remove());

/** The review of a pull request by the workflow `layers`: its report, and the summary on the run's page. */
async function check(number: number, files: Files, fromCheckout = false) {
	const HEAD = origin.propose(number, files);
	const cwd = origin.checkout();
	const summary = join(cwd, "summary.md");
	const env = { HEAD, NUMBER: "1", GITHUB_STEP_SUMMARY: summary };
	const ended = await runJob(cwd, commands("layers", "look"), env, fromCheckout);
	const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");
	const report = parseReport(read(join(cwd, "review-1.json")));
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

test("the check of a wrong pull request fails, with the place as an annotation", async () => {
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
	const files = {
		"scripts/review.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(pwned)}, "");\n`,
		"package.json": JSON.stringify({
			scripts: { review: `node -e '${evil}'`, preinstall: `node -e '${evil}'` },
		}),
		".npmrc": `node-options=--eval=${evil}`,
		".gitattributes": "* filter=evil diff=evil",
		".github/workflows/layers.yml": "on: push",
		"layers/ne/new.json": wmsFile("a", nowhere),
	};
	const { status, output, report, cwd } = await check(3, files, true);
	assert.is(status, 0, output);
	assert.is(report.conclusion, "failure", "the registered address is not of the public internet");
	assert.match(output, "approval of @fragment-publisher/operators for 5 files");
	assert.not.ok(existsSync(pwned));
	assert.not.match(readFileSync(join(cwd, "package.json"), "utf8"), "preinstall");
});

test("a review that cannot be made fails, and leaves no report behind", async () => {
	const cwd = origin.checkout();
	const env = { HEAD: "1".repeat(40), NUMBER: "1", GITHUB_STEP_SUMMARY: join(cwd, "summary.md") };
	assert.ok((await runJob(cwd, commands("layers", "look"), env)).status !== 0);
	assert.not.ok(existsSync(join(cwd, "review-1.json")));
});

test.run();
