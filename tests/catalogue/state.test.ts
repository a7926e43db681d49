import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { filesIn, readState, removeCatalogue } from "../../catalogue/output.ts";
import { temporaryFolder } from "../local.ts";

test("what is not there, or was cut off, is no catalogue; what cannot be read is a fault", async () => {
	const folder = await temporaryFolder();
	const out = join(folder.path, "dist");
	try {
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
	} finally {
		await folder.remove();
	}
});

test.run();
