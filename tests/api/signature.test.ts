import * as assert from "uvu/assert";
import { isTimely, messageOf, sha256Hex, sign, verify } from "../../api/senders.ts";
import { parseTimestamp } from "../../registry/timestamp.ts";
import { base64url, blobId, hashes, hexOf, webHashes } from "../../store/hashes.ts";
import { test } from "../helpers/suite.ts";

// The older service's manual, and the same request under /v1.
const secret = "test_-k";
const text =
	'{"version":"1.0.0","payload_type":"wms","en":{"service_url":"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en","layer":"limits"},"fr":{"service_url":"http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en","layer":"limits"}}';
const body = new TextEncoder().encode(text);
const manual = { path: "/register/23ax5t", sender: "jstest", timestamp: "2014-12-05T18:28:56.714Z", body };

test("the manual's example has the manual's signature", async () => {
	assert.is(await sign(secret, manual), "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY");
	// FIPS 180-4's example, and what `printf hello | git hash-object --stdin` prints.
	assert.is(await sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert.is(await blobId("hello"), "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0");
});

test("either engine's hashes are the same", async () => {
	const [key, bytes] = [new TextEncoder().encode(secret), messageOf(manual)];
	for (const one of [hashes, webHashes]) {
		assert.is(base64url(await one.hmacSha256(key, bytes)), "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY");
		const abc = new TextEncoder().encode("abc");
		assert.is(
			hexOf(await one.sha256(abc)),
			"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		);
		assert.is(hexOf(await one.sha1(abc)), "a9993e364706816aba3e25717850c26c9cd0d89d");
	}
});

test("the version prefix is part of what is signed", async () => {
	const signature = "pubCaWloDFir8Ehg_MbVXWvVnqopm9zRpAP_sBPBr1k";
	assert.is(await sign(secret, { ...manual, path: "/v1/register/23ax5t" }), signature);
	assert.is(await verify(secret, messageOf(manual), signature), false);
});

test("a signature is compared as text: another text of the same bytes is refused", async () => {
	// The last of 43 characters carries two unused bits: Y, Z, a and b decode alike.
	assert.ok(await verify(secret, messageOf(manual), "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY"));
	for (const last of ["Z", "a", "b", "Y=", "Y ", ""]) {
		assert.not(
			await verify(secret, messageOf(manual), `v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9el${last}`),
			last,
		);
	}
	for (const junk of ["", "é", "\0", "v6XaQasyZzcm/Bz4W/p5fO1wbyJKCZnJFEspIXw9elY", "x".repeat(100_000)]) {
		assert.not(await verify(secret, messageOf(manual), junk));
	}
});

test("a timestamp is UTC, with or without a fraction and a zone", () => {
	const second = Date.UTC(2014, 11, 5, 18, 28, 56);
	assert.is(parseTimestamp("2014-12-05T18:28:56Z"), second);
	assert.is(parseTimestamp("2014-12-05T18:28:56"), second);
	assert.is(parseTimestamp("2014-12-05T18:28:56.714+00:00"), second + 714);
	assert.is(parseTimestamp("2014-12-05T18:28:56.123456789Z"), second + 123.456789);
	const refused = [
		"",
		"now",
		"2014-12-05",
		"2014-12-05 18:28:56Z",
		"2014-12-05T18:28:56z",
		"2014-12-05T18:28:56+01:00",
		"2014-12-05T18:28:56-00:00",
		"2014-12-05T18:28:56.Z",
		"2014-12-05T18:28:56.1234567890Z",
		"2014-02-30T00:00:00Z",
		"2014-13-01T00:00:00Z",
		"2014-12-05T24:00:00Z",
		"2014-12-05T18:28:60Z",
		" 2014-12-05T18:28:56Z",
		"1417804136",
		"__proto__",
	];
	for (const timestamp of refused) assert.is(parseTimestamp(timestamp), null, timestamp);
});

test("a timestamp counts strictly inside two minutes", () => {
	const at = (ms: number) => new Date(Date.UTC(2014, 11, 5, 18, 28, 56) + ms);
	for (const ms of [0, 119_999, -119_999]) assert.ok(isTimely("2014-12-05T18:28:56Z", at(ms)), String(ms));
	for (const ms of [120_000, -120_000, 120_001, 3_600_000])
		assert.not(isTimely("2014-12-05T18:28:56Z", at(ms)));
});

test.run();
