import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import * as assert from "uvu/assert";
import { Local, wms } from "../../helpers/local.ts";
import { runScript, warns } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, writeFiles } from "../../helpers/world.ts";

const test = freshSuite("a start after another one", async (use) => {
	const local = use(await Local.open());
	const lastStart = `${local.folder}.last-start`;
	use(() => rm(lastStart, { force: true }));
	await local.stop();
	local.variables = { LAST_START: lastStart };
	await local.start();
	await local.put("one", wms("one"));
	return { local, lastStart };
});

test("a start without the layers of the last one makes nothing", async ({ local, lastStart }) => {
	await local.restart();
	await local.stop();
	const noted = await readFile(lastStart, "utf8");
	assert.match(noted, `${local.folder}: 1 layer at commit ${local.store.tip}, `);
	const lost = `${local.folder}.lost`;
	await rename(local.folder, lost);
	await mkdir(local.folder);
	const refusal = `${local.repository}: has no layers, and ${lastStart} says what the last start served, before later changes: ${noted.trim()}`;
	const environment = { DATA_DIR: local.folder, LAST_START: lastStart };
	const batch = `${local.folder}.batch`;
	writeFiles(batch, { "one.json": wms("one") });
	for (const [name, ...words] of [["register", batch], ["serve"]] as const)
		await warns(runScript(name, words, environment), 2, refusal);
	const misspelt = `${local.folder}.misspelt`;
	await warns(runScript("serve", [], { ...environment, DATA_DIR: misspelt }), 2, "has no layers");
	await rm(misspelt, { recursive: true });
	assert.equal(await readdir(local.folder), []);
	await rm(batch, { recursive: true });
	await rm(local.folder, { recursive: true });
	await rename(lost, local.folder);
	await local.start();
	assert.is((await local.get("/v0.9/doc/en/one")).status, 200);
});

test("a branch that has gone back: what was served is, and nothing is written", async ({ local }) => {
	const tip = local.store.tip;
	await local.stop();
	await local.git("update-ref", "refs/heads/main", `${tip}~1`);
	await local.start();
	assert.is((await local.get("/v0.9/doc/en/one")).status, 200);
	const refused = await local.put("two", wms("two"));
	assert.is(refused.status, 503);
	assert.match(await refused.text(), "cannot do that now");
	assert.is(await local.git("rev-parse", "main"), await local.git("rev-parse", `${tip}~1`));
	await local.git("update-ref", "refs/heads/main", tip);
	await eventually(async () => (await local.put("two", wms("two"))).status === 201);
	assert.match(local.reported.join("\n"), /^GitDamage: .+ refs\/heads\/main \w+" goes back to it.+$/, "once");
});

test.run();
