import { appendFile, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readManifest, rendererStamp, writeManifest } from "../../publish/manifest.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { temporaryFolder } from "../local.ts";
import { root } from "../process.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };

/** Every module of the project that the renderer reaches, as esbuild finds it. */
async function reachedModules(): Promise<string[]> {
	const { metafile } = await build({
		absWorkingDir: root,
		entryPoints: ["registry/targets/table.ts", "registry/judge.ts"],
		bundle: true,
		write: false,
		metafile: true,
		format: "esm",
		platform: "neutral",
		mainFields: ["main"],
		outdir: "unused",
		logLevel: "silent",
	});
	return Object.keys(metafile.inputs).filter((path) => !path.startsWith("node_modules/"));
}

test("the renderer's stamp changes with every module that the renderer reaches", async () => {
	const folder = await temporaryFolder();
	try {
		for (const name of ["registry", "schemas", "package.json"]) {
			await cp(join(root, name), join(folder.path, name), { recursive: true });
		}
		const modules = await reachedModules();
		assert.ok(modules.includes("registry/symbology.ts") && modules.length > 5, modules.join(" "));
		const stamps = [rendererStamp(settings, folder.path)];
		assert.is(stamps[0], rendererStamp(settings));
		for (const path of [...modules, "package.json"]) {
			await appendFile(join(folder.path, path), "\n");
			stamps.push(rendererStamp(settings, folder.path));
		}
		assert.is(new Set(stamps).size, stamps.length);
	} finally {
		await folder.remove();
	}
});

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

test("a manifest that is not there, or was cut off, is none; one that cannot be read is a fault", async () => {
	const folder = await temporaryFolder();
	const out = join(folder.path, "dist");
	const path = `${out}.manifest`;
	try {
		assert.is(readManifest(out), null);
		const manifest = { renderer: "r", commit: "c", fragments: 0 };
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
	} finally {
		await folder.remove();
	}
});

test.run();
