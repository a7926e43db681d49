import { test } from "uvu";
import * as assert from "uvu/assert";
import { parseOwners } from "../../registry/owners.ts";
import { parseRegistration } from "../../registry/registration.ts";

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
	assertBounded(problems);
	return problems;
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
	assert.equal(problems, ["the document must have at most 65536 bytes, not 65537"]);
});

test("thousands of problems below one long name are bounded as well", () => {
	const name = "n".repeat(30_000);
	const problems = problemsOf(`{"${name}":{${Array(4000).fill('"a":0').join()}}}`);
	assert.is(problems[0], `/${"n".repeat(158)}…: stands there more than once`);
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
		assertBounded(problems);
		return problems;
	};
	const wrong = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k-${index}`, ["nobody"]]));
	assert.is(
		of(wrong)[0],
		'/layers/k-0/0: must be a GitHub team or user, such as @organisation/team or @user, not "nobody"',
	);
	assert.is(of(wrong).at(-1), "the document has 14980 more problems");
	of({ ["g".repeat(100_000)]: Array(15_000).fill("nobody") });
	of({}, Array(15_000).fill("n".repeat(50)));
	const large = parseOwners(new Uint8Array(1024 * 1024 + 1).fill(0x20));
	assert.equal(large.problems, ["the document must have at most 1048576 bytes"]);
});

test.run();
