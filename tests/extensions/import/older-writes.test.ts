import * as assert from "uvu/assert";
import { coreWrites } from "../../../api/register.ts";
import type { Refresh } from "../../../extensions/harvest/harvester/harvester.ts";
import { olderWrites } from "../../../extensions/import/older-writes.ts";
import { feature, Handlers, largeWhenStored, manual, textOf, type Write } from "../../helpers/handlers.ts";
import { freshSuite } from "../../helpers/world.ts";

const test = freshSuite("the older service's own writes", async () => {
	const handlers = new Handlers();
	await handlers.put("wells", feature);
	await handlers.put("limits", manual);
	const harvests: Refresh[] = [];
	const refresh = (selection: Refresh) => harvests.push(selection) + 2;
	handlers.context.writes = [...coreWrites, ...olderWrites(refresh)];
	return { handlers, harvests };
});

const update = (target: string, body: unknown): Write => ({
	target,
	body: typeof body === "string" ? body : JSON.stringify(body),
});

test("each update merges members, in one commit, and has the older service's answer", async ({
	handlers,
}) => {
	const wells = "/v1/updatefeature/wells";
	const [english, french] = [{ service_name: "Wells", display_field: "NAME" }, { service_name: "Puits" }];
	const entry = { ...JSON.parse(feature).en, ...english };
	const offset = { max_allowable_offset: 0 };
	const done = { msg: "Updated", key: "wells" };
	const rows: [target: string, body: object, answer: unknown, en: object, fr: object][] = [
		[wells, english, "wells", entry, entry],
		[wells, { en: english, fr: french }, "wells", entry, { ...entry, ...french }],
		["/v1/simplification/wells", { factor: 0, user: "x" }, "wells", offset, { ...french, ...offset }],
		["/v2/update/wells", { fr: { service_name: "Puits 2" } }, done, offset, { service_name: "Puits 2" }],
		["/v2/update/2.0/wells", { en: { service_name: "Wells 2" } }, done, { service_name: "Wells 2" }, offset],
	];
	for (const [target, body, expected, en, fr] of rows) {
		const commits = handlers.store.commits.length;
		const answer = await handlers.expect(200, update(target, body));
		assert.match(answer.headers.get("Content-Type") ?? "", /^application\/json/);
		assert.equal(await answer.json(), expected);
		const stored = handlers.stored("wells") as { en: object; fr: object };
		assert.equal(stored, { ...stored, en: { ...stored.en, ...en }, fr: { ...stored.fr, ...fr } }, target);
		await handlers.expect(200, update(target, body));
		assert.is(handlers.store.commits.length, commits + 1, "the same again makes no commit");
	}
	const { author, subject } = handlers.store.commits.at(-1) ?? {};
	assert.equal([author, subject], ["jstest", "update wells"]);
	for (const [lang, name] of Object.entries({ en: "Wells 2", fr: "Puits 2" }))
		assert.match(textOf(await handlers.get(`/v0.9/doc/${lang}/wells`)), `"displayName":"${name}"`);
	await handlers.expect(200, update("/v2/update/limits", { targets: { v2: { en: { layer: "z" } } } }));
	assert.match(textOf(await handlers.get("/v2/doc/en/limits")), '"layerEntries":[{"id":"z"}]');
});

