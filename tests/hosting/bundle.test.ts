import { access, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { buildWorker, githubScopes, sizeLine, workerParts } from "../../hosting/bundle.ts";
import { temporaryFolder } from "../local.ts";
import { root } from "../process.ts";

const test = suite<{ path: string; remove: () => Promise<void> }>("bundle");

test.before.each(async (scene) => {
	const folder = await temporaryFolder();
	scene.path = join(folder.path, "worker.js");
	scene.remove = folder.remove;
});
test.after.each(async (scene) => scene.remove());

test("the worker is within its limits: 5 kB for reads alone, 80 kB in all, after gzip", async ({ path }) => {
	const [reads, whole] = await buildWorker(path);
	assert.ok(reads && reads.gzip <= 5_000, reads && sizeLine(reads));
	assert.ok(whole && whole.gzip <= 80_000, whole && sizeLine(whole));
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

test("the worker has the routes of every part of GitHub's API that the store uses", async () => {
	const folder = join(root, "store");
	const files = await readdir(folder, { recursive: true });
	const used = new Set<string>();
	for (const file of files.filter((name) => name.endsWith(".ts"))) {
		const text = await readFile(join(folder, file), "utf8");
		for (const [, scope = ""] of text.matchAll(/\brest\.([a-z]+)\.[a-z]/gi)) used.add(scope);
	}
	assert.equal([...used].sort(), githubScopes);
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
