import * as assert from "uvu/assert";
import { draftAddress, draftHash, readDraft } from "../../registry/draft.ts";
import { suite } from "../helpers/suite.ts";

const test = suite("the address of a draft");

const written = { smallkey: "a+b=1", text: '{"en": "École \u2028 <script>&#"}\n' };

test("leads to the catalogue's page of drafts, with all of it behind #", () => {
	const address = draftAddress("https://layers.example/base", written);
	const { origin, pathname, search, hash } = new URL(address ?? "");
	assert.equal([origin, pathname, search], ["https://layers.example", "/base/", "?page=draft"]);
	assert.equal(readDraft(hash), written);
});

test("is missing without the address of the service, with credentials, and for a draft that is too long", () => {
	assert.is(draftAddress("", written), null);
	const secret = { ...written, text: '{"service_url":"https://me:secret@h.example/"}' };
	for (const draft of [
		secret,
		{ ...written, text: "x".repeat(16_000) },
		{ ...written, text: "é".repeat(40_000) },
	])
		assert.is(draftAddress("https://layers.example", draft), null);
});

test("a link that is no draft, or too long, is null", () => {
	for (const hash of ["", "#", "#draft=a", "#text=a", `#draft=a&text=${"x".repeat(200_000)}`])
		assert.is(readDraft(hash), null, hash.slice(0, 20));
	assert.is(draftHash({ smallkey: "a", text: "x".repeat(200_000) }), "");
});

test.run();
