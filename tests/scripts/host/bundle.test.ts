import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { buildWorker, bundle } from "../../../scripts/host/bundle.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";

const test = freshSuite("bundle", async (use) => ({
	path: join(use(await temporaryFolder()).path, "worker.js"),
}));

test("the worker is within its limits: 5 kB for reads alone, 100 kB in all, after gzip", async () => {
	for (const [entry, limit] of [
		["api/worker/reads.ts", 5_000],
		["api/worker/worker.ts", 100_000],
	] as const) {
		const { length } = gzipSync(await bundle(entry), { level: 9 });
		assert.ok(length <= limit, `${entry}: ${length} bytes`);
	}
});

test("the bundle makes no code from text, and asks for nothing of Node", async ({ path }) => {
	await buildWorker(path);
	const text = await readFile(path, "utf8");
	assert.not.match(text, /new Function|\beval\(|from\s*"node:|require\("node:/);
	assert.match(text, /payload_type/);
});

test("the bundle has only those routes of GitHub that the store uses", async ({ path }) => {
	await buildWorker(path);
	const text = await readFile(path, "utf8");
	const routes = ["createInstallationAccessToken", "createTree", "updateRef", "getContent", "listCommits"];
	for (const route of routes) assert.match(text, `${route}:["`);
	assert.not.match(text, 'createTag:["');
});

test.run();
