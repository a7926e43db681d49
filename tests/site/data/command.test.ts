import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { filesBelow } from "../../../store/files/files.ts";
import { manual, wms } from "../../helpers/handlers.ts";
import { prints, runScript, warns } from "../../helpers/process.ts";
import { sharedSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";

const test = sharedSuite("the catalogue of a build", async (use) => {
	const { path } = use(await temporaryFolder());
	writeFiles(path, {
		"layers/23/23ax5t.json": manual,
		"layers/ab/abc.json": wms("rivers"),
		"layers/owners.json": '{"operators":["@org/all"],"layers":{"ab*":["@org/ab"]}}',
		"layers/health.json": '{"sick":{"abc":{"state":"down","since":"2026-W09"}}}',
	});
	return { folder: path, out: join(path, "out") };
});

const build = (folder: string, out: string) =>
	runScript("build", ["--layers", join(folder, "layers"), "--out", out]);

test("a broken registration and a foreign folder are refused, and nothing is written", async ({ folder }) => {
	const out = join(folder, "foreign");
	writeFiles(folder, { "layers/ab/abd.json": "{}" });
	await warns(build(folder, out), 1, /layers\/ab\/abd\.json: .*is missing/);
	writeFiles(folder, { "layers/ab/abd.json": null, "foreign/thesis.txt": "mine" });
	await warns(build(folder, out), 2, /thesis\.txt is from no build/);
	assert.equal(filesBelow(out), ["thesis.txt"]);
});

test("a build writes the page, the index, the list and every fragment, and nothing again that is the same", async ({
	folder,
	out,
}) => {
	await prints(build(folder, out), 0, /^2 layers in the catalogue: \d+ files written, 0 removed$/m);
	const names = new Set(filesBelow(out));
	for (const path of [
		...["index.html", "en/index.html", "list/index.html", "list/fr/index.html", "en/layer/23ax5t.html"],
		...["fr/layer/abc.html", "records/index.json", "robots.txt", "site.json", "schemas/openapi.json"],
		...["schemas/registration.schema.json", "schemas/index.html", "v0.9/doc/en/23ax5t", "ramp4/fr/abc"],
	])
		assert.ok(names.has(path), path);
	const read = (path: string) => readFile(join(out, path), "utf8");
	assert.is(JSON.parse(await read("index/health.json")).groups[0].owner, "@org/ab");
	assert.is(JSON.parse(await read("index/index.json")).layers, 2);
	const linked = [...(await read("schemas/index.html")).matchAll(/href="([^"/#]+\.json)"/g)];
	assert.ok(linked.length > 5);
	for (const [, name] of linked) assert.ok(names.has(`schemas/${name}`), name);
});

test.run();
