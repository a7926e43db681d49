import * as assert from "uvu/assert";
import { everyPath, manual, wms } from "../helpers/handlers.ts";
import type { Test } from "../helpers/suite.ts";
import type { Signed } from "./client.ts";
import type { Scene } from "./engine.ts";

interface Receipt {
	smallkey: string;
	commit: string;
	fragments: string[];
	published: boolean;
}

const mismatch =
	/^Authorization: is not the signature of this path, sender, timestamp and body\ncheck the sender's id /;
const late =
	/^TimeStamp: must be an ISO 8601 time .*within two minutes of this server's, which is \S+Z, not "/;
const noPath = /^path: must be \/register\/<smallkey>, not "\/[^"]*"$/;
const missing = (name: string) => `${name}: the header is missing`;

export function writeTests(test: Test<Scene>) {
	test("PUT stores a registration, and its receipt can be followed", async ({ assertRead, engine, put }) => {
		for (const prefix of ["", "/v1", "/v2"]) {
			const smallkey = `put${prefix.slice(1)}`;
			const answer = await put(smallkey, {}, prefix);
			assert.is(answer.status, 201, answer.text);
			assert.is(answer.headers["cache-control"], "no-store");
			assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
			const receipt = JSON.parse(answer.text) as Receipt;
			assert.is(receipt.smallkey, smallkey);
			assert.equal(receipt.fragments, everyPath(smallkey));
			assert.is(receipt.published, engine.published);
			assert.is((await engine.state()).trim(), receipt.commit);
			await assertRead(smallkey, "limits");
		}
	});

	test("a percent-encoded smallkey is the same key", async ({ assertRead, assertRefusal, engine, put }) => {
		assert.is((await put("enc%2Boded", { body: wms("one") })).status, 201);
		const before = await engine.state();
		assert.is((await put("enc+oded", { body: wms("one") })).status, 201);
		assert.is(await engine.state(), before);
		await assertRead("enc+oded", "one");
		const decoded = { body: wms("two"), path: "/register/enc+oded" };
		await assertRefusal(401, "the decoded path signed", () => put("enc%2Boded", decoded), mismatch);
	});

	test("DELETE removes a layer, with an empty body", async ({ assertRead, assertRefusal, put, remove }) => {
		assert.is((await put("removed")).status, 201);
		await assertRefusal(400, "a body", () => remove("removed", { body: manual }), "the body must be empty");
		const answer = await remove("removed");
		assert.is(answer.status, 204, answer.text);
		assert.is(answer.text, "");
		await assertRead("removed", null);
		const gone = "smallkey: removed is not registered";
		await assertRefusal(404, "removed twice", () => remove("removed"), gone);
		await assertRefusal(401, "not signed", () => remove("again", { secret: "another" }), mismatch);
	});

	test("a write with another signature is 401", async ({ assertRead, assertRefusal, put }) => {
		for (const [what, signed, expected] of [
			["another secret", { secret: "another" }, mismatch],
			["another body", { signedBody: wms("tampered") }, mismatch],
			["no Sender", { headers: { Sender: undefined } }, missing("Sender")],
			["three minutes ago", { timestamp: new Date(Date.now() - 180_000).toISOString() }, late],
		] as [string, Signed, string | RegExp][]) {
			await assertRefusal(401, what, () => put("refused", signed), expected);
		}
		await assertRead("refused", null);
	});

	test("a body over 64 KiB is 413, before its signature is checked", async ({ ask, assertRefusal }) => {
		const rule = "the document: must have at most 65536 bytes";
		const send = (bytes: number) => () => ask("PUT", "/register/large", { body: " ".repeat(bytes) });
		await assertRefusal(413, "65,537 bytes", send(65_537), rule);
		const names = ["Authorization", "Sender", "TimeStamp"];
		await assertRefusal(401, "65,536 bytes", send(65_536), names.map(missing));
	});

	test("writes are PUT and DELETE of a path without a query", async ({ ask, assertRefusal, write }) => {
		const send = (method: string, path: string) => () => write(method, path, { body: manual });
		for (const method of ["GET", "PATCH"]) {
			const rule = `method: must be PUT | DELETE, not ${method}`;
			const bare = () => ask(method, "/register/23ax5t");
			await assertRefusal(405, method, bare, rule);
		}
		const head = await ask("HEAD", "/register/23ax5t");
		assert.equal([head.status, head.headers.allow, head.text], [405, "DELETE, PUT", ""]);
		for (const path of ["/register/a/b", "/nothing"])
			await assertRefusal(404, path, send("PUT", path), noPath);
		await assertRefusal(400, "a query", send("PUT", "/register/refused?"), noPath);
		await assertRefusal(400, "two slashes", send("PUT", "//register/x"), noPath);
	});

	test("a path that URL parsing would alter is refused", async ({ assertRefusal, differs, write }) => {
		// Behind a URL parser: a signature of another path, or another path.
		for (const [target, status, error] of [
			["/register/../register/dots", 401, mismatch],
			["/register/%2E%2E", 404, noPath],
			["/register/a\\b", 404, noPath],
			["/register/a#b", 401, mismatch],
		] as const) {
			const send = () => write("PUT", target, { body: manual });
			if (differs("dot segments")) await assertRefusal(status, target, send, error);
			else await assertRefusal(400, target, send, noPath);
		}
	});
}
