import { tmpdir } from "node:os";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { temporaryParent } from "../../../scripts/test/memory-folder.ts";

const test = suite("where tests have their temporary files");

test("the folder that TMPDIR names comes first", () => {
	assert.is(temporaryParent({ TMPDIR: "/named" }), "/named");
});

test("a folder that is not there, or not in memory, is not taken", () => {
	assert.is(temporaryParent({}, "/no/such/folder"), tmpdir());
	assert.is(temporaryParent({}, "/proc"), tmpdir());
});

test.run();
