import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

const text = await readFile(join(root, "SECURITY.md"), "utf8");

/** The lines of the list, each with the attack, the defence and its tests. */
const [defended = ""] = text.split("## What an unsigned request costs");
const lines = defended.match(/^- .*$/gm) ?? [];
const rows = lines.map((line) => /^- \*\*([^*]+)\*\*: (.+) \(([^()]+)\)$/.exec(line) ?? [line, line]);

test("each defence names the tests that show it, and each of them is there", async () => {
	assert.ok(rows.length >= 15);
	for (const [, threat = "", , tests = ""] of rows) {
		const names = tests.split(", ").map((name) => /^`(tests\/[\w/.-]+\.(?:test|long)\.ts)`$/.exec(name)?.[1]);
		for (const name of names) {
			assert.ok(name, `${threat}: ${tests}`);
			assert.ok((await stat(join(root, name))).isFile(), name);
		}
	}
});

test("it says how to report, and what is not defended", () => {
	assert.match(text, "Report a vulnerability");
	const [, open = ""] = text.split("## What is not defended");
	assert.ok([...open.matchAll(/^- /gm)].length >= 5);
});

test.run();
