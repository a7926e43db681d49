import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { healthPath } from "../../../registry/health.ts";
import { ownersPath } from "../../../registry/owners.ts";
import { layerPath } from "../../../registry/smallkey.ts";
import { ifThere, readIfThere, readTextIfThere } from "../../../system/files/if-there.ts";
import { root, runScript } from "../../helpers/process.ts";
import { freshSuite, Repository } from "../../helpers/world.ts";
import { featureFile } from "../../review/repository.ts";

/** A folder in place of a file: it exists, and no user can read it as a file, not even root. */
const reason = "cannot be read: EISDIR: illegal operation on a directory, read\n";

function failureOf(work: Promise<unknown>): Promise<Error> {
	return work.then(
		() => new Error("it did not fail"),
		(error: Error) => error,
	);
}

const test = freshSuite("files that need not be there", (use) => {
	const layer = { [layerPath("abc")]: featureFile("http://127.0.0.1:9/MapServer/1") };
	const checkout = use(new Repository(layer));
	// The commands work in the folder in which they are started.
	process.chdir(checkout.path);
	use(() => process.chdir(root));
	return { checkout };
});

test("a missing file is read as null, and an existing one is read", async () => {
	assert.equal([await readIfThere("file"), await readTextIfThere("file")], [null, null]);
	await writeFile("file", "é");
	assert.is(await readTextIfThere("file"), "é");
	assert.is((await readIfThere("file"))?.length, 2);
});

test("every other failure is thrown, with the path and the reason", async () => {
	const failure = await failureOf(readIfThere("layers"));
	assert.is(failure.message, "layers: cannot be read");
	assert.match((failure.cause as Error).message, "EISDIR");
	const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
	const failed = await failureOf(ifThere("x", Promise.reject(denied)));
	assert.is(failed.cause, denied);
});

test("watch-services fails when it cannot read owners or health, and does not treat them as missing", async () => {
	for (const path of [ownersPath, healthPath]) {
		await mkdir(path, { recursive: true });
		const { code, stdout, stderr } = await runScript("watch-services", ["--text", "text.md"], {
			HARVEST_ALLOW_PRIVATE: "on",
		});
		assert.equal([code, stdout], [2, ""]);
		assert.ok(stderr.endsWith(`${path}: ${reason}`), stderr);
		await rm(path, { recursive: true });
	}
});

test("npx fragment-publisher sign says how to go on without the senders file of another user", async (scene) => {
	const { checkout } = scene;
	const place = join(checkout.path, "data/senders.json");
	await mkdir(place, { recursive: true });
	const words = ["abc", layerPath("abc")];
	const { code, stdout, stderr } = await runScript("sign", words, { DATA_DIR: join(checkout.path, "data") });
	assert.equal([code, stdout], [2, ""]);
	assert.match(stderr, `${place}: cannot be read; set SENDER_SECRET`);
});

test.run();
