import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { placeFile, removeTemporaryFiles } from "../../publish/place-file.mjs";
import { folderSuite } from "../helpers/world.ts";

const test = folderSuite("the place of a file");

test("a file comes to its place with its compressed copies, and is not written again where it is the same", async ({
	folder,
}) => {
	const out = join(folder, "out");
	mkdirSync(out);
	const place = (text: string | null) =>
		placeFile(out, "one", text === null ? null : Buffer.from(text), {
			copies: (bytes) => [[".gz", Buffer.from(`${Buffer.from(bytes)} compressed`)]],
		});
	const read = (name: string) => readFileSync(join(out, name), "utf8");
	assert.is(place("first"), "added");
	const { ino } = statSync(join(out, "one"));
	assert.is(place("first"), "same");
	assert.is(statSync(join(out, "one")).ino, ino);
	writeFileSync(join(out, "one.br"), "of the first");
	assert.is(place("other"), "changed");
	assert.is.not(statSync(join(out, "one")).ino, ino, "readers of the old file have it whole");
	assert.equal(readdirSync(out), ["one", "one.gz"]);
	assert.equal([read("one"), read("one.gz")], ["other", "other compressed"]);
	assert.is(place(null), "removed");
	assert.is(place(null), "absent");
	assert.equal([readdirSync(out), readdirSync(folder)], [[], ["out"]]);
});

test("where a file cannot take its place, what was there stays, and nothing is left beside it", async ({
	folder,
}) => {
	const out = join(folder, "out");
	mkdirSync(join(out, "taken/below"), { recursive: true });
	assert.throws(() => placeFile(out, "taken", Buffer.from("text")), /EISDIR/);
	assert.throws(() => placeFile(out, "none/one", Buffer.from("text")), /ENOENT/);
	assert.equal([readdirSync(join(out, "taken")), readdirSync(folder)], [["below"], ["out"]]);
	for (const name of [".out.7.1.tmp", ".out-other.7.1.tmp"]) writeFileSync(join(folder, name), "half");
	removeTemporaryFiles(out);
	assert.equal(readdirSync(folder).sort(), [".out-other.7.1.tmp", "out"]);
});

test.run();
