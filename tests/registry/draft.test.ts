import { deflateRawSync } from "node:zlib";
import * as assert from "uvu/assert";
import { draftAddress, packDraft, unpackDraft } from "../../registry/draft.ts";
import { suite } from "../helpers/suite.ts";

const test = suite("the address of a draft");

const written = { smallkey: "a+b=1", text: '{"en": "École \u2028 <script>"}\n' };
let junk = "";
for (let state = 1; junk.length < 135_000; state = (state * 48271) % 2147483647) junk += state.toString(36);

test("leads to the catalogue's page of drafts, with all of it behind #", async () => {
	const address = await draftAddress("https://layers.example/base", written);
	const { origin, pathname, search, hash } = new URL(address ?? "");
	assert.equal([origin, pathname, search], ["https://layers.example", "/base/", "?page=draft"]);
	assert.match(hash, /^#draft=[A-Za-z0-9_-]+$/);
	assert.equal(await unpackDraft(hash.slice("#draft=".length)), written);
});

test("is missing without the address of the service, and for a draft that is too long", async () => {
	assert.is(await draftAddress("", written), null);
	assert.is(await draftAddress("https://layers.example", { ...written, text: "x".repeat(100_000) }), null);
	assert.is(await draftAddress("https://layers.example", { ...written, text: junk.slice(0, 40_000) }), null);
});

test("a link that is cut off, not UTF-8, no draft or too long is null", async () => {
	const packed = await packDraft(written);
	for (const link of [
		"",
		packed.slice(0, -4),
		`${packed}.`,
		"AAAA",
		deflateRawSync(Buffer.from('["a","\xe9"]', "latin1")).toString("base64url"),
		await packDraft({ smallkey: "a", text: junk }),
		await packDraft({ smallkey: "a", text: "x".repeat(150_000) }),
	])
		assert.is(await unpackDraft(link), null, link.slice(0, 20));
});

test.run();
