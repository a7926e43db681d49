import * as assert from "uvu/assert";
import { langs } from "../../registry/smallkey.ts";
import { feature, Local, largeWhenStored, manual, textOf, type Write } from "../helpers/local.ts";
import { freshSuite } from "../helpers/world.ts";

const test = freshSuite("the older service's updates", async (use) => {
	const local = use(await Local.open());
	await local.put("wells", feature);
	await local.put("limits", manual);
	local.now += 1000;
	return { local };
});
test.after.each(({ local }) => assert.equal(local.reported, []));

/** Sends an update; each has a signature of its own. */
function send(local: Local, target: string, body: unknown, more: Partial<Write> = {}): Promise<Response> {
	local.now += 1000;
	return local.write({ target, body: typeof body === "string" ? body : JSON.stringify(body), ...more });
}

async function stored(local: Local, smallkey: string) {
	const path = `main:layers/${smallkey.slice(0, 2)}/${smallkey}.json`;
	return JSON.parse(await local.git("show", path));
}

/** Sends an update that is refused; nothing is stored by it. */
async function refused(
	local: Local,
	target: string,
	body: unknown,
	status: number,
	error: string | RegExp,
	more: Partial<Write> = {},
): Promise<void> {
	const before = await local.state();
	const answer = await send(local, target, body, more);
	assert.is(answer.status, status, target);
	const { errors } = (await answer.json()) as { errors: string[] };
	if (typeof error === "string") assert.equal(errors, [error]);
	else assert.match(errors.join("\n"), error);
	assert.is(await local.state(), before);
}

test("an update that makes the stored form too large is 400", async ({ local }) => {
	const { en, ...rest } = JSON.parse(largeWhenStored);
	const fewer = { ...rest, en: { ...en, scrape_only: [7] } };
	local.now += 1000;
	assert.is((await local.put("many", JSON.stringify(fewer))).status, 201);
	const rule = /^the document must have at most 65536 bytes in the form in which it is stored, not \d+$/;
	await refused(local, "/v2/update/many", { en: { scrape_only: en.scrape_only } }, 400, rule);
});

test("updatefeature merges members into both languages, in one commit", async ({ local }) => {
	const answer = await send(local, "/v1/updatefeature/wells", {
		service_name: "Wells",
		display_field: "NAME",
	});
	assert.is(answer.status, 200);
	assert.match(answer.headers.get("Content-Type") ?? "", /^application\/json/);
	assert.is(await answer.text(), '"wells"');
	const { en, fr, ...rest } = await stored(local, "wells");
	const entry = { ...JSON.parse(feature).en, service_name: "Wells", display_field: "NAME" };
	assert.equal({ en, fr, ...rest }, { ...JSON.parse(feature), en: entry, fr: entry });
	assert.is(await local.git("log", "-1", "--format=%an %s"), "jstest update wells");
	assert.is(await local.git("rev-list", "--count", "main"), "4");
	for (const lang of langs)
		assert.match(textOf(local.get(`/v0.9/doc/${lang}/wells`)), '"displayName":"Wells"');
});

test("updatefeature takes each language's own members where there are exactly two of them", async (scene) => {
	const { local } = scene;
	const body = { en: { service_name: "Wells" }, fr: { service_name: "Puits" } };
	assert.is((await send(local, "/v1/updatefeature/wells", body)).status, 200);
	assert.is((await stored(local, "wells")).fr.service_name, "Puits");
	assert.match(textOf(local.get("/v1/doc/fr/wells")), '"displayName":"Puits"');
	assert.match(textOf(local.get("/v1/doc/en/wells")), '"displayName":"Wells"');
	const three = { ...body, loading_mode: "snapshot" };
	await refused(local, "/v1/updatefeature/wells", three, 400, /^\/en\/en: is not a known member/);
});

