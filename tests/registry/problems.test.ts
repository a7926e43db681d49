import * as assert from "uvu/assert";
import { parseOwners } from "../../registry/owners.ts";
import { parseRegistration } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import { type Problem, textsOf } from "../../registry/texts.ts";
import { test } from "../helpers/suite.ts";

const encoder = new TextEncoder();

const valid = {
	version: "1.0.0",
	payload_type: "wms",
	en: { service_url: "https://h.example/", layer: "a" },
	fr: { service_url: "https://h.example/", layer: "b" },
};

function boundedTexts(problems: readonly Problem[]): string[] {
	for (const lang of langs) {
		const texts = textsOf(problems, lang);
		assert.ok(texts.length > 0 && texts.length <= 21, `${texts.length} problems`);
		for (const text of texts) assert.ok(text.length <= 500, text);
	}
	return textsOf(problems);
}

function problemsOf(text: string): string[] {
	return boundedTexts(parseRegistration(encoder.encode(text), "written").problems);
}

function withMembers(count: number, name = ""): string {
	const members = Array.from({ length: count }, (_, index) => `"${name}${index}":0`);
	return JSON.stringify(valid).replace('"layer":"a"', `"layer":"a",${members.join()}`);
}

test("twenty of thousands of problems are listed, and the others are counted", () => {
	const problems = problemsOf(withMembers(7_000));
	assert.equal([problems.length, problems[0]], [21, "/en/0: is not a known member"]);
	assert.is(problems[20], "the document: has more problems: 6980");
	const repeated = problemsOf(`{"${"n".repeat(30_000)}":{${Array(4000).fill('"a":0').join()}}}`);
	assert.is(repeated[0], `/${"n".repeat(158)}…: occurs more than once`);
	assert.is(repeated[20], "the document: has more problems: 3979");
});

test("a document that is too large is not read", () => {
	const { problems } = parseRegistration(new Uint8Array(64 * 1024 + 1).fill(0x20), "stored");
	assert.equal(textsOf(problems), ["the document: must have at most 65536 bytes"]);
	const large = parseOwners(new Uint8Array(1024 * 1024 + 1).fill(0x20));
	assert.equal(textsOf(large.problems), ["the document: must have at most 1048576 bytes"]);
});

test("a wrong value is named by its type, or quoted and cut", () => {
	const errorsOf = (value: unknown) => problemsOf(JSON.stringify({ ...valid, payload_type: value }));
	const rule = "/payload_type: must be wms | feature, not";
	assert.equal(errorsOf({ a: "x".repeat(60_000) }), [`${rule} an object`]);
	assert.equal(errorsOf(Array(9000).fill("x")), [`${rule} a list`]);
	assert.equal(errorsOf("x".repeat(60_000)), [`${rule} "${"x".repeat(78)}…`]);
	assert.equal(errorsOf("é😀".repeat(60)), [`${rule} "${"é😀".repeat(26)}…`]);
});

test("no text shows a user name or password of any length", () => {
	for (const length of [1, 70, 190, 300, 2000]) {
		const secret = `hidden${"s".repeat(length)}`;
		for (const address of [`https://me:${secret}@h.example/`, `ftp://a:b@c?//me:${secret}@h.example/`]) {
			const en = { ...valid.en, service_url: address };
			assert.not.match(problemsOf(JSON.stringify({ ...valid, en })).join(), /hidden|sss/);
		}
	}
});

test("the texts about many or long owners are bounded", () => {
	const textsAbout = (layers: object, operators = ["@a"]) =>
		boundedTexts(parseOwners(encoder.encode(JSON.stringify({ operators, layers }))).problems);
	const layers = Object.fromEntries(Array.from({ length: 15_000 }, (_, index) => [`k-${index}`, ["ada"]]));
	assert.is(textsAbout(layers).at(-1), "the document: has more problems: 14980");
	textsAbout({ ["g".repeat(100_000)]: Array(15_000).fill("ada") });
	textsAbout({}, Array(15_000).fill("n".repeat(50)));
});

test.run();
