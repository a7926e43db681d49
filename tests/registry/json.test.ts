import * as assert from "uvu/assert";
import { lineAt, linesOf, parseJson } from "../../registry/json.ts";
import { textsOf } from "../../registry/problems.ts";
import { test } from "../helpers/suite.ts";

const encoder = new TextEncoder();

function problemsOf(text: string): string[] {
	const { value, problems } = parseJson(encoder.encode(text));
	if (problems.length > 0) assert.is(value, null);
	return textsOf(problems);
}

const syntaxErrors: [string, string][] = [
	["", "line 1, column 1 must be a value"],
	["owners", "line 1, column 1 is neither punctuation nor a value of JSON"],
	['{\n "a": 1,\n}', "line 3, column 1 must be a member's name in double quotes"],
	['{"a":1,}', "line 1, column 8 must be a member's name in double quotes"],
	['{"a" 1}', "line 1, column 6 must be a colon"],
	['{"a":1 "b":2}', "line 1, column 8 must be a comma"],
	['{"a":01}', "line 1, column 7 must be a comma"],
	['{"a":1', "line 1, column 7 must be a closing brace"],
	["[1", "line 1, column 3 must be a closing bracket"],
	["[1,]", "line 1, column 4 must be a value"],
	["{} {}", "line 1, column 4 must be the end"],
	["{}\n// note", "line 2, column 1 must not be a comment"],
	["{a:1}", "line 1, column 2 is neither punctuation nor a value of JSON"],
	['{"a":"x\n"}', "line 1, column 6 must be a text that ends with a quote on its line"],
	["[1.]", "line 1, column 2 is a number without its last digits"],
	['["\\u12"]', "line 1, column 2 must have four hexadecimal digits after each \\u"],
	['["\\x"]', "line 1, column 2 must not have other characters after a backslash than JSON knows"],
	['["\t"]', "line 1, column 2 must have its control characters escaped"],
	['{"a":tru}', "line 1, column 6 is neither punctuation nor a value of JSON"],
];

for (const [text, place] of syntaxErrors) {
	test(`the place of a syntax error: ${JSON.stringify(text.slice(0, 20))}`, () => {
		assert.equal(problemsOf(text), [`the document must be JSON: ${place}`]);
	});
}

test("bytes that are no UTF-8, and a byte order mark, are refused", () => {
	assert.equal(textsOf(parseJson(new Uint8Array([0x22, 0xff, 0x22])).problems), [
		"the document must be UTF-8",
	]);
	assert.equal(problemsOf("\ufeff{}"), ["the document must not start with a byte order mark"]);
});

test("every repeated name is found, with its pointer, and nothing else is taken for one", () => {
	assert.equal(problemsOf('{"a":1,"a":2,"b":[{"c":1,"c":2}],"a":3}'), [
		"/a: occurs more than once",
		"/b/0/c: occurs more than once",
		"/a: occurs more than once",
	]);
	assert.equal(problemsOf('{"l\\u0061yer":1,"layer":2}'), ["/layer: occurs more than once"]);
	assert.equal(problemsOf('{"__proto__":1,"__proto__":2}'), ["/__proto__: occurs more than once"]);
	assert.equal(problemsOf('{"__proto__":1,"constructor":2,"a":{"a":{"a":["a","a"]}}}'), []);
	assert.equal(problemsOf('{"a":"\\"a\\":1,","b":"a"}'), []);
});

test("lone surrogates are found in texts and names", () => {
	assert.equal(problemsOf('{"a":["x","\\ud800"],"b":"\\ud83d\\ude00"}'), [
		"/a/1: must not hold a lone surrogate",
	]);
	assert.equal(problemsOf('"\\udc00"'), ["the document: must not hold a lone surrogate"]);
	assert.equal(problemsOf('{"\\udc00":1}'), ["the document: must not have a name with a lone surrogate"]);
	// As we would write it.
	assert.is(problemsOf('[\n  "\\ud800"\n]\n').length, 1);
});

test("nesting is bounded, in what is read and in what a repeated name hides", () => {
	const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
	assert.equal(problemsOf(nested(64)), []);
	const tooDeep = ["the document must not be nested deeper than 64"];
	assert.equal(problemsOf(nested(65)), tooDeep);
	assert.equal(problemsOf(nested(30_000)), tooDeep);
	assert.equal(problemsOf("[".repeat(60_000)), tooDeep, "where it is no JSON, too");
	assert.equal(problemsOf(`{"a":${nested(30_000)},"a":1}`), tooDeep);
	assert.equal(
		problemsOf(`[${Array(100).fill('{"a":[]}').join()}]`),
		[],
		"what stands side by side is not nested",
	);
	const written = (depth: number) => `${JSON.stringify(JSON.parse(nested(depth)), null, 2)}\n`;
	assert.equal(problemsOf(written(64)), []);
	assert.equal(problemsOf(written(65)), tooDeep);
});

test("a JSON pointer has a line", () => {
	const lines = linesOf('{\n "a": [\n  1,\n  {"b/c": "}{,:\\"",\n   "d":\n 2}],\r\n "e": null}');
	assert.is(lineAt(lines, ""), 1);
	assert.is(lineAt(lines, "/a"), 2);
	assert.is(lineAt(lines, "/a/0"), 3);
	assert.is(lineAt(lines, "/a/1/b~1c"), 4);
	assert.is(lineAt(lines, "/a/1/d"), 5);
	assert.is(lineAt(lines, "/a/1/missing"), 4);
	assert.is(lineAt(lines, "/e"), 7);
	assert.is(lineAt(lines, "/e/deeper"), 7);
	assert.is(linesOf('{"a":1,\n"b":2').size, 0, "what is no JSON has no lines");
	assert.is(lineAt(linesOf('{"a":1,\n"b":2'), "/b"), 1);
});

test("a pointer that was cut in a problem has its line, too", () => {
	const name = "x".repeat(5000);
	const text = `{\n"a": 1,\n"${name}": {\n"b": 1,\n"b": 2 } }`;
	const [problem = ""] = problemsOf(text);
	const pointer = problem.slice(0, problem.indexOf(": "));
	assert.is(pointer, `/${"x".repeat(158)}…`);
	assert.is(lineAt(linesOf(text), pointer), 3);
});

test.run();
