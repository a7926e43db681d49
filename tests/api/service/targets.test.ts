import { existsSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { langs } from "../../../registry/smallkey.ts";
import { targetNames, targetOf, targetPath } from "../../../registry/targets/table.ts";
import type { TargetName } from "../../../registry/targets/target.ts";
import { Local, textOf } from "../../helpers/local.ts";
import { test } from "../../helpers/suite.ts";

/** Everything of a running service that has to follow from `TARGETS`. */
async function assertServes(local: Local, names: readonly TargetName[]): Promise<void> {
	await local.filesIdle();
	for (const name of targetNames) {
		const isServed = names.includes(name);
		const { docs, aliases } = targetOf(name);
		for (const lang of langs) {
			const path = targetPath(name, lang, "roads");
			assert.is(local.get(`/${path}`).status, isServed ? 200 : 404, path);
			assert.is(existsSync(join(local.out, path)), isServed, `the file ${path}`);
			const lists = [docs, ...aliases.map((alias) => alias.docs)];
			for (const list of lists) {
				const reply = local.get(`/${list}/${lang}/roads,roads`);
				assert.is(reply.status, isServed ? 200 : 404, list);
				if (isServed) assert.match(textOf(reply), `"rcs.roads.${lang}"`);
			}
		}
	}
	assert.is(local.get("/vcs?lang=en&id=roads").status, names.includes("v2") ? 200 : 404);
	assert.is(local.get("/v2/version/").status, names.includes("v2") ? 200 : 404);
	local.now += 1000;
	const receipt = (await (await local.put("roads")).json()) as { fragments: string[] };
	const expected = names.flatMap((name) => langs.map((lang) => `/${targetPath(name, lang, "roads")}`));
	assert.equal(receipt.fragments, expected);
}

test("memory, files, routes and receipts follow from TARGETS, and from another choice after a restart", async () => {
	await using local = await Local.open();
	await local.put("roads");
	await assertServes(local, targetNames);
	for (const names of [["v0.9", "ramp4"], ["v2"]] as const) {
		await local.stop();
		local.variables = { TARGETS: names.join(",") };
		await local.start();
		await assertServes(local, names);
	}
});

test.run();
