import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { filesBelow } from "../../system/files/below.ts";
import { manual, wms } from "../helpers/local.ts";
import { runScript } from "../helpers/process.ts";
import { freshSuite, gitIn, temporaryFolder, writeFiles } from "../helpers/world.ts";

const test = freshSuite("the catalogue of a build", async (use) => {
	const { path } = use(await temporaryFolder());
	writeFiles(path, {
		"layers/23/23ax5t.json": manual,
		"layers/ab/abc.json": wms("rivers"),
		"layers/owners.json": '{"operators":["@org/all"],"layers":{"ab*":["@org/ab"]}}',
		"layers/health.json": '{"sick":{"abc":{"state":"down","since":"2026-W09"}}}',
	});
	return { folder: path };
});

async function build(words: string[], env: Record<string, string> = {}) {
	const { code, stdout, stderr } = await runScript("build", words, env);
	return { code, output: stdout + stderr };
}

test("writes the page, the index, the list and every fragment, and nothing again that is the same", async ({
	folder,
}) => {
	const out = join(folder, "out");
	const words = ["--layers", join(folder, "layers"), "--out", out];
	const first = await build(words);
	assert.is(first.code, 0, first.output);
	assert.match(first.output, /^2 layers in the catalogue: \d+ files written, 0 removed$/m);
	for (const path of [
		"index.html",
		"en/index.html",
		"list/index.html",
		"list/fr/index.html",
		"en/layer/23ax5t.html",
		"fr/layer/abc.html",
		"records/index.json",
		"robots.txt",
		"site.json",
		"schemas/registration.schema.json",
		"schemas/openapi.json",
		"schemas/index.html",
		"v0.9/doc/en/23ax5t",
		"ramp4/fr/abc",
	])
		assert.ok((await readFile(join(out, path))).length > 0, path);
	const report = JSON.parse(await readFile(join(out, "index/health.json"), "utf8"));
	assert.is(report.groups[0].owner, "@org/ab");
	assert.is(JSON.parse(await readFile(join(out, "index/index.json"), "utf8")).layers, 2);
	assert.match((await build(words)).output, /^2 layers in the catalogue: 0 files written, 0 removed$/m);
	await rm(join(folder, "layers/ab/abc.json"));
	assert.is((await build(words)).code, 0);
	assert.not.ok(filesBelow(out).some((path) => path.endsWith("/abc")));
});

test("takes commits for dates and changes from a repository", async ({ folder }) => {
	const git = gitIn(folder);
	await git("init", "-q", "-b", "main");
	await git("add", "layers");
	await git("commit", "-q", "-m", "one");
	const commit = await git("rev-parse", "HEAD");
	const out = join(folder, "out");
	const { code, output } = await build(["--repo", folder, "--out", out], {
		PUBLIC_URL: "https://layers.example.ca/x",
	});
	assert.is(code, 0, output);
	assert.is(JSON.parse(await readFile(join(out, "changes/index.json"), "utf8")).commit, commit);
	assert.match(
		await readFile(join(out, "changes/feed.xml"), "utf8"),
		/href="https:\/\/layers\.example\.ca\/x\/en\/\?layer=abc"/,
	);
});

test("a broken registration and a foreign folder are refused, and nothing is written", async ({ folder }) => {
	const out = join(folder, "out");
	writeFiles(folder, { "layers/ab/abd.json": "{}" });
	const broken = await build(["--layers", join(folder, "layers"), "--out", out]);
	assert.is(broken.code, 1);
	assert.match(broken.output, /layers\/ab\/abd\.json: .*is missing/);
	await rm(join(folder, "layers/ab/abd.json"));
	writeFiles(folder, { "out/thesis.txt": "mine" });
	const foreign = await build(["--layers", join(folder, "layers"), "--out", out]);
	assert.is(foreign.code, 2);
	assert.match(foreign.output, /thesis\.txt is from no build/);
	assert.equal(filesBelow(out), ["thesis.txt"]);
});

test("links the interface's page to files that exist", async ({ folder }) => {
	const out = join(folder, "out");
	const { code, output } = await build(["--layers", join(folder, "layers"), "--out", out]);
	assert.is(code, 0, output);
	const page = await readFile(join(out, "schemas/index.html"), "utf8");
	const linked = new Set([...page.matchAll(/href="([^"/#]+\.json)"/g)].map(([, name]) => name as string));
	const files = new Set(await readdir(join(out, "schemas")));
	assert.ok(linked.has("receipt.schema.json"));
	assert.ok(linked.has("openapi.json"));
	const others = [...linked].filter((name) => !files.has(name));
	assert.equal(others, []);
});

test.run();
