import { setTimeout as sleep } from "node:timers/promises";
import * as assert from "uvu/assert";
import { openCatFile } from "../../../system/git/cat-file.ts";
import { lineAt, startProcess } from "../../../system/git/process.ts";
import { GitFailure } from "../../../system/git/run.ts";
import { root } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";

for (const end of ["close", "kill"] as const) {
	test(`no process starts after ${end}: a read is refused`, async () => {
		const catFile = openCatFile(root);
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

test("a process asked just as its idle time ends is not ended", async () => {
	const silenceMs = 100;
	const asking = sleep(silenceMs).then(() => git.ask(["HEAD\n"]));
	const git = startProcess(root, ["cat-file", "--batch-check"], lineAt, silenceMs);
	// Both timers are due then, and Node calls them one right after the other.
	const endMs = performance.now() + 2 * silenceMs;
	while (performance.now() < endMs);
	assert.match(await asking, / commit /);
	await git.close();
});

test.run();
