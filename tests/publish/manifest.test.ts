import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { readManifest, writeManifest } from "../../publish/build.ts";
import { rendererStamp } from "../../publish/rendered.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };

test("the stamp changes with the settings that fragments show", () => {
	const others = [{ metadataUrl: "https://host.example/{0}" }, { catalogueUrl: "https://host.example/{0}" }];
	const more: Partial<FragmentSettings>[] = [
		{},
		...others,
		{ mapWkid: 3857 },
		{ mapServerType: "esriFeature" },
		{ targets: ["v2"] },
	];
	const stamps = more.map((other) => rendererStamp({ ...settings, ...other }));
	assert.is(new Set(stamps).size, 6);
});

test("a missing or incomplete manifest counts as none; one that cannot be read is an error", async () => {
	await using folder = await temporaryFolder();
	const out = join(folder.path, "dist");
	const path = `${out}.manifest`;
	assert.is(readManifest(out), null);
	const manifest = { renderer: "r", commit: "c", fragments: 0, wrong: [] };
	await mkdir(out);
	writeManifest(out, manifest);
	assert.is(readManifest(out)?.commit, "c");
	for (const text of ['{"renderer":', "null", ""]) {
		await writeFile(path, text);
		assert.is(readManifest(out), null, text);
	}
	await rm(path);
	await mkdir(path);
	assert.throws(() => readManifest(out), `${path}: cannot be read`);
});

test.run();
