import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { warnOfReaders } from "../../service/senders-file.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

test("a senders file that other users may read has a warning, with its mode", async () => {
	await using temporary = await temporaryFolder();
	const folder = temporary.path;
	const path = join(folder, "senders.json");
	await writeFile(path, "{}");
	await chmod(path, 0o644);
	assert.is(
		warnOfReaders(path),
		`${path}: has mode 0644, so that other users may read the secrets: chmod 600 ${path}`,
	);
	await chmod(path, 0o600);
	assert.is(warnOfReaders(path), null);
	assert.is(warnOfReaders("SENDERS"), null);
});

test.run();
