import * as assert from "uvu/assert";
import { everyPath, manual } from "../helpers/local.ts";
import type { Test } from "../helpers/suite.ts";
import { ask, errorsOf, signedHeaders } from "./client.ts";
import { type Engine, wms } from "./engine.ts";
import { mismatch, statusOf, writer } from "./writer.ts";

interface Receipt {
	smallkey: string;
	commit: string;
	fragments: string[];
	published: boolean;
}

/** PUT and DELETE: what is stored. */
export function writeTests(test: Test, engine: () => Engine): void {
	const { put, remove, assertRead, assertRefusal } = writer(engine);

	test("PUT stores a registration, and its receipt can be followed", async () => {
		for (const prefix of ["", "/v1", "/v2"]) {
			const smallkey = `put${prefix.slice(1)}`;
			const answer = await put(smallkey, {}, prefix);
			assert.is(answer.status, 201, answer.text);
			assert.is(answer.headers["cache-control"], "no-store");
			assert.match(answer.headers["content-type"] ?? "", /^application\/json/);
			const receipt = JSON.parse(answer.text) as Receipt;
			assert.is(receipt.smallkey, smallkey);
			assert.equal(receipt.fragments, everyPath(smallkey));
			assert.is(receipt.published, engine().published);
			assert.is((await engine().state()).trim(), receipt.commit);
			await assertRead(smallkey, "limits");
		}
	});

	test("a registration is followed where its receipt says", async () => {
		const { commit, status } = JSON.parse((await put("followed")).text) as Receipt & { status?: string };
		const answer = await ask(engine().origin, "GET", "/status/followed");
		assert.is(answer.headers["access-control-allow-origin"], "*");
		assert.is(answer.headers["cache-control"], "no-store");
		if (status !== undefined) {
			assert.is(status, "/status/followed");
			assert.is(answer.status, 200, answer.text);
			assert.equal(JSON.parse(answer.text).commit, commit);
			assert.not.match(answer.text, /jstest/);
		} else {
			assert.is(answer.status, 404);
			assert.match(errorsOf(answer).join(), /^status: the catalogue has it/);
		}
	});

	test("the same payload again changes nothing; another one does", async () => {
		const first = JSON.parse((await put("again")).text) as Receipt;
		const before = await engine().state();
		const { fr, en, ...rest } = JSON.parse(manual);
		for (const body of [manual, JSON.stringify({ fr, en, ...rest }, null, "\t")]) {
			const answer = await put("again", { body });
			assert.is(answer.status, 201);
			assert.is((JSON.parse(answer.text) as Receipt).commit, first.commit);
		}
		assert.is(await engine().state(), before);
		assert.is((await put("again", { body: wms("other") })).status, 201);
		assert.not.equal(await engine().state(), before);
		await assertRead("again", "other");
	});

	test("a percent-encoded smallkey is signed as sent, and is the same key", async () => {
		assert.is((await put("enc%2Boded", { body: wms("one") })).status, 201);
		const before = await engine().state();
		assert.is((await put("enc+oded", { body: wms("one") })).status, 201);
		assert.is(await engine().state(), before);
		await assertRead("enc+oded", "one");
		const decoded = { body: wms("two"), path: "/register/enc+oded" };
		await assertRefusal(401, "the decoded path signed", () => put("enc%2Boded", decoded), mismatch);
	});

	test("a signature used twice does not undo a later change", async () => {
		const target = "/register/replayed";
		const headers = await signedHeaders(target, { body: wms("first") });
		const replay = () => ask(engine().origin, "PUT", target, { headers, body: wms("first") });
		assert.is((await replay()).status, 201);
		assert.is((await replay()).status, 201, "as long as it changes nothing");
		assert.is((await put("replayed", { body: wms("second") })).status, 201);
		const used = "this signature was used before, and the layer has changed since: sign again";
		await assertRefusal(401, "a replay", replay, `Authorization: ${used}`);
		await assertRead("replayed", "second");
	});

	test("PUTs that arrive at once are all stored, each in a commit of its own", async () => {
		const smallkeys = Array.from({ length: 4 }, (_, index) => `at-once-${index}`);
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
		await assertRefusal(400, "a body", () => remove("removed", { body: manual }), "the body must be empty");
		const answer = await remove("removed");
		assert.is(answer.status, 204, answer.text);
		assert.is(answer.text, "");
		await assertRead("removed", null);
		const gone = "smallkey: removed is not registered";
		await assertRefusal(404, "removed twice", () => remove("removed"), gone);
		await assertRefusal(401, "not signed", () => remove("again", { secret: "another" }), mismatch);
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
}
