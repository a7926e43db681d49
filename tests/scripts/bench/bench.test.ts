import { execFile } from "node:child_process";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runScript, runScriptProcess, warns } from "../../process.ts";
import { temporaryFolder } from "../../world.ts";

test("a row that cannot be measured ends the bench with its reason", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	// Without wrk, the client of the row.
	const { stdout } = await promisify(execFile)("which", ["git"]);
	await symlink(stdout.trim(), join(path, "git"));
	const words = ["--layers", "20", "--rounds", "1", "--only", "doc"];
	await warns(runScriptProcess("bench", words, { PATH: path }), 2, "wrk is not installed");
});

test("an unknown row and a bad number are refused", async () => {
	await warns(runScript("bench", ["--only", "none"]), 2, /--only: none is no row/);
	const bad = await runScript("bench", ["--rounds", "0"]);
	assert.match(bad.stderr, /--rounds <n>. argument .0. is invalid\. It must be a whole number from 1/);
});

test.run();
