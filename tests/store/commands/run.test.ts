import * as assert from "uvu/assert";
import { runGit, withQuarantine } from "../../../store/git/commands/run.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder } from "../../helpers/world.ts";

async function environmentOfGit(): Promise<Map<string, string>> {
	await using folder = await temporaryFolder();
	// An alias with ! in front is run by a shell, with git's own environment.
	const output = await runGit(folder.path, ["-c", "alias.environment=!env", "environment"]);
	const lines = output.toString("utf8").split("\n").filter(Boolean);
	return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

test("git gets no secret, nothing of its surroundings, and in a hook alone what is pushed", async () => {
	const quarantine = {
		GIT_QUARANTINE_PATH: "/quarantine",
		GIT_OBJECT_DIRECTORY: "/quarantine",
		GIT_ALTERNATE_OBJECT_DIRECTORIES: "/objects",
	};
	const others = ["SENDERS", "GITHUB_TOKEN", "HOME", "GIT_DIR", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS"];
	const foreign = [...others, ...Object.keys(quarantine)];
	for (const name of foreign) process.env[name] = "/secret";
	const [pushed, plain] = await Promise.all([
		withQuarantine(quarantine, environmentOfGit),
		environmentOfGit(),
	]);
	for (const variables of [pushed, plain]) {
		const text = [...variables].join("\n");
		assert.not.match(text, /secret|HOME/);
		for (const variable of ["CONFIG_NOSYSTEM,1", "CONFIG_GLOBAL,/dev/null", "NO_REPLACE_OBJECTS,1"])
			assert.match(text, `GIT_${variable}`);
	}
	for (const [name, value] of Object.entries(quarantine)) {
		assert.is(pushed.get(name), value);
		assert.not.ok(plain.has(name));
	}
});

test.run();
