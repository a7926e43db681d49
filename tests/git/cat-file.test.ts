import { test } from "uvu";
import * as assert from "uvu/assert";
import { CatFile } from "../../git/cat-file.ts";
import { GitFailure } from "../../git/run.ts";
import { root } from "../process.ts";

for (const end of ["close", "kill"] as const) {
	test(`no process starts after ${end}: a read is refused`, async () => {
		const catFile = new CatFile(root);
		const waiting = catFile.read("HEAD").catch((error: unknown) => error);
		await catFile[end]();
		const found = await waiting;
		if (end === "close") assert.is((found as { type: string }).type, "commit");
		else assert.instance(found, GitFailure);
		const late = await catFile.read("HEAD").catch((error: unknown) => error);
		assert.instance(late, GitFailure);
		assert.match(String(late), "git cat-file: has ended");
	});
}

test.run();
