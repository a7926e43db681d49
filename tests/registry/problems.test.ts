import * as assert from "uvu/assert";
import { parseOwners } from "../../registry/owners.ts";
import { textsOf } from "../../registry/problems.ts";
import { parseRegistration } from "../../registry/registration.ts";
import { test } from "../helpers/suite.ts";

const encoder = new TextEncoder();

const valid = {
	version: "1.0.0",
	payload_type: "wms",
	en: { service_url: "https://h.example/", layer: "a" },
	fr: { service_url: "https://h.example/", layer: "b" },
};

function assertBounded(problems: string[]): void {
	assert.ok(problems.length <= 21, `${problems.length} problems`);
	const bytes = encoder.encode(JSON.stringify({ errors: problems })).length;
	assert.ok(bytes <= 16_000, `${bytes} bytes`);
}

function problemsOf(text: string): string[] {
	assert.ok(text.length <= 64 * 1024, `${text.length} bytes`);
	const { registration, problems } = parseRegistration(encoder.encode(text), "written");
	assert.is(registration, null);
	const texts = textsOf(problems);
	assertBounded(texts);
	return texts;
}

/** `count` members that no schema knows. */
function unknownMembers(count: number): string[] {
	return Array.from({ length: count }, (_, index) => `"${index}":0`);
}

test("of thousands of unknown members twenty are named and the others are counted", () => {
	const text = JSON.stringify(valid).replace('"layer":"a"', `"layer":"a",${unknownMembers(7000).join()}`);
	const problems = problemsOf(text);
	assert.is(problems.length, 21);
	assert.is(problems[0], "/en/0: is not a known member");
	assert.is(problems[20], "the document has 6980 more problems");
});

test("a document that is too large is not read", () => {
	const { problems } = parseRegistration(new Uint8Array(64 * 1024 + 1).fill(0x20), "stored");
	assert.equal(textsOf(problems), ["the document must have at most 65536 bytes, not 65537"]);
});

test("thousands of problems below one long name are bounded as well", () => {
	const name = "n".repeat(30_000);
	const problems = problemsOf(`{"${name}":{${Array(4000).fill('"a":0').join()}}}`);
	assert.is(problems[0], `/${"n".repeat(158)}…: occurs more than once`);
	assert.is(problems[20], "the document has 3979 more problems");
});

test("names of characters that take most bytes do not lengthen the list beyond its bound", () => {
	for (const character of ["\\u0001", "€", "\\u001f~", "/", "\\\\"]) {
		const members = Array.from({ length: 40 }, (_, index) => `"${character.repeat(200)}${index}":0`);
		const problems = problemsOf(
			JSON.stringify(valid).replace('"layer":"a"', `"layer":"a",${members.join()}`),
		);
		assert.match(problems.at(-1) ?? "", /^the document has \d+ more problems$/);
	}
});

test("a value is shown as what it is, and cut: never a whole parent", () => {
	const shown = (value: unknown) => problemsOf(JSON.stringify({ ...valid, payload_type: value }));
	assert.equal(shown({ a: "x".repeat(60_000) }), ["/payload_type: must be wms or feature, not an object"]);
	assert.equal(shown(Array(9000).fill("x")), ["/payload_type: must be wms or feature, not a list"]);
	assert.equal(shown("x".repeat(60_000)), [`/payload_type: must be wms or feature, not "${"x".repeat(78)}…`]);
	assert.equal(shown("é😀".repeat(60)), [`/payload_type: must be wms or feature, not "${"é😀".repeat(26)}…`]);
});

test("a user name or password is shown nowhere, however long it is", () => {
	for (const length of [1, 70, 190, 300, 2000]) {
		const secret = `hidden${"s".repeat(length)}`;
		for (const address of [`https://me:${secret}@h.example/`, `ftp://me:${secret}@h.example/`]) {
			const en = { ...valid.en, service_url: address };
			assert.not.match(problemsOf(JSON.stringify({ ...valid, en })).join(), /hidden|sss/);
		}
	}
});

test("owners with fifteen thousand wrong entries, and with long ones, are bounded", () => {
	const of = (layers: object, operators = ["@a"]) => {
		const { owners, problems } = parseOwners(encoder.encode(JSON.stringify({ operators, layers })));
		assert.is(owners, null);
		const texts = textsOf(problems);
		assertBounded(texts);
		return texts;
	};
	const wrong = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k-${index}`, ["nobody"]]));
	assert.is(
		of(wrong)[0],
		'/layers/k-0/0: must be a GitHub team or account, such as @organisation/team or @ada#123, not "nobody"',
	);
	assert.is(of(wrong).at(-1), "the document has 14980 more problems");
	of({ ["g".repeat(100_000)]: Array(15_000).fill("nobody") });
	of({}, Array(15_000).fill("n".repeat(50)));
	const large = parseOwners(new Uint8Array(1024 * 1024 + 1).fill(0x20));
	assert.equal(textsOf(large.problems), ["the document must have at most 1048576 bytes"]);
});

test("each problem has the code of its rule", () => {
	const codesOf = (text: string | Uint8Array) => {
		const bytes = typeof text === "string" ? encoder.encode(text) : text;
		return parseRegistration(bytes, "written").problems.map(({ code }) => code);
	};
	const withEn = (en: object) => JSON.stringify({ ...valid, en: { ...valid.en, ...en } });
	assert.equal(codesOf(new Uint8Array([0xff])), ["utf-8"]);
	assert.equal(codesOf("{"), ["json"]);
	assert.equal(codesOf('{"a":1,"a":2}'), ["repeated-name"]);
	assert.equal(codesOf("[".repeat(65) + "]".repeat(65)), ["depth"]);
	assert.equal(codesOf(new Uint8Array(64 * 1024 + 1)), ["document-size"]);
	assert.equal(codesOf(withEn({ service_url: "ftp://h.example/" })), ["address"]);
	assert.equal(codesOf(withEn({ service_url: "https://me:secret@h.example/" })), ["address-credentials"]);
	assert.equal(codesOf(withEn({ service_url: "https://h.example/é" })), ["address-characters"]);
	assert.equal(codesOf(withEn({ service_name: "<b>" })), ["markup"]);
	assert.equal(codesOf(withEn({ display_field: "a" })), ["only-feature"]);
	assert.equal(codesOf(withEn({ owner: "us" })), ["additionalProperties"]);
	assert.equal(codesOf(JSON.stringify({ ...valid, version: "3", payload_type: 1 })), ["version", "enum"]);
	assert.equal(codesOf(`[${Array(30).fill(0)}]`), ["type"]);
	const many = {
		...valid,
		...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, 1])),
	};
	assert.is(codesOf(JSON.stringify(many)).at(-1), "more-problems");
});

test.run();
