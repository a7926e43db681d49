import { readFile } from "node:fs/promises";
import { join } from "node:path";
import glob from "fast-glob";
import ignore from "ignore";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "../process.ts";

const dockerfile = await readFile(join(root, "deploy/Dockerfile"), "utf8");
const ignored = ignore().add(await readFile(join(root, ".dockerignore"), "utf8"));

/** What the image is made of: the first words of COPY. */
const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, words]) =>
	(words as string).split(" "),
);

test("what the image copies enters its build, and nothing that is secret, large or not needed", () => {
	assert.ok(copied.includes("scripts"));
	for (const name of copied) assert.not.ok(ignored.ignores(name), name);
	for (const name of [
		".env",
		".git/config",
		".data/senders.json",
		"node_modules/tsx/package.json",
		"scripts/node_modules/x",
		"dist/v0.9/doc/en/a",
		"tests/local.ts",
		"bench/run.ts",
	]) {
		assert.ok(ignored.ignores(name), name);
	}
});

test("every room that the service's sources import from is in the image", async () => {
	const sources = await glob(["{registry,api,schemas,harvest,scripts,site}/**/*.ts"], { cwd: root });
	for (const file of sources) {
		const text = await readFile(join(root, file), "utf8");
		for (const [, name] of text.matchAll(/\bfrom "(\.\.?\/[^"]+)"/g)) {
			const room = join(file, "..", name as string).split("/")[0] as string;
			assert.ok(copied.includes(room), `${file} imports ${name}`);
		}
	}
});

test.run();
