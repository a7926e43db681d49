import * as assert from "uvu/assert";
import { langs } from "../../registry/smallkey.ts";
import type { Test } from "../helpers/suite.ts";
import { ask, signedHeaders, write } from "./client.ts";
import { type Engine, featurePayload } from "./engine.ts";
import { mismatch, writer } from "./writer.ts";

/** The older service's own writes: updates of some members, and services that are asked anew. */
export function olderWriteTests(test: Test, engine: () => Engine): void {
	const { put, assertRefusal } = writer(engine);
	const update = (target: string, body: object) =>
		write(engine().origin, "PUT", target, { body: JSON.stringify(body) });

	/** Whether a layer's fragments at v0.9 hold a text, where a registration can be read at once. */
	async function assertHolds(smallkey: string, text: string): Promise<void> {
		if (!engine().published) return;
		for (const lang of langs) {
			assert.match((await ask(engine().origin, "GET", `/v0.9/doc/${lang}/${smallkey}`)).text, text);
		}
	}

	test("updates merge members into what is stored, each with its own answer", async () => {
		assert.is((await put("updated", { body: featurePayload() })).status, 201);
		const table: [target: string, body: object, answer: unknown, held: string][] = [
			["/v1/updatefeature/updated", { service_name: "Two" }, "updated", '"displayName":"Two"'],
			["/v1/simplification/updated", { factor: 5, user: "x" }, "updated", '"maxAllowableOffset":5'],
			[
				"/v2/update/updated",
				{ en: { service_name: "Three" }, fr: { service_name: "Three" } },
				{ msg: "Updated", key: "updated" },
				'"displayName":"Three"',
			],
		];
		for (const [target, body, expected, held] of table) {
			const before = await engine().state();
			const answer = await update(target, body);
			assert.is(answer.status, 200, answer.text);
			assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
			assert.is(answer.headers["cache-control"], "no-store");
			assert.equal(JSON.parse(answer.text), expected);
			assert.is.not(await engine().state(), before);
			await assertHolds("updated", held);
			const after = await engine().state();
			assert.is((await update(target, body)).status, 200, "the same again");
			assert.is(await engine().state(), after);
		}
		await assertHolds("updated", '"maxAllowableOffset":5');
	});

	test("an update that is refused stores nothing", async () => {
		const table: [status: number, target: string, body: object, error: string | RegExp][] = [
			[404, "/v1/updatefeature/none", { service_name: "x" }, "smallkey: none is not registered"],
			[404, "/v2/update/none", { en: {} }, "smallkey: none is not registered"],
			[400, "/v1/simplification/23ax5t", { factor: 5 }, "smallkey: 23ax5t is not a feature layer"],
			[400, "/v1/updatefeature/23ax5t", { service_name: "x" }, "smallkey: 23ax5t is not a feature layer"],
			[400, "/v1/updatefeature/a.b", { service_name: "x" }, /^smallkey: must be 1 to 64/],
			[400, "/v1/simplification/feature", { factor: "5" }, "/factor: must be a whole number"],
			[400, "/v2/update/feature", { en: { more: 1 } }, "/en/more: is not a known member"],
			[400, "/v2/update/feature", { fr: 1 }, "/fr: must be an object"],
			[400, "/v1/updatefeature/feature", [], "the document: must be an object"],
		];
		for (const [status, target, body, error] of table) {
			await assertRefusal(status, target, () => update(target, body), error);
		}
		const unsigned = () =>
			write(engine().origin, "PUT", "/v2/update/feature", { secret: "wrong", body: "{}" });
		await assertRefusal(401, "a wrong secret", unsigned, mismatch);
		const others = () =>
			write(engine().origin, "PUT", "/v2/update/feature", { sender: "narrow", body: '{"en":{}}' });
		await assertRefusal(
			403,
			"another's layer",
			others,
			/^smallkey: sender narrow may change these keys only/,
		);
		const deleted = await write(engine().origin, "DELETE", "/v1/updatefeature/feature");
		assert.equal([deleted.status, deleted.headers.allow], [405, "PUT"]);
	});

	test("an update's signature used twice does not undo a later change", async () => {
		assert.is((await put("updated-twice", { body: featurePayload() })).status, 201);
		const target = "/v1/simplification/updated-twice";
		const body = '{"factor":1}';
		const headers = await signedHeaders(target, { body });
		const replay = () => ask(engine().origin, "PUT", target, { headers, body });
		assert.is((await replay()).status, 200);
		assert.is((await replay()).status, 200, "as long as it changes nothing");
		assert.is((await update(target, { factor: 2 })).status, 200);
		const used = "this signature was used before, and the layer has changed since: sign again";
		await assertRefusal(401, "a replay", replay, `Authorization: ${used}`);
	});

	test("a service that does not harvest asks no service anew", async () => {
		for (const target of ["/v1/update/all", "/v1/update/7", "/v2/refresh/all", "/v2/refresh/30/1"]) {
			const send = () => write(engine().origin, "POST", target);
			await assertRefusal(409, target, send, /^this service does not harvest: /);
		}
		const wrong = () => write(engine().origin, "POST", "/v1/update/some");
		await assertRefusal(400, "another argument", wrong, /^path: must end with all or a number of days/);
		const body = () => write(engine().origin, "POST", "/v1/update/all", { body: "{}" });
		await assertRefusal(400, "a body", body, "the body must be empty");
		const unsigned = () => write(engine().origin, "POST", "/v1/update/all", { secret: "wrong" });
		await assertRefusal(401, "a wrong secret", unsigned, mismatch);
		assert.equal((await ask(engine().origin, "GET", "/v1/update/all")).headers.allow, "POST");
	});
}
