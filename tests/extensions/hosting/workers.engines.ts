import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { ask, errorsOf, write } from "../../conformance/client.ts";
import { senders } from "../../conformance/engine.ts";
import { buildDist, startWorkers, workers } from "../../conformance/engines.ts";
import { manual, wms } from "../../helpers/local.ts";
import { exits, runScriptProcess } from "../../helpers/process.ts";
import { folderSuite, runUnless, sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { assertCatalogue, buildCatalogue } from "./catalogue.ts";

const base = "/rcs";

/** Without a store, below a prefix, as on Cloudflare's paid plan. */
const test = sharedSuite("Cloudflare Workers", async (use) => {
	const dist = await buildCatalogue(use(await temporaryFolder()).path);
	const env = { BASE_PATH: base, SITE: "on", DOCS_MAX_KEYS: "900", SENDERS: JSON.stringify(senders) };
	const engine = await startWorkers(dist, false, env);
	use(engine.stop);
	return { dist, engine };
});

test("every read is below BASE_PATH", async ({ engine }) => {
	for (const [path, status] of Object.entries({
		[`${base}/healthz`]: 200,
		[`${base}/v0.9/doc/en/a%2Bb%3Dc`]: 200,
		"/healthz": 404,
		"/v0.9/docs/en/23ax5t": 404,
	}))
		assert.is((await ask(engine.origin, "GET", path)).status, status, path);
});

test("files of the catalogue have the same headers below BASE_PATH", async ({ dist, engine }) => {
	const typeOf = (type = "") => type.split(";")[0]?.replace("application/xml", "application/atom+xml");
	for (const prefix of [null, "rcs/"]) await assertCatalogue(engine.origin, dist, prefix, typeOf);
	for (const path of ["/index/none.json", "/_headers"])
		assert.is((await ask(engine.origin, "GET", base + path)).status, 404, path);
});

test("without a store a write is verified, and then refused for that reason", async ({ engine }) => {
	const target = `${base}/register/new`;
	const unsigned = await write(engine.origin, "PUT", target, { body: manual, secret: "another" });
	assert.is(unsigned.status, 401);
	const elsewhere = await write(engine.origin, "PUT", target, { body: manual, path: "/register/new" });
	assert.is(elsewhere.status, 401, "the prefix is part of the signed path");
	for (const [method, body] of [
		["PUT", manual],
		["DELETE", ""],
	] as const) {
		const answer = await write(engine.origin, method, target, { body });
		assert.is(answer.status, 503);
		assert.match(errorsOf(answer)[0] ?? "", /this service cannot/);
		assert.match(answer.headers["retry-after"] ?? "", /^\d+$/);
	}
});

test("secrets are in no output", async ({ engine }) => {
	for (const secret of [senders.jstest, senders.narrow.key]) assert.not.ok(engine.log().includes(secret));
});

const dryRun = folderSuite("npx fragment-publisher deploy");

dryRun("a dry run goes through wrangler, for assets and for a bucket", async ({ folder }) => {
	const dist = await buildDist(new Map([["one", wms("one")]]), folder);
	const assets = await exits(runScriptProcess("deploy", ["--dist", dist, "--", "--dry-run"]), 0);
	for (const text of ["env.ASSETS", "--dry-run: exiting now"]) assert.match(assets.stdout, text);
	const path = join(folder, "senders.json");
	await writeFile(path, JSON.stringify({ publisher: "a secret of a trial" }));
	const words = ["--objects", "--secret", `SENDERS=${path}`, "--", "--dry-run"];
	const objects = await exits(runScriptProcess("deploy", words, { OBJECTS_BUCKET: "maps-fragments" }), 0);
	assert.match(objects.stdout, "env.OBJECTS (maps-fragments)");
	assert.not.match(objects.stdout, "env.ASSETS");
	assert.not.match(objects.stdout + objects.stderr, "a secret of");
});

runUnless(workers.missing, test, dryRun);
