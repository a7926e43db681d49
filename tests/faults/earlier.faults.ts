import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { wms } from "../helpers/local.ts";
import { root, ServerProcess } from "../helpers/process.ts";
import { runUnless, sharedSuite, temporaryFolder } from "../helpers/world.ts";
import { World } from "./world.ts";

const run = promisify(execFile);

/** The version 0.1.0, which has no tag: it knew neither used requests nor hooks. */
const release = "66b32971fc2e8ac83c709a8d09e85369fc824311";

const hasHistory = await run("git", ["-C", root, "cat-file", "-e", `${release}^{commit}`]).then(
	() => true,
	() => false,
);

const test = sharedSuite("the data of an earlier version", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const [checkout, data] = [join(folder, "release"), join(folder, "data")];
	for (const path of [checkout, data]) await mkdir(path);
	const archive = join(folder, "release.tar");
	await run("git", ["-C", root, "archive", "-o", archive, release]);
	await run("tar", ["-xf", archive, "-C", checkout]);
	await symlink(join(root, "node_modules"), join(checkout, "node_modules"));
	return { checkout, world: use(await World.of(data)) };
});

function startRelease(checkout: string, { folder, senders }: World) {
	return ServerProcess.start({ DATA_DIR: folder, SENDERS: senders }, checkout, [
		...["--import", "tsx", "scripts/serve.ts"],
	]);
}

/** A layer of a kind that is no longer accepted: its address names no layer of the service. */
const service = '"service_url":"https://maps.example/MapServer"';
const kind = `{"version":"1.0.0","payload_type":"feature","en":{${service}},"fr":{${service}}}`;

test("is served, brought up to date, and served by that version again", async ({ checkout, world }) => {
	const send = async (server: ServerProcess, smallkey: string, text: string) =>
		(await world.send(smallkey, text, server)).status;
	const old = await startRelease(checkout, world);
	for (const key of ["one", "two", "gone"]) assert.is(await send(old, key, wms(key)), 201);
	assert.is(await send(old, "gone", ""), 204);
	assert.is(await send(old, "kind", kind), 201);
	assert.is(await old.stop(), 0);
	for (const [key, layer] of Object.entries({ one: "one", two: "two", gone: null }))
		world.acknowledged.set(key, layer);

	await world.start();
	const reader = await world.readAll();
	assert.is((await fetch(`${world.server.url}/v0.9/doc/en/kind`)).status, 200);
	const publisher = await world.put("three");
	await world.untilWritten("three");
	await world.note("derived", "a `DATA_DIR` of an earlier version, after an end", { reader, publisher });
	await world.stop();

	const older = await startRelease(checkout, world);
	const answer = await fetch(`${older.url}/v0.9/doc/en/three`);
	assert.match(await answer.text(), '"layerName":"three"');
	assert.is(await send(older, "after", wms("after")), 201);
	assert.is(await older.stop(), 0);
	await world.start();
	assert.is(await world.read("after"), "after");
});

runUnless(hasHistory ? null : "an earlier version: its commit is not in this clone", test);
