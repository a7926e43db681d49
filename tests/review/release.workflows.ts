import { spawnSync } from "node:child_process";
import * as assert from "uvu/assert";
import { cleanEnvironment } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { Repository } from "../helpers/world.ts";
import { command } from "./origin.ts";

test("only a version on the default branch is attested, whatever commit its tag is on", () => {
	const run = command("release", "release", "Refuse a commit that the default branch does not have");
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
