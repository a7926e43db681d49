import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { everyPath, Local, textOf, wms } from "../local.ts";
import { restoreEarlier } from "./earlier.ts";

test("a DATA_DIR of an earlier version is served, brought up to date, and gone on from", async () => {
	const local = await Local.open();
	await local.stop();
	await restoreEarlier(local.folder);
	await local.start();
	for (const smallkey of ["one", "two"]) {
		assert.match(textOf(local.get(`/v0.9/doc/en/${smallkey}`)), `"layerName":"${smallkey}"`);
	}
	assert.is(local.get("/v0.9/doc/en/gone").status, 404);
	assert.ok(
		local.warnings.some((warning) => warning.includes("fragments is not whole, or of another version")),
	);
	assert.is((await local.put("one", wms("newer"))).status, 201);
	await local.filesIdle();
	for (const path of everyPath("two")) assert.match(await readFile(join(local.out, path), "utf8"), "{");
	assert.is(await local.git("config", "core.fsync"), "committed");
	assert.is(await local.git("fsck", "--strict", "--no-dangling"), "");
	assert.equal(local.reported, []);
	await local.stop();
	await local.start();
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"newer"');
	await local.end();
});

test.run();
