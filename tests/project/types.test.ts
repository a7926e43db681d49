import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cleanEnvironment, root } from "../process.ts";

test("the types of all sources fit", async () => {
	const options = { cwd: root, env: cleanEnvironment({}) };
	const words = ["--no-install", "tsc", "--pretty", "false"];
	const { stdout } = await promisify(execFile)("npx", words, options).catch((error) => error);
	assert.is(stdout, "");
});

test.run();
