import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { ifThere, readIfThere, readTextIfThere } from "../../../store/files/if-there.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("files that need not be there");

const failureOf = (work: Promise<unknown>): Promise<Error> =>
	work.then(
		() => new Error("it did not fail"),
		(error: Error) => error,
	);

test("a missing file is read as null, and an existing one is read", async ({ folder }) => {
	const path = join(folder, "file");
	assert.equal([await readIfThere(path), await readTextIfThere(path)], [null, null]);
	await writeFile(path, "é");
	assert.equal([await readTextIfThere(path), (await readIfThere(path))?.length], ["é", 2]);
});

test("every other failure is thrown, with the path and the reason", async ({ folder }) => {
	// A folder in place of a file: no user can read it as a file, not even root.
	const path = join(folder, "layers");
	await mkdir(path);
	const failure = await failureOf(readIfThere(path));
	assert.is(failure.message, `${path}: cannot be read`);
	assert.match((failure.cause as Error).message, "EISDIR");
	const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
	assert.is((await failureOf(ifThere("x", Promise.reject(denied)))).cause, denied);
});

test.run();
