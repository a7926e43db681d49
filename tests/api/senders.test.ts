import * as assert from "uvu/assert";
import { isSignedBy, parseSenders, sign } from "../../api/senders.ts";
import { test } from "../helpers/suite.ts";
import { notingHashes } from "./noted-hashes.ts";

const place = "SENDERS";
const body = new TextEncoder().encode("{}");
const signed = { path: "/register/a", sender: "a", timestamp: "2026-03-04T12:00:00Z", body };

function parse(entry: unknown) {
	return parseSenders(JSON.stringify({ a: entry }), place).get("a");
}

test("during a rotation both secrets are accepted, until the set time", async () => {
	const sender = parse({ key: "new", previous_key: "old", previous_key_until: "2026-03-04T12:00:00Z" });
	const [before, end] = [new Date("2026-03-04T11:59:59.999Z"), new Date("2026-03-04T12:00:00Z")];
	const [byNew, byOld, byOther] = await Promise.all(["new", "old", "other"].map((one) => sign(one, signed)));
	assert.ok(await isSignedBy(sender, signed, byNew as string, before));
	assert.ok(await isSignedBy(sender, signed, byNew as string, end));
	assert.ok(await isSignedBy(sender, signed, byOld as string, before));
	assert.not.ok(await isSignedBy(sender, signed, byOld as string, end));
	assert.not.ok(await isSignedBy(sender, signed, byOther as string, before));
	const forever = parse({ key: "new", previous_key: "old" });
	assert.ok(await isSignedBy(forever, signed, byOld as string, end));
});

test("the substitute for a missing secret is no sender's", async () => {
	const signature = await sign("no sender has this secret", signed);
	const now = new Date("2026-03-04T12:00:00Z");
	assert.not.ok(await isSignedBy(undefined, signed, signature, now));
	assert.not.ok(await isSignedBy(parse("secret"), signed, signature, now));
});

for (const [what, entry, text] of [
	["a previous secret that is empty", { key: "x", previous_key: "" }, /previous_key must not be empty/],
	[
		"a time without a secret",
		{ key: "x", previous_key_until: "2026-03-04T12:00:00Z" },
		/previous_key must not/,
	],
	["a time in words", { key: "x", previous_key: "hid", previous_key_until: "soon" }, /an ISO 8601 time/],
	["a previous secret that is the secret", { key: "hid", previous_key: "hid" }, /must not be its key/],
	[
		"a name in one language",
		{ key: "hid", name: { en: "a" } },
		/name must be a text, or one in en and one in fr/,
	],
	[
		"a name in a third language",
		{ key: "hid", name: { en: "a", fr: "b", de: "c" } },
		/name must have en and fr only, not de/,
	],
	[
		"a French name of two lines",
		{ key: "hid", name: { en: "a", fr: "b\nc" } },
		/name\.fr must be a text of one line/,
	],
	["a name of two lines", { key: "hid", name: "a\nb" }, /name must be a text of one line/],
	["an unknown member", { key: "hid", keys: [] }, /keys is not a known member/],
] as const) {
	test(`${what} is refused without the secret`, () => {
		try {
			parse(entry);
		} catch (error) {
			assert.match(String(error), text);
			assert.not.match(String(error), /hid/);
			return;
		}
		assert.unreachable();
	});
}

test("two senders cannot share a secret, before a rotation or after it", () => {
	const text = '{"a":{"key":"new","previous_key":"old"},"b":"old"}';
	assert.throws(() => parseSenders(text, place), /SENDERS: senders a and b must not share a secret/);
	assert.throws(() => parseSenders('{"a":"x","a":"y"}', place), /SENDERS: \/a: occurs more than once/);
});

test("an unknown sender, one in a rotation and any other cost the same hashes", async () => {
	const now = new Date("2026-03-04T12:00:00Z");
	const rotating = parse({ key: "another secret of any length", previous_key: "its previous one, as well" });
	const works: number[][] = [];
	for (const sender of [undefined, parse("a secret of any length, too"), rotating]) {
		const work: number[] = [];
		// HMAC hashes one block of the key, whatever its length up to 64 bytes is (RFC 2104).
		const note = (_name: string, bytes: Uint8Array, key = bytes) =>
			work.push(key.length > 64 ? Number.NaN : bytes.length);
		assert.not.ok(await notingHashes(note, () => isSignedBy(sender, signed, "x".repeat(43), now)));
		works.push(work);
	}
	assert.is(works[0]?.length, 2);
	assert.equal(works, [works[0], works[0], works[0]]);
});

test("a sender's public name is one text, or one in each language", () => {
	const named = { a: { key: "x", name: { fr: "Cartes", en: "Maps" } }, b: { key: "y", name: "Agency" } };
	const senders = parseSenders(JSON.stringify(named), "SENDERS");
	assert.equal(senders.get("a")?.name, { en: "Maps", fr: "Cartes" });
	assert.is(senders.get("b")?.name, "Agency");
});

test.run();
