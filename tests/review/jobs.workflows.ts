import { readFileSync } from "node:fs";
import { join } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { test } from "../helpers/suite.ts";
import { Repository } from "../helpers/world.ts";
import { commands, jobsOf, runJob } from "./origin.ts";
import { ownersFile, wmsFile } from "./repository.ts";

/** Where the commands of each job are run, beside this file; of two jobs with the same commands one is enough. */
const elsewhere: Record<string, string> = {
	"check: test": "CI itself",
	"layers: find": "pull-request.long.ts",
	"layers: look": "workflow.test.ts",
	"layers: compose": "pull-request.long.ts",
	"layers: report": "pull-request.long.ts",
	"layers: judge": "pull-request.long.ts",
	"layers: approvals": "pull-request.long.ts",
	"publish: build": "publish.test.ts, publication.test.ts",
	"publish: publish": "publication.test.ts, and tests/scripts/host for Workers",
	"publish: verify": "publication.test.ts",
	"publish: validate": "publish.test.ts",
	"publish: harvest": "publish.test.ts",
	"publish: judge": "publish.test.ts",
	"publish: describe": "publish.test.ts",
	"publish: tell": "publish.test.ts",
	"publish: pictures": "repairs.test.ts",
	"prove: prove": "tests/scripts/host/prove/prove.test.ts",
	"prove: keep": "repairs.test.ts",
	"prove: tell": "as publish: tell",
	"packages: packages": "npm's own",
	"refresh: pulls": "repair-to-merged.long.ts",
	"refresh: harvest": "refresh.test.ts, tests/faults/repair-job.fault.ts",
	"refresh: judge": "refresh.test.ts, repairs.test.ts",
	"refresh: propose": "refresh.test.ts",
	"refresh: repair": "repairs.test.ts, repair-to-merged.long.ts",
	"refresh: tell": "as publish: tell",
	"release: release": "its build in tests/scripts/host/checksums.test.ts; the rest is GitHub's own",
	"release: attest": "GitHub's own",
};

const here = ["pull-request: trigger", "check: changes", "check: check"];

test("some test runs the commands of every job", async () => {
	const workflows = await glob("*.yml", { cwd: ".github/workflows" });
	const all = workflows.flatMap((file) => {
		const name = file.replace(".yml", "");
		return jobsOf(name).map((job) => `${name}: ${job}`);
	});
	assert.equal(all.sort(), [...Object.keys(elsewhere), ...here].sort());
});

test("the trigger does nothing; check fails unless every version of Node passed, or no code changed", async () => {
	assert.is((await runJob(".", commands("pull-request", "trigger"), {})).status, 0);
	for (const [result, status] of [
		["success", 0],
		["failure", 1],
		["cancelled", 1],
		["skipped", 1],
	] as const)
		assert.is(
			(await runJob(".", commands("check", "check"), { RESULT: result, CODE: "true" })).status,
			status,
		);
	const env = { RESULT: "skipped", CODE: "false" };
	assert.is((await runJob(".", commands("check", "check"), env)).status, 0);
});

test("a pull request that changes only layers is no code; one that changes anything else is", async () => {
	using repository = new Repository({ "layers/owners.json": ownersFile, "README.md": "x" });
	const isCode = async (files: Record<string, string>) => {
		repository.propose(files);
		repository.git("checkout", "-q", "--detach", "main");
		repository.git("merge", "-q", "--no-ff", "--no-edit", "head");
		const output = join(repository.path, ".git", `output-${Object.keys(files).length}`);
		const ended = await runJob(repository.path, commands("check", "changes"), {
			GITHUB_OUTPUT: output,
		});
		assert.is(ended.status, 0, ended.output);
		repository.git("checkout", "-q", "main");
		return readFileSync(output, "utf8");
	};
	assert.is(await isCode({ "layers/aa/aaa.json": wmsFile("a") }), "code=false\n");
	assert.is(await isCode({ "layers/aa/aaa.json": wmsFile("a"), "layers.md": "x" }), "code=true\n");
});

test.run();
