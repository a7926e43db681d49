import * as assert from "uvu/assert";
import { Local, wms } from "../../helpers/local.ts";
import { exits, prints, runScript } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";

test("a declined review of many layers is in the status and the audit of each of them, and of no other", async () => {
	await using local = await Local.open({});
	for (const key of ["dec-1", "dec-2"]) {
		local.now += 1_000;
		const headers = { Review: "autumn" };
		const write = { target: `/register/${key}`, sender: "careful", headers, body: wms(key) };
		assert.is((await local.write(write)).status, 201);
	}
	const run = (name: string, ...words: string[]) => runScript(name, words, { DATA_DIR: local.folder });
	const reasonOf = async (smallkey: string) => {
		const status = await local.context.status?.(smallkey, []);
		return typeof status === "function" ? (status("en").declined?.reason ?? null) : status;
	};
	await exits(run("review", "decline", "careful/review.autumn", "--why", "not yet"), 0);
	assert.equal([await reasonOf("dec-2"), await reasonOf("dec-3")], ["not yet", null]);
	await prints(run("audit", "dec-1"), 0, /declined[\s\S]*not yet/);
});

test.run();
