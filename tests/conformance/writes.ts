import { connect } from "node:net";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { manual } from "../local.ts";
import { type Answer, ask, errorsOf, type Signed, signedHeaders, write } from "./client.ts";
import { differs } from "./differences.ts";
import { type Candidate, type Engine, wms, wmsFragment } from "./engine.ts";

interface Receipt {
	smallkey: string;
	commit: string;
	fragments: string[];
	published: boolean;
}

/** A time that lies some seconds from now, as a publisher writes it. */
function at(seconds: number): string {
	return new Date(Date.now() + seconds * 1000).toISOString();
}

/** PUT and DELETE: what is stored, and what is refused. */
export function writeTests(test: Test, candidate: Candidate, engine: () => Engine): void {
	const put = (smallkey: string, signed: Signed = {}, prefix = "") =>
		write(engine().origin, "PUT", `${prefix}/register/${smallkey}`, { body: manual, ...signed });
	const remove = (smallkey: string, signed: Signed = {}) =>
		write(engine().origin, "DELETE", `/register/${smallkey}`, signed);

	async function assertRead(smallkey: string, name: string | null): Promise<void> {
		if (!engine().published) return;
		for (const lang of ["en", "fr"]) {
			const answer = await ask(engine().origin, "GET", `/v0.9/doc/${lang}/${smallkey}`);
			assert.is(answer.status, name === null ? 404 : 200);
			if (name !== null) assert.equal(JSON.parse(answer.text), wmsFragment(smallkey, lang, name));
		}
	}

	/** A refusal: its status, a body of errors, and that nothing was stored. */
	async function assertRefusal(status: number, what: string, send: () => Promise<Answer>): Promise<string[]> {
		const before = await engine().state();
		const answer = await send();
		assert.is(answer.status, status, `${what}: ${answer.text}`);
		assert.is(await engine().state(), before, `${what}: nothing is stored`);
		return errorsOf(answer);
	}

	test("PUT stores a registration, and its receipt can be followed", async () => {
		for (const prefix of ["", "/v1"]) {
			const smallkey = `put${prefix.slice(1)}`;
			const before = await engine().state();
			const answer = await put(smallkey, {}, prefix);
			assert.is(answer.status, 201, answer.text);
			assert.is(answer.headers["cache-control"], "no-store");
			assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
			const receipt = JSON.parse(answer.text) as Receipt;
			assert.is(receipt.smallkey, smallkey);
			assert.equal(receipt.fragments, [`/v0.9/doc/en/${smallkey}`, `/v0.9/doc/fr/${smallkey}`]);
			assert.is(receipt.published, engine().published);
			assert.not.equal(await engine().state(), before);
			assert.is((await engine().state()).trim(), receipt.commit);
			await assertRead(smallkey, "limits");
		}
	});

	test("the same payload again changes nothing; another one does", async () => {
		const first = JSON.parse((await put("again")).text) as Receipt;
		const before = await engine().state();
		const spelled = JSON.stringify(JSON.parse(manual), null, "\t");
		for (const body of [manual, spelled]) {
			const answer = await put("again", { body });
			assert.is(answer.status, 201);
			assert.is((JSON.parse(answer.text) as Receipt).commit, first.commit);
		}
		assert.is(await engine().state(), before);
		assert.is((await put("again", { body: wms("other") })).status, 201);
		assert.not.equal(await engine().state(), before);
		await assertRead("again", "other");
	});

	test("every form of a timestamp that publishers send is accepted", async () => {
		const now = new Date().toISOString();
		const forms = [
			now.slice(0, 19),
			`${now.slice(0, 19)}Z`,
			`${now.slice(0, 23)}+00:00`,
			`${now.slice(0, 23)}123456Z`,
		];
		for (const timestamp of [...forms, at(-110), at(110)]) {
			assert.is((await put("again", { timestamp, body: wms("other") })).status, 201, timestamp);
		}
	});

	test("a percent-encoded smallkey is signed as sent, and is the same key", async () => {
		assert.is((await put("enc%2Boded", { body: wms("one") })).status, 201);
		const before = await engine().state();
		assert.is((await put("enc+oded", { body: wms("one") })).status, 201);
		assert.is(await engine().state(), before);
		await assertRead("enc+oded", "one");
		await assertRefusal(401, "the decoded path signed", () =>
			put("enc%2Boded", { body: wms("two"), path: "/register/enc+oded" }),
		);
	});

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
			["two minutes ago", { timestamp: at(-121) }],
			["in two minutes", { timestamp: at(121) }],
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
		assert.ok(late.includes(new Date().toISOString().slice(0, 13)), late);
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

	test("a signature used twice does not undo a later change", async () => {
		const target = "/register/replayed";
		const headers = await signedHeaders(target, { body: wms("first") });
		const replay = () => ask(engine().origin, "PUT", target, { headers, body: wms("first") });
		assert.is((await replay()).status, 201);
		assert.is((await replay()).status, 201, "as long as it changes nothing");
		assert.is((await put("replayed", { body: wms("second") })).status, 201);
		await assertRefusal(401, "a replay", replay);
		await assertRead("replayed", "second");
	});

	test("PUTs that arrive at once are all stored, each in a commit of its own", async () => {
		const smallkeys = Array.from({ length: 12 }, (_, index) => `at-once-${index}`);
		const answers = await Promise.all(smallkeys.map((smallkey) => put(smallkey, { body: wms(smallkey) })));
		const commits = new Set<string>();
		for (const answer of answers) {
			assert.is(answer.status, 201, answer.text);
			commits.add((JSON.parse(answer.text) as Receipt).commit);
		}
		assert.is(commits.size, smallkeys.length);
		for (const smallkey of smallkeys) await assertRead(smallkey, smallkey);
	});

	test("DELETE removes a layer; its body has to be empty", async () => {
		assert.is((await put("removed")).status, 201);
		const [error = ""] = await assertRefusal(400, "a body", () => remove("removed", { body: manual }));
		assert.match(error, /body/);
		const answer = await remove("removed");
		assert.is(answer.status, 204, answer.text);
		assert.is(answer.text, "");
		await assertRead("removed", null);
		await assertRefusal(404, "removed twice", () => remove("removed"));
		await assertRefusal(401, "not signed", () => remove("again", { secret: "another" }));
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

	test("a body in chunks is read to its end", async () => {
		const target = "/register/chunked";
		const headers = await signedHeaders(target, { body: manual });
		const head = Object.entries(headers).map(([name, text]) => `${name}: ${text}\r\n`);
		const chunks = [manual.slice(0, 50), manual.slice(50)].map(
			(part) => `${part.length.toString(16)}\r\n${part}\r\n`,
		);
		const status = await statusOf(
			engine().origin,
			`PUT ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${head.join("")}\r\n${chunks.join("")}0\r\n\r\n`,
		);
		assert.is(status, 201);
		await assertRead("chunked", "limits");
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

/** Sends bytes as they are; the status of the first answer, or null where the connection ends without one. */
function statusOf(origin: string, bytes: string | Uint8Array): Promise<number | null> {
	const { hostname, port } = new URL(origin);
	return new Promise((resolve, reject) => {
		const socket = connect(Number(port), hostname, () => socket.write(bytes));
		socket.setTimeout(20_000, () => socket.destroy(new Error("no answer")));
		let text = "";
		socket.on("data", (data) => {
			text += data.toString("latin1");
			const match = /^HTTP\/1\.[01] (\d{3})/.exec(text);
			if (!match) return;
			resolve(Number(match[1]));
			socket.destroy();
		});
		socket.on("error", (error: NodeJS.ErrnoException) =>
			error.code === "ECONNRESET" ? resolve(null) : reject(error),
		);
		socket.on("close", () => resolve(null));
	});
}
