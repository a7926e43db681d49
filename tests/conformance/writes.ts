import * as assert from "uvu/assert";
import { everyPath, manual } from "../helpers/local.ts";
import type { Test } from "../helpers/suite.ts";
import { type Engine, wms } from "./engine.ts";
import { mismatch, writer } from "./writer.ts";

interface Receipt {
	smallkey: string;
	commit: string;
	fragments: string[];
	published: boolean;
}

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

	test("a percent-encoded smallkey is signed as sent, and is the same key", async () => {
		assert.is((await put("enc%2Boded", { body: wms("one") })).status, 201);
		const before = await engine().state();
		assert.is((await put("enc+oded", { body: wms("one") })).status, 201);
		assert.is(await engine().state(), before);
		await assertRead("enc+oded", "one");
		const decoded = { body: wms("two"), path: "/register/enc+oded" };
		await assertRefusal(401, "the decoded path signed", () => put("enc%2Boded", decoded), mismatch);
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
}
