import * as assert from "uvu/assert";
import { runGit } from "../../../store/git/commands/run.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder } from "../../helpers/world.ts";

/** The environment that a process of git's sees, by name. */
async function seen(): Promise<Map<string, string>> {
	await using folder = await temporaryFolder();
	const { path } = folder;
	// An alias with ! in front is run by a shell, with git's own environment.
	const output = await runGit(path, ["-c", "alias.environment=!env", "environment"]);
	const lines = output.toString("utf8").split("\n").filter(Boolean);
	return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

test("git gets no secret, and nothing of the configuration of machine and user", async () => {
	const before = { ...process.env };
	Object.assign(process.env, {
		SENDERS: '{"a":"secret"}',
		GITHUB_TOKEN: "secret",
		HOME: "/home/secret",
		GIT_DIR: "/secret",
		GIT_OBJECT_DIRECTORY: "/secret",
		GIT_CONFIG_COUNT: "0",
	});
	try {
		const found = await seen();
		assert.not.match([...found].join("\n"), /secret/);
		assert.is(found.get("GIT_CONFIG_NOSYSTEM"), "1");
		assert.is(found.get("GIT_CONFIG_GLOBAL"), "/dev/null");
		assert.is(found.get("GIT_NO_REPLACE_OBJECTS"), "1");
		assert.not.ok(found.has("HOME"));
	} finally {
		for (const name of Object.keys(process.env)) delete process.env[name];
		Object.assign(process.env, before);
	}
});

test("a hook's git sees what is pushed, and nothing else of its parent's", async () => {
	const pushed = {
		GIT_QUARANTINE_PATH: "/quarantine",
		GIT_OBJECT_DIRECTORY: "/quarantine",
		GIT_ALTERNATE_OBJECT_DIRECTORIES: "/objects",
	};
	const environment = { ...pushed, GIT_DIR: "/elsewhere", GIT_PUSH_OPTION_COUNT: "1" };
	Object.assign(process.env, environment);
	try {
		const found = await seen();
		for (const [name, value] of Object.entries(pushed)) assert.is(found.get(name), value);
		assert.not.ok(found.has("GIT_PUSH_OPTION_COUNT"));
		assert.is.not(found.get("GIT_DIR"), "/elsewhere");
	} finally {
		for (const name of Object.keys(environment)) delete process.env[name];
	}
});

test.run();
