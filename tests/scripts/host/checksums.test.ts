import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { exits, runScript } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { temporaryFolder } from "../../helpers/world.ts";

test("a build says the hash of each of its files where it is asked to, and never a former one", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	const out = join(path, "dist");
	const manifest = join(out, "manifest.json");
	const words = ["--layers", "tests/fixtures/layers", "--out", out];
	await exits(runScript("build", [...words, "--manifest"]), 0);
	const text = await readFile(manifest, "utf8");
	const { files } = JSON.parse(text) as { files: Record<string, string> };
	const paths = Object.keys(files);
	assert.equal(paths, [...paths].sort());
	assert.ok(paths.includes("_headers") && paths.some((one) => one.startsWith("v0.9/doc/fr/")));
	assert.not.ok(paths.includes("manifest.json"));
	for (const name of ["_headers", paths.at(-1) as string]) {
		const bytes = await readFile(join(out, name));
		assert.is(files[name], createHash("sha256").update(bytes).digest("hex"), name);
	}
	await exits(runScript("build", [...words, "--manifest"]), 0);
	assert.is(await readFile(manifest, "utf8"), text, "the same files give the same bytes");
	await exits(runScript("build", words), 0);
	assert.is(await stat(manifest).catch(() => null), null);
});

test.run();
