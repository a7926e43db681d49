import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { buildWorker, sizeLine, workerParts } from "../../hosting/bundle.ts";
import { temporaryFolder } from "../local.ts";

const test = suite<{ path: string; remove: () => Promise<void> }>("bundle");

test.before.each(async (scene) => {
	const folder = await temporaryFolder();
	scene.path = join(folder.path, "worker.js");
	scene.remove = folder.remove;
});
test.after.each(async (scene) => scene.remove());

test("the worker is within its limits: 5 kB for reads alone, 84 kB in all, after gzip", async ({ path }) => {
	const [reads, whole] = await buildWorker(path);
	assert.ok(reads && reads.gzip <= 5_000, reads && sizeLine(reads));
	assert.ok(whole && whole.gzip <= 84_000, whole && sizeLine(whole));
	const bytes = await readFile(path);
	assert.is(bytes.length, whole?.raw);
	assert.is(gzipSync(bytes, { level: 9 }).length, whole?.gzip);
});

test("validators are compiled ahead: nothing in the bundle makes code from text, or asks for Node", async ({
	path,
}) => {
	await buildWorker(path);
	const text = await readFile(path, "utf8");
	assert.not.match(text, /new Function|\beval\(|from\s*"node:|require\("node:/);
	assert.match(text, /payload_type/);
});

test("of GitHub's routes the bundle has those that the store uses, and no others", async ({ path }) => {
	await buildWorker(path);
	const text = await readFile(path, "utf8");
	const routes = ["createInstallationAccessToken", "createTree", "updateRef", "getContent", "listCommits"];
	for (const route of routes) assert.match(text, `${route}:["`);
	assert.not.match(text, 'createTag:["');
});

test("a part over its limit is an error, and no bundle is written", async ({ path }) => {
	const parts = workerParts.map((part) => ({ ...part, limit: 100 }));
	const error = await buildWorker(path, parts).then(
		() => null,
		(failure: Error) => failure.message,
	);
	assert.match(
		error ?? "",
		/the read path alone: .* \(limit 100\): too large\nthe whole worker: .*: too large/,
	);
	assert.ok(
		await access(path).then(
			() => false,
			() => true,
		),
		"nothing is written",
	);
});

test.run();
