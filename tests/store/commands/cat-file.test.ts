import * as assert from "uvu/assert";
import { openCatFile } from "../../../store/git/commands/cat-file.ts";
import { GitFailure } from "../../../store/git/commands/run.ts";
import { test } from "../../helpers/suite.ts";
import { gitIn, temporaryFolder } from "../../helpers/world.ts";

test("objects are read whole, a missing one is null, and no process starts after close or kill", async () => {
	await using folder = await temporaryFolder();
	await gitIn(folder.path)("init", "-q", "--bare", ".");
	const text = "é\n".repeat(100_000);
	const id = await gitIn(folder.path, text)("hash-object", "-w", "--stdin");
	for (const end of ["close", "kill"] as const) {
		const catFile = openCatFile(folder.path);
		assert.is((await catFile.read(id))?.body.toString("utf8"), text);
		assert.is(await catFile.read("missing"), null);
		const waiting = catFile.read(id).catch((error: unknown) => error);
		await catFile[end]();
		const last = await waiting;
		if (end === "close") assert.is((last as { type: string }).type, "blob");
		else assert.instance(last, GitFailure);
		const late = await catFile.read(id).catch((error: unknown) => error);
		assert.match(String(late), "git cat-file: has ended");
	}
});

test.run();
