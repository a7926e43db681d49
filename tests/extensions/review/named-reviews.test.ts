import * as assert from "uvu/assert";
import { Local, wms } from "../../helpers/local.ts";
import { exits, prints, runScript } from "../../helpers/process.ts";
import { sharedSuite } from "../../helpers/world.ts";

let local: Local;
const test = sharedSuite("named reviews", async (use) => {
	local = use(await Local.open({}));
});

/** What a publisher reads of one layer of a review; null: nothing. */
async function statusOf(smallkey: string) {
	const status = await local.context.status?.(smallkey, []);
	return typeof status === "function" ? status("en") : null;
}

async function propose(name: string, keys: readonly string[]): Promise<void> {
	for (const key of keys) {
		local.now += 1_000;
		const headers = { Review: name };
		const write = { target: `/register/${key}`, sender: "careful", headers, body: wms(key) };
		assert.is((await local.write(write)).status, 201);
	}
}

test("a review of many layers is in the status of each of them, and of no other", async () => {
	await propose("spring", ["wait-1", "wait-2"]);
	assert.is((await statusOf("wait-1"))?.review?.branch, "register/careful+review.spring");
	assert.is(await statusOf("wait-3"), null);
});

test("a declined review of many layers is in the status and the audit of each of them", async () => {
	await propose("autumn", ["dec-1", "dec-2"]);
	const run = (name: string, ...words: string[]) => runScript(name, words, { DATA_DIR: local.folder });
	await exits(run("review", "decline", "careful+review.autumn", "--why", "not yet"), 0);
	assert.is((await statusOf("dec-2"))?.declined?.reason, "not yet");
	await prints(run("audit", "dec-1"), 0, /declined[\s\S]*not yet/);
});

test.run();
