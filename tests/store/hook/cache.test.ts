import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { keepFile } from "../../../store/hook/bundle.ts";
import { temporaryFolder } from "../../local.ts";

const test = suite<{ folder: string; remove: () => Promise<void> }>("what is only kept to be quicker");

test.before.each(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.folder = path;
	scene.remove = remove;
});
test.after.each(({ remove }) => remove());

test("a file is kept whole, below folders that are made, and another takes its place", async ({ folder }) => {
	const path = join(folder, "cache/own/file");
	await keepFile(path, "one");
	await keepFile(path, "two");
	assert.is(await readFile(path, "utf8"), "two");
	assert.equal(await readdir(join(folder, "cache/own")), ["file"]);
});

test("where nothing can be kept, nothing is said", async ({ folder }) => {
	await writeFile(join(folder, "in-the-way"), "");
	await keepFile(join(folder, "in-the-way/file"), "one");
	assert.equal(await readdir(folder), ["in-the-way"]);
});

test.run();
