import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Measured } from "../../bench/measure/row.ts";
import { runScript } from "../process.ts";

test("npx fragments bench measures rows against their references, with tiny sizes", async () => {
	const rows = ["build-full", "put-visible"];
	const words = ["--layers", "20", "--rounds", "1", "--json", "--only", rows.join(",")];
	const { code, stdout, stderr } = await runScript("bench", words);
	assert.is(code, 0, stderr);
	const printed = JSON.parse(stdout) as { layers: number; rounds: number; rows: Measured[] };
	assert.is(printed.layers, 20);
	assert.equal(
		printed.rows.map(({ name }) => name),
		rows,
	);
	for (const { name, ours, reference, ratio } of printed.rows) {
		assert.ok(ours.min <= ours.median && ours.median <= ours.max, name);
		if (name === "put-visible") assert.equal([ours.max, ratio], [0, null]);
		else assert.ok(ours.min > 0 && reference.min > 0 && ratio, name);
	}
});

test("an unknown row and a bad number are refused", async () => {
	const unknown = await runScript("bench", ["--only", "none"]);
	assert.is(unknown.code, 2);
	assert.match(unknown.stderr, /--only: none is no row/);
	const bad = await runScript("bench", ["--rounds", "0"]);
	assert.match(bad.stderr, /--rounds <n>. argument .0. is invalid\. It must be a whole number from 1/);
});

test.run();
