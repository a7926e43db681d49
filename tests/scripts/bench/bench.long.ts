import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Measured } from "../../../scripts/bench/measure/row.ts";
import { exits, runScript } from "../../process.ts";
import { temporaryFolder } from "../../world.ts";

test("npx fragment-publisher bench measures rows against their references, and writes the page, with tiny sizes", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	const rows = ["build-full", "put-alone"];
	const page = join(path, "speed.md");
	const words = ["--layers", "20", "--rounds", "1", "--json", "--only", rows.join(","), "--page", page];
	const { stdout } = await exits(runScript("bench", words), 0);
	const printed = JSON.parse(stdout) as { rounds: number; rows: Measured[] };
	assert.equal(
		printed.rows.map(({ name, layers }) => `${name} ${layers}`),
		rows.map((name) => `${name} 20`),
	);
	for (const { name, ours, reference, ratio } of printed.rows) {
		assert.ok(ours.min <= ours.median && ours.median <= ours.max, name);
		assert.ok(ours.min > 0 && reference.min > 0 && ratio, name);
	}
	const text = await readFile(page, "utf8");
	assert.match(text, /^\| row \| what \| reference \| 20 layers: /m);
	for (const name of rows) assert.match(text, new RegExp(`^\\| \`${name}\` (?:\\|[^|]+){4}\\|$`, "m"));
});

test.run();
