import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { filesStamp, keepFile } from "../../files/cache.ts";
import { temporaryFolder } from "../local.ts";

const test = suite<{ folder: string; remove: () => Promise<void> }>("what is only kept to be quicker");

test.before.each(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.folder = path;
	scene.remove = remove;
});
test.after.each(({ remove }) => remove());

test("a stamp changes with the name and the content of each file, and with nothing else", async ({
	folder,
}) => {
	const stamp = () => filesStamp(["a/**/*.ts", "one.json"], folder);
	const at = (path: string) => join(folder, path);
	await mkdir(at("a/b"), { recursive: true });
	for (const path of ["a/1.ts", "a/b/2.ts", "one.json", "other.json"]) await writeFile(at(path), path);
	const first = await stamp();
	assert.match(first, /^[0-9a-f]{64}$/);
	const seen = new Set([first]);
	const differs = async (what: string) => {
		const now = await stamp();
		assert.not.ok(seen.has(now), what);
		seen.add(now);
	};
	await writeFile(at("a/b/2.ts"), "other");
	await differs("other content");
	await writeFile(at("one.json"), "other");
	await differs("other content of a single file");
	await rename(at("a/b/2.ts"), at("a/b/3.ts"));
	await differs("another name");
	await writeFile(at("a/b/4.ts"), "");
	await differs("one more");
	await rm(at("a/b/4.ts"));
	await rename(at("a/b/3.ts"), at("a/b/2.ts"));
	await writeFile(at("a/b/2.ts"), "a/b/2.ts");
	await writeFile(at("one.json"), "one.json");
	await writeFile(at("other.json"), "not covered");
	assert.is(await stamp(), first);
});

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
