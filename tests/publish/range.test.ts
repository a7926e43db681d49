import { test } from "uvu";
import * as assert from "uvu/assert";
import { type RenderedRange, takeReport } from "../../publish/range.ts";

/** More than one call takes as arguments, whatever the stack holds otherwise. */
const many = 300_000;

test("a process may name 300,000 layers at once", () => {
	const rendered: RenderedRange = { changes: new Map(), problems: [], wrong: ["before"], registered: [] };
	const smallkeys = Array.from({ length: many }, (_, index) => `key-${index}`);
	const problems = smallkeys.map((smallkey) => ({ file: `layers/${smallkey}.json`, text: "must be JSON" }));
	const lists = { gone: smallkeys, problems, wrong: smallkeys, registered: smallkeys };
	takeReport({ layers: [], bytes: new Uint8Array(), isLast: true, ...lists }, rendered);
	assert.is(rendered.changes.size, many);
	assert.equal(rendered.problems.slice(-1), problems.slice(-1));
	assert.is(rendered.wrong.length, many + 1);
	assert.is(rendered.registered.length, many);
});

test.run();
