import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { manual } from "../local.ts";
import { ask, errorsOf, type Signed, write } from "./client.ts";
import { differs } from "./differences.ts";
import { type Candidate, type Engine, wms } from "./engine.ts";
import { at, statusOf, writer } from "./writer.ts";

/** PUT and DELETE: what is refused, and that nothing is stored then. */
export function refusalTests(test: Test, candidate: Candidate, engine: () => Engine): void {
	const { put, remove, assertRead, assertRefusal } = writer(engine);

	test("what is not signed as the specification says is 401", async () => {
		const table: [string, Signed][] = [
			["another secret", { secret: "another" }],
			["an unknown sender", { sender: "nobody" }],
			["__proto__ as the sender", { sender: "__proto__", secret: "None" }],
			["the secret None", { sender: "nobody", secret: "None" }],
			["another path", { path: "/v1/register/refused" }],
			["another body", { signedBody: wms("tampered") }],
			["no Authorization", { headers: { Authorization: undefined } }],
			["no Sender", { headers: { Sender: undefined } }],
			["no TimeStamp", { headers: { TimeStamp: undefined } }],
			["an empty Authorization", { headers: { Authorization: "" } }],
			["a scheme word", { headers: { Authorization: "HMAC x" } }],
			["junk", { headers: { Authorization: "\u00ff\u00fe", Sender: "\u00ff", TimeStamp: "\u00ff" } }],
			["three minutes ago", { timestamp: at(-180) }],
			["in three minutes", { timestamp: at(180) }],
			["in another zone", { timestamp: at(0).replace("Z", "+01:00") }],
			["a date only", { timestamp: at(0).slice(0, 10) }],
			["no time", { timestamp: "now" }],
			["ten digits", { timestamp: at(0).replace("Z", "1234567Z") }],
		];
		for (const [what, signed] of table) await assertRefusal(401, what, () => put("refused", signed));
		await assertRead("refused", null);
	});

	test("one text for a wrong signature and an unknown sender; the window names the server's time", async () => {
		const wrong = errorsOf(await put("refused", { secret: "another" }));
		const unknown = errorsOf(await put("refused", { sender: "nobody" }));
		assert.equal(wrong, unknown);
		const [late = ""] = errorsOf(await put("refused", { timestamp: at(-600) }));
		assert.ok(late.includes(new Date().toISOString().slice(0, 10)), late);
	});

	test("the manual's own request is genuine, and too old", async () => {
		const headers = {
			Authorization: "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY",
			TimeStamp: "2014-12-05T18:28:56.714Z",
			Sender: "jstest",
		};
		const send = () => ask(engine().origin, "PUT", "/register/23ax5t", { headers, body: manual });
		const [error = ""] = await assertRefusal(401, "the manual's request", send);
		assert.match(error, /^TimeStamp:/);
	});

	test("a smallkey that cannot be one is 400", async () => {
		for (const smallkey of [
			"a.b",
			"%2E%2E",
			"a%20b",
			"%C3%A9",
			"y".repeat(65),
			"%zz",
			"a%2Fb",
			".git",
			"a,b",
			"",
		]) {
			if (smallkey.startsWith("%2E") && differs(candidate, "dot segments")) continue;
			if (smallkey === "%zz" && differs(candidate, "malformed percent-encoding")) continue;
			const errors = await assertRefusal(400, smallkey, () => put(smallkey));
			assert.match(errors[0] ?? "", /^(?:smallkey|path):/);
		}
	});

	test("a payload that breaks the rules is 400 with every problem at once", async () => {
		const broken =
			'{"version":"2.0.0","payload_type":"wms","en":{"service_url":"ftp://x"},"fr":{"service_url":"http://u:p@x/","layer":"a"}}';
		const errors = await assertRefusal(400, "a broken payload", () => put("refused", { body: broken }));
		for (const place of ["/version", "/en/service_url", "/en/layer", "/fr/service_url"]) {
			assert.ok(
				errors.some((error) => error.startsWith(`${place}: `)),
				`${place} in ${errors.join("; ")}`,
			);
		}
		const bodies: [string, string | Uint8Array][] = [
			["no body", ""],
			["no JSON", "{"],
			["null", "null"],
			["an array", "[]"],
			["a member twice", manual.replace("{", '{"version":"1.0.0",')],
			["an unknown member", manual.replace("{", '{"__proto__":{},')],
			["a lone surrogate", manual.replace('"limits"', '"\\ud800"')],
			["a byte order mark", `\ufeff${manual}`],
			[
				"no UTF-8",
				Buffer.concat([Buffer.from(manual.slice(0, -2)), Buffer.from([0xff]), Buffer.from('"}}')]),
			],
			["nested deeply", "[".repeat(20_000) + "]".repeat(20_000)],
		];
		for (const [what, body] of bodies) await assertRefusal(400, what, () => put("refused", { body }));
		await assertRead("refused", null);
	});

	test("a sender changes the smallkeys that are its own", async () => {
		const own = { sender: "narrow", body: wms("mine") };
		assert.is((await put("abc", own)).status, 201);
		const errors = await assertRefusal(403, "another's key", () => put("again", own));
		assert.ok(errors[0]?.includes("again"), errors[0]);
		await assertRefusal(403, "a removal", () => remove("again", { sender: "narrow" }));
	});

	test("a smallkey that differs only in case is 409", async () => {
		const errors = await assertRefusal(409, "23AX5T", () => put("23AX5T"));
		assert.ok(errors[0]?.includes("23ax5t"), errors[0]);
	});

	test("a body over 64 KiB is 413, before its signature is looked at", async () => {
		const send = () => ask(engine().origin, "PUT", "/register/large", { body: " ".repeat(65_537) });
		await assertRefusal(413, "65,537 bytes", send);
		await assertRefusal(413, "2 MiB", () => put("large", { body: " ".repeat(1 << 21) }));
		await assertRefusal(401, "65,536 bytes", () =>
			ask(engine().origin, "PUT", "/register/large", { body: " ".repeat(65_536) }),
		);
	});

	test("writes know PUT and DELETE of one path segment only, without a query", async () => {
		for (const method of ["GET", "HEAD", "POST", "PATCH", "OPTIONS"]) {
			const answer = await ask(engine().origin, method, "/register/23ax5t");
			assert.is(answer.status, 405, method);
			assert.is(answer.headers.allow, "DELETE, PUT");
		}
		for (const path of ["/register", "/register/a/b", "/v1/register/a/b", "/register/a/"]) {
			await assertRefusal(404, path, () => write(engine().origin, "PUT", path, { body: manual }));
		}
		await assertRefusal(400, "a query", () => put("refused?x=1"));
		await assertRefusal(400, "an empty query", () => put("refused?"));
		for (const path of ["//register/x", "/v2/register/x", "/v1//register/x"]) {
			const before = await engine().state();
			const answer = await write(engine().origin, "PUT", path, { body: manual });
			assert.ok(answer.status >= 400 && answer.status < 500, `${path}: ${answer.status}`);
			assert.is(await engine().state(), before);
		}
	});

	test("a path that URL parsing would alter is refused", async () => {
		const before = await engine().state();
		const targets = [
			"/register/../register/dots",
			"/register/./dots",
			"/register/%2e/dots",
			"/register/a\\b",
			"/x/../register/dots",
		];
		for (const target of targets) {
			const answer = await write(engine().origin, "PUT", target, { body: manual });
			assert.ok(answer.status >= 400 && answer.status < 500, `${target}: ${answer.status} ${answer.text}`);
			if (!differs(candidate, "dot segments"))
				errorsOf(answer.status === 404 ? { ...answer, text: '{"errors":[""]}' } : answer);
		}
		assert.is(await engine().state(), before);
	});

	test("bytes that are no request are refused, and the service goes on", async () => {
		const junk = [
			"\x00\x01\x02\r\n\r\n",
			"GET\r\n\r\n",
			"GET /v0.9/doc/en/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
			"PUT /register/\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /a b c HTTP/1.1\r\nHost: x\r\n\r\n",
		];
		for (const bytes of junk) {
			const status = await statusOf(engine().origin, Buffer.from(bytes, "latin1"));
			assert.ok(
				status === null || (status >= 400 && status <= 501 && status !== 500),
				`${JSON.stringify(bytes)}: ${status}`,
			);
		}
		assert.is((await ask(engine().origin, "GET", "/healthz")).status, 200);
	});
}
