import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { parseReport } from "../../../extensions/review/report.ts";
import { test } from "../../helpers/suite.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { nowhere, wmsFile } from "./repository.ts";

const origin = new Origin();
test.after(() => origin.remove());

test("code that a pull request brings is read and never run", async () => {
	const pwned = join(origin.folder, "pwned");
	const evil = `require("node:fs").writeFileSync(${JSON.stringify(pwned)}, "")`;
	const files = {
		"extensions/review/commands/review.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(pwned)}, "");\n`,
		"package.json": JSON.stringify({
			scripts: { review: `node -e '${evil}'`, preinstall: `node -e '${evil}'` },
		}),
		".npmrc": `node-options=--eval=${evil}`,
		".gitattributes": "* filter=evil diff=evil",
		".github/workflows/layers.yml": "on: push",
		"layers/ne/new.json": wmsFile("a", nowhere),
	};
	const HEAD = origin.propose(1, files);
	const cwd = origin.checkout();
	const env = { HEAD, NUMBER: "1", GITHUB_STEP_SUMMARY: join(cwd, "summary.md") };
	const { status, output } = await runJob(cwd, commands("layers", "look"), env, true);
	const report = parseReport(readFileSync(join(cwd, "review-1.json"), "utf8"));
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