test("an update of version 2 merges some members of either language", async ({ local }) => {
	const node = { service_type: "ogcWms", service_url: "https://host.example/wms", scrape_only: ["a"] };
	await send(local, "/v2/register/many", { version: "2.0", en: node, fr: node });
	const body = { fr: { service_type: "ogcWms", scrape_only: ["b", "a"] } };
	const answer = await send(local, "/v2/update/many", body);
	assert.is(answer.status, 200);
	assert.equal(await answer.json(), { msg: "Updated", key: "many" });
	assert.equal((await stored(local, "many")).fr.scrape_only, ["b", "a"]);
	assert.equal((await stored(local, "many")).en, node);
	const older = await send(local, "/v2/update/2.0/many", { en: { service_name: "Many" } });
	assert.equal(await older.json(), { msg: "Updated", key: "many" });
	assert.match(textOf(local.get("/v2/doc/en/many")), '"name":"Many"');
	// A document of version 1.x stays one.
	assert.is((await send(local, "/v2/update/limits", { en: { layer: "x" }, fr: { layer: "y" } })).status, 200);
	assert.match(textOf(local.get("/v0.9/doc/fr/limits")), '"layerName":"y"');
	const targets = { v2: { en: { layer: "z" } } };
	assert.is((await send(local, "/v2/update/limits", { targets })).status, 200);
	assert.match(textOf(local.get("/v2/doc/en/limits")), '"layerEntries":[{"id":"z"}]');
});

test("a merged registration is judged as a whole, and every problem is named with its place", async (scene) => {
	const { local } = scene;
	const bad = { service_url: "ftp://x", layer: "a", more: 1 };
	const errors = [
		"/en/layer: belongs to payload_type wms, and must be left out of feature",
		"/en/more: is not a known member",
		'/en/service_url: must be an http or https address, not "ftp://x"',
	];
	const before = await local.state();
	const answer = await send(local, "/v1/updatefeature/wells", bad);
	assert.is(answer.status, 400);
	const said = ((await answer.json()) as { errors: string[] }).errors.sort();
	assert.equal(said.slice(0, 3), errors);
	assert.is(said.length, 6);
	assert.is(await local.state(), before);
	await refused(local, "/v2/update/wells", { version: "3.0" }, 400, /^\/version: must be 1\.x\.y/);
	await refused(local, "/v2/update/wells", { en: null }, 400, "/en: must be an object");
	await refused(local, "/v2/update/wells", { fr: [1] }, 400, "/fr: must be an object");
	await refused(local, "/v2/update/wells", '{"__proto__":{}}', 400, "/__proto__: is not a known member");
	const large = {
		service_name: "x".repeat(1000),
		metadata: { metadata_url: `https://h/${"y".repeat(2040)}` },
	};
	await refused(local, "/v1/updatefeature/wells", large, 400, /\/en\/metadata\/metadata_url: /);
	for (const target of ["/v1/updatefeature/wells", "/v1/simplification/wells", "/v2/update/wells"]) {
		await refused(local, target, "junk", 400, /^the document must be JSON/);
		await refused(local, target, "", 400, /^the document must be JSON/);
		await refused(local, target, "[]", 400, "the document: must be an object");
		await refused(local, target, "{}", 400, "the document: must have at least one member");
		await refused(local, target, '{"en":{},"en":{}}', 400, /^\/en: occurs more than once/);
	}
});

test("a factor is a whole number that is not below 0", async ({ local }) => {
	for (const factor of [1.5, "5", null, true, [5], undefined]) {
		const body = { factor, user: "x" };
		await refused(local, "/v1/simplification/wells", body, 400, "/factor: must be a whole number");
	}
	assert.is((await send(local, "/v1/simplification/wells", { factor: 0 })).status, 200);
	await refused(local, "/v1/simplification/wells", { factor: -1 }, 400, /^\/en\/max_allowable_offset: /);
	const more = { factor: 1, key: "x" };
	await refused(local, "/v1/simplification/wells", more, 400, "/key: is not a known member");
});

test("an update of a sender under review goes to a branch, and its answer is the receipt", async (scene) => {
	const { local } = scene;
	const main = await local.git("rev-parse", "main");
	const answer = await send(local, "/v1/simplification/wells", { factor: 9 }, { sender: "careful" });
	assert.is(answer.status, 202);
	const { branch, smallkey } = (await answer.json()) as Record<string, unknown>;
	assert.equal([branch, smallkey], ["register/wells", "wells"]);
	assert.is(await local.git("rev-parse", "main"), main);
	const text = await local.git("show", "register/wells:layers/we/wells.json");
	assert.is(JSON.parse(text).fr.max_allowable_offset, 9);
});

test.run();
