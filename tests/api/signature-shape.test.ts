import * as assert from "uvu/assert";
import { shapeHint, sign } from "../../api/senders.ts";
import { textsOf } from "../../registry/problems.ts";
import type { Problem } from "../../registry/texts.ts";
import { handleWrite, Local, manual, signedWrite } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";

const rule = "Authorization: must be 43 characters of URL-safe base64 without padding, and this one ";

test("the commonest mistakes with a signature are named, and a right shape never", async () => {
	const signed = {
		path: "/register/a",
		sender: "jstest",
		timestamp: "2026-03-04T12:00:00Z",
		body: new Uint8Array(0),
	};
	const good = await sign("secret", signed);
	assert.is(shapeHint(good), null);
	assert.is(shapeHint("_".repeat(43)), null);
	const standard = Buffer.from("ff".repeat(32), "hex");
	const table: [text: string, odd: string][] = [
		[`${good}=`, "has 44 and ends with ="],
		[standard.toString("base64"), "has 44 and ends with ="],
		[standard.toString("base64").slice(0, -1), "has + or /, which are - and _ there"],
		[standard.toString("hex"), "is hexadecimal"],
		[standard.toString("hex").toUpperCase(), "is hexadecimal"],
		[`Bearer ${good}`, "starts with Bearer: there is no word before the signature"],
		[`HMAC-SHA256 ${good}`, "starts with HMAC-SHA256: there is no word before the signature"],
		["x", "has 1"],
		[good.slice(1), "has 42"],
		["é".repeat(43), "has other characters"],
		["x".repeat(60_000), "has 60000"],
	];
	for (const [text, odd] of table) {
		const [said] = textsOf([shapeHint(text) as Problem]);
		assert.is(said, rule + odd, text.slice(0, 80));
	}
});

test("a 401 says so beside its one text, which does not tell a wrong signature from an unknown sender", async () => {
	await using local = await Local.open();
	const errors = async (more: object) => {
		const answer = await local.write({ target: "/register/a", body: manual, ...more });
		assert.is(answer.status, 401);
		return ((await answer.json()) as { errors: string[] }).errors;
	};
	const mismatch = "Authorization: is not the signature of this path, sender, timestamp and body";
	const padded = { headers: { Authorization: `${"a".repeat(43)}=` } };
	assert.equal(await errors(padded), [mismatch, `${rule}has 44 and ends with =`]);
	assert.equal(await errors({ ...padded, sender: "unknown" }), [mismatch, `${rule}has 44 and ends with =`]);
	assert.equal(await errors({ secret: "wrong" }), [mismatch]);
	assert.equal(await errors({ sender: "unknown" }), [mismatch]);
	const hint = async (more: object) => {
		const answer = await local.write({ target: "/rcs/register/a", body: manual, ...more });
		return ((await answer.json()) as { hint?: string }).hint;
	};
	await local.stop();
	local.variables = { BASE_PATH: "/rcs" };
	await local.start();
	const said = (await hint({ secret: "wrong" })) ?? "";
	for (const word of [
		"secret",
		"curl -d",
		" /rcs/register/<smallkey>;",
		"npx fragment-publisher sign --explain",
	]) {
		assert.match(said, word);
	}
	assert.is(await hint({ sender: "unknown" }), said, "the answer does not show which senders there are");
	assert.match(
		(await hint({ timestamp: "yesterday" })) ?? "",
		/^the TimeStamp that was sent is "yesterday"; date -u/,
	);
	await local.stop();
	local.variables = {};
	await local.start();
	// The operator's log knows more.
	const reasonOf = async (more: object) => {
		const write = await signedWrite({ target: "/register/a", body: manual, ...more }, local.now);
		return (await handleWrite(write, local.context)).reason;
	};
	assert.is(await reasonOf({ secret: "wrong" }), "signature");
	assert.is(await reasonOf({ sender: "unknown" }), "unknown sender");
	assert.is(await reasonOf(padded), "shape of the signature");
	assert.is(await reasonOf({ timestamp: "yesterday" }), "time");
	assert.is(await reasonOf({ headers: { Sender: null } }), "missing header");
});

test.run();
