import * as assert from "uvu/assert";
import { parseSenders } from "../../api/senders.ts";
import { isSignedBy, messageOf, sign, verify } from "../../api/signature.ts";
import { blobId, sha256Hex } from "../../store/hashes.ts";
import { manual } from "../helpers/handlers.ts";
import { test } from "../helpers/suite.ts";

// The older service's manual, and the same request under /v1.
const secret = "test_-k";
const signature = "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY";
const body = new TextEncoder().encode(manual);
const signed = { path: "/register/23ax5t", sender: "jstest", timestamp: "2014-12-05T18:28:56.714Z", body };

test("the manual's example has the manual's signature", async () => {
	assert.is(await sign(secret, signed), signature);
	assert.is(
		await sign(secret, { ...signed, path: "/v1/register/23ax5t" }),
		"pubCaWloDFir8Ehg_MbVXWvVnqopm9zRpAP_sBPBr1k",
	);
	// FIPS 180-4's example, and what `printf hello | git hash-object --stdin` prints.
	assert.is(await sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert.is(await blobId("hello"), "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
});

test("a signature is compared as text: another text of the same bytes is refused", async () => {
	assert.ok(await verify(secret, messageOf(signed), signature));
	// The last of 43 characters carries two unused bits: Y, Z, a and b decode alike.
	const others = ["Z", "a", "b", "Y=", "Y ", ""].map((last) => signature.slice(0, -1) + last);
	for (const text of [...others, "", "é", "\0", "x".repeat(100_000)])
		assert.not(await verify(secret, messageOf(signed), text), text.slice(0, 60));
});

const parse = (entry: unknown) => parseSenders(JSON.stringify({ a: entry }), "SENDERS").get("a");

test("during a rotation both secrets are accepted, until the set time", async () => {
	const until = "2026-03-04T12:00:00Z";
	const [before, end] = [new Date("2026-03-04T11:59:59.999Z"), new Date(until)];
	const sender = parse({ key: "new", previous_key: "old", previous_key_until: until });
	const forever = parse({ key: "new", previous_key: "old" });
	for (const [who, by, time, expected] of [
		[sender, "new", before, true],
		[sender, "new", end, true],
		[sender, "old", before, true],
		[sender, "old", end, false],
		[sender, "other", before, false],
		[forever, "old", end, true],
		[undefined, "no sender has this secret", end, false],
		[parse("secret"), "no sender has this secret", end, false],
	] as const)
		assert.is(await isSignedBy(who, signed, await sign(by, signed), time), expected, by);
});

test("wrong senders are refused by name and rule, without a secret", () => {
	const rows: [text: object | string, rule: RegExp][] = [
		["[]", /^SENDERS: must be an object/],
		["{", /^SENDERS: the document: must be JSON/],
		['{"a":"hid","a":"hid2"}', /\/a: occurs more than once/],
		['{"a b":"hid"}', /sender "a b": an id must be 1 to 64 of A-Z a-z 0-9 . _ -/],
		['{"a":{"key":"hid","previous_key":"hid2"},"b":"hid2"}', /senders a and b must not share a secret/],
		[{ key: "" }, /the secret must not be empty/],
		[{ key: "hid", previous_key: "" }, /previous_key must not be empty/],
		[{ key: "hid", previous_key_until: "2026-03-04T12:00:00Z" }, /previous_key must not be empty/],
		[{ key: "x", previous_key: "hid", previous_key_until: "soon" }, /an ISO 8601 time/],
		[{ key: "hid", previous_key: "hid" }, /must not be its key/],
		[{ key: "hid", review: "yes" }, /review must be true or false/],
		[{ key: "hid", smallkeys: "ab*" }, /smallkeys must be a list of globs/],
		[{ key: "hid", name: { en: "a" } }, /name must be a text, or one in en and one in fr/],
		[{ key: "hid", name: { en: "a", fr: "b", de: "c" } }, /name must have en and fr only, not de/],
		[{ key: "hid", name: { en: "a", fr: "b\nc" } }, /name\.fr must be a text of one line/],
		[{ key: "hid", keys: [] }, /keys is not a known member/],
	];
	for (const [given, rule] of rows) {
		const text = typeof given === "string" ? given : JSON.stringify({ a: given });
		assert.throws(
			() => parseSenders(text, "SENDERS"),
			({ message }: Error) => rule.test(message) && !message.includes("hid"),
			text,
		);
	}
	assert.equal(parse({ key: "x", name: { fr: "Cartes", en: "Maps" } })?.name, { en: "Maps", fr: "Cartes" });
	assert.is(parse({ key: "x", name: "Agency" })?.name, "Agency");
});

test.run();
