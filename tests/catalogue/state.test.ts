import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { filesIn, readState, removeCatalogue } from "../../catalogue/output.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

test("a state file that is missing or cut off is read as no catalogue; one that cannot be read is an error", async () => {
	await using folder = await temporaryFolder();
	const out = join(folder.path, "dist");
	const found = () => [readState(out), filesIn(out, "index")];
	assert.equal(found(), [null, []]);
	for (const text of ['{"stamp":', "null", "{}", ""]) {
		await writeFile(`${out}.catalogue`, text);
		assert.is(readState(out), null, text);
	}
	await writeFile(out, "a file in its place");
	assert.equal(found(), [null, []]);
	await rm(out);
	await mkdir(join(out, "index"), { recursive: true });
	await writeFile(join(out, "index/index.json"), "{}");
	assert.equal(found(), [null, ["index/index.json"]]);
	await rm(`${out}.catalogue`);
	await mkdir(`${out}.catalogue`);
	assert.throws(() => readState(out), `${out}.catalogue: cannot be read`);
	// A link to itself is there, and cannot be followed.
	await rm(out, { recursive: true });
	await symlink(out, out);
	assert.throws(() => removeCatalogue(out), `${out}: cannot be read`);
	assert.throws(() => filesIn(out, "index"), `${join(out, "index")}: cannot be read`);
});

test.run();
