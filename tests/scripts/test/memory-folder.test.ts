import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { temporaryParent } from "../../../scripts/test/memory-folder.ts";
import { temporaryFolder } from "../../local.ts";

const test = suite("where tests have their temporary files");

test("the folder that TMPDIR names comes first", () => {
	assert.is(temporaryParent({ TMPDIR: "/named" }), "/named");
});

test("a folder that is not there, not in memory, or that runs no programs is not taken", async () => {
	const { path, remove } = await temporaryFolder();
	const mounts = join(path, "mounts");
	assert.is(temporaryParent({}, mounts), tmpdir());
	for (const text of ["", "/dev/sda /dev/shm ext4 rw 0 0\n", "shm /dev/shm tmpfs rw,nosuid,noexec 0 0\n"]) {
		await writeFile(mounts, text);
		assert.is(temporaryParent({}, mounts), tmpdir());
	}
	await remove();
});

test.run();