test("a merged registration is judged as a whole, and a refusal stores nothing", async ({ handlers }) => {
	const { en, ...rest } = JSON.parse(largeWhenStored);
	await handlers.put("many", JSON.stringify({ ...rest, en: { ...en, scrape_only: [7] } }));
	await handlers.commit({ path: "layers/br/broken.json", text: "{}" });
	await handlers.put(
		"mixed",
		JSON.stringify({ ...rest, en: { ...JSON.parse(feature).en, service_type: "esriFeature" } }),
	);
	const [wells, factor] = ["/v1/updatefeature/wells", "/v1/simplification/wells"];
	const bad = { service_url: "ftp://x", layer: "a" };
	const rows: [status: number, target: string, body: unknown, text: RegExp | string][] = [
		[400, wells, bad, "/en/layer: does not belong to this payload_type"],
		[400, wells, { en: {}, fr: {}, loading_mode: "snapshot" }, /^\/en\/en: is not a known member/],
		[400, wells, { en: {}, fr: 1 }, /^\/en\/en: is not a known member/],
		[400, "/v1/simplification/mixed", { factor: 5 }, "smallkey: mixed is not a feature layer"],
		[400, "/v2/update/wells", { version: "3.0" }, /^\/version: must be 1\.x\.y/],
		[400, "/v2/update/wells", { en: null }, "/en: must be an object, not null"],
		[400, "/v2/update/wells", { fr: [1] }, "/fr: must be an object, not a list"],
		[400, "/v2/update/many", { en: { scrape_only: en.scrape_only } }, /at most 65536 bytes$/],
		[400, factor, { factor: -1 }, /^\/en\/max_allowable_offset: /],
		[400, factor, { factor: 1, key: "x" }, "/key: is not a known member"],
		[400, "/v1/simplification/limits", { factor: 5 }, "smallkey: limits is not a feature layer"],
		[400, "/v1/updatefeature/a.b", { service_name: "x" }, /^smallkey: must be 1 to 64/],
		[404, "/v2/update/none", { en: {} }, "smallkey: none is not registered"],
		[409, "/v2/update/broken", { en: {} }, "/payload_type: is missing"],
	];
	for (const value of [1.5, "5", null, undefined])
		rows.push([400, factor, { factor: value, user: "x" }, /^\/factor: must be an integer, not /]);
	for (const target of [wells, factor, "/v2/update/wells"])
		rows.push(
			[400, target, "", "the document: must not be empty"],
			[400, target, "[]", "the document: must be an object, not []"],
			[400, target, "{}", "the document: must not be empty"],
			[400, target, '{"en":{},"en":{}}', /^\/en: occurs more than once/],
		);
	for (const [status, target, body, text] of rows) await handlers.refuses(status, update(target, body), text);
	const unsigned = { ...update(wells, { service_name: "x" }), secret: "wrong" };
	await handlers.refuses(401, unsigned, /^Authorization: /);
});

test("an update that is decided again changes what is stored by then", async ({ handlers }) => {
	const { context, store } = handlers;
	const text = feature.replaceAll("/1", "/2");
	const change: typeof store.change = async (decide, meta) => {
		await decide(await store.served());
		await handlers.commit({ path: "layers/we/wells.json", text });
		return store.change(decide, meta);
	};
	context.store = { ...store, change };
	await handlers.write(update("/v2/update/wells", { en: { service_name: "Wells" } }));
	assert.match(JSON.stringify(handlers.stored("wells")), /Wells.*Server.2/);
});

const post = (target: string, more: Partial<Write> = {}): Write => ({ method: "POST", target, ...more });

test("a refresh asks the harvester for the sender's own layers: 202", async ({ handlers, harvests }) => {
	const day = 86_400_000;
	const table: [target: string, olderThanMs: number | null, maxLayers: number | null][] = [
		["/v1/update/all", null, null],
		["/v1/update/7", 7 * day, null],
		["/v1/update/0", 0, null],
		["/v2/refresh/all", null, null],
		["/v2/refresh/all/100", null, 100],
		["/v2/refresh/2/1", 2 * day, 1],
	];
	const before = await handlers.state();
	for (const [target, ...expected] of table) {
		const answer = await handlers.expect(202, post(target));
		const { isWanted, olderThanMs, maxLayers } = harvests.at(-1) as Refresh;
		assert.equal(await answer.json(), { layers: harvests.length + 2 });
		assert.equal([olderThanMs, maxLayers], expected, target);
		assert.ok(isWanted("anything"));
	}
	// A refresh makes no review.
	const headers = { Review: "spring 2026" };
	for (const target of ["/v2/refresh/x", "/v1/update/123456", "/v2/refresh/all/0"])
		await handlers.refuses(400, post(target), /^path: must end with/);
	await handlers.refuses(400, post("/v1/update/all", { body: "{}" }), "the body must be empty");
	await handlers.expect(202, post("/v1/update/all", { sender: "narrow", headers }));
	assert.equal(["abc", "other"].map(harvests.at(-1)?.isWanted as () => boolean), [true, false]);
	const repeated = await handlers.expect(202, post("/v1/update/all", { sender: "narrow" }));
	assert.equal(await repeated.json(), { layers: 0 });
	assert.equal([harvests.length, await handlers.state()], [table.length + 1, before]);
});

test.run();
