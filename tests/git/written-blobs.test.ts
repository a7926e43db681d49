import { test } from "uvu";
import * as assert from "uvu/assert";
import { WrittenBlobs } from "../../git/written-blobs.ts";

test("the last files that were written are known, and no more than so many", () => {
	const written = new WrittenBlobs(2);
	for (const id of ["a", "b", "a", "c"]) written.note(id);
	assert.equal(
		["a", "b", "c"].map((id) => written.has(id)),
		[true, false, true],
	);
});

test.run();
