import { execFile } from "node:child_process";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { everyPath, Local, secrets, textOf, wms } from "../helpers/local.ts";
import { root, ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { release, restoreEarlier } from "./earlier.ts";

const run = promisify(execFile);

test("a DATA_DIR of an earlier version is served, brought up to date, and gone on from", async () => {
	await using local = await Local.open();
	await local.stop();
	await restoreEarlier(local.folder);
	await local.start();
	for (const smallkey of ["one", "two"]) {
		assert.match(textOf(local.get(`/v0.9/doc/en/${smallkey}`)), `"layerName":"${smallkey}"`);
	}
	assert.is(local.get("/v0.9/doc/en/gone").status, 404);
	assert.ok(
		local.warnings.some((warning) =>
			warning.endsWith("is of another version, or not whole: all layers are read again, and nothing is lost"),
		),
	);
	assert.is((await local.put("one", wms("newer"))).status, 201);
	await local.filesIdle();
	for (const path of everyPath("two")) assert.match(await readFile(join(local.out, path), "utf8"), "{");
	assert.is(await local.git("config", "core.fsync"), "committed");
	assert.is(await local.git("fsck", "--strict", "--no-dangling"), "");
	assert.equal(local.reported, []);
	await local.restart();
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"newer"');
});

/** Puts the files of the earlier release into a folder, with the packages of this one; false without the history. */
async function checkOutRelease(folder: string): Promise<boolean> {
	const archive = join(folder, "release.tar");
	try {
		await run("git", ["-C", root, "archive", "-o", archive, release.commit]);
	} catch {
		return false;
	}
	await run("tar", ["-xf", archive, "-C", folder]);
	await symlink(join(root, "node_modules"), join(folder, "node_modules"));
	return true;
}

/** What a service answers for a layer, and a PUT as one of the earlier release's senders. */
async function layerName(server: ServerProcess, smallkey: string): Promise<string | undefined> {
	const answer = await fetch(`${server.url}/v0.9/doc/en/${smallkey}`);
	return /"layerName":"(\w+)"/.exec(await answer.text())?.[1];
}

async function put(server: ServerProcess, smallkey: string, sender: "jstest" | "narrow"): Promise<number> {
	const target = `/register/${smallkey}`;
	const request = await signed(target, wms(smallkey), { sender, secret: secrets[sender] });
	return (await fetch(server.url + target, request)).status;
}

test("the data of 0.1.0 is taken over with its senders, and 0.1.0 goes on from what was written since", async () => {
	await using folder = await temporaryFolder();
	const DATA_DIR = join(folder.path, "data");
	await mkdir(DATA_DIR);
	await restoreEarlier(DATA_DIR, release.data);
	const newer = await ServerProcess.start({ DATA_DIR });
	assert.match(newer.output, /^Serving 3 layers at /m);
	assert.is(await layerName(newer, "one"), "one");
	assert.is(
		(await fetch(`${newer.url}/v0.9/doc/en/kind`)).status,
		200,
		"of a kind that is no longer accepted",
	);
	assert.is(await put(newer, "abnew", "narrow"), 201);
	assert.is(await put(newer, "other", "narrow"), 403);
	assert.is(await newer.stop(), 0);

	const checkout = join(folder.path, "release");
	await mkdir(checkout);
	if (await checkOutRelease(checkout)) {
		const older = await ServerProcess.start({ DATA_DIR }, checkout, ["--import", "tsx", "scripts/serve.ts"]);
		assert.match(older.output, /^Serving 4 layers at /m);
		assert.is(await layerName(older, "abnew"), "abnew");
		assert.is(await put(older, "after", "jstest"), 201);
		assert.is(await older.stop(), 0);
		const again = await ServerProcess.start({ DATA_DIR });
		assert.is(await layerName(again, "after"), "after");
		assert.is(await again.stop(), 0);
	} else console.log("skipped: the way back to 0.1.0: its commit is not in this clone");
});

test.run();
