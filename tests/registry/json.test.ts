import * as assert from "uvu/assert";
import { linesOf } from "../../extensions/review/layer-changes.ts";
import { isNestedBeyond, parseJson } from "../../registry/json.ts";
import { textsOf } from "../../registry/texts.ts";
import { test } from "../helpers/suite.ts";

function problemsOf(json: string | Uint8Array): string[] {
	const bytes = typeof json === "string" ? new TextEncoder().encode(json) : json;
	const { value, problems } = parseJson(bytes);
	if (problems.length > 0) assert.is(value, null);
	return textsOf(problems);
}

const syntaxErrors: [text: string, line: number, column: number][] = [
	["owners", 1, 1],
	["{'a': 1}", 1, 2],
	['{\r\n "a": 1,\r\n}', 3, 1],
	["[1,,2]", 1, 4],
	['{"a":1,', 1, 8],
	['{"a" 1}', 1, 6],
	['{"a":1 "b":2}', 1, 8],
	["[1", 1, 3],
	["{}\n// note", 2, 1],
	['{"a":"x\n"}', 1, 6],
];

test("a syntax error has its place", () => {
	for (const [text, line, column] of syntaxErrors)
		assert.equal(problemsOf(text), [`the document: must be JSON: see line ${line}, column ${column}`], text);
	assert.equal(problemsOf(" \n"), ["the document: must not be empty"]);
});

const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}[]${"}".repeat(depth - 1)}`;
const twice = "occurs more than once";
const tooDeep = "the document: must not be nested deeper than 64";

const documents: [what: string, json: string | Uint8Array, ...problems: string[]][] = [
	["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "the document: must be UTF-8"],
	["a byte order mark", "\ufeff{}", "the document: must not begin with a byte order mark"],
	["every repeated name", '{"a":1,"a":2,"b":[{"c":1,"c":2}]}', `/a: ${twice}`, `/b/0/c: ${twice}`],
	["a repeated name with an escape", '{"l\\u0061yer":1,"layer":2}', `/layer: ${twice}`],
	["a repeated __proto__", '{"__proto__":1,"__proto__":2}', `/__proto__: ${twice}`],
	["names that repeat in other objects only", '{"__proto__":1,"a":{"a":{"a":["a","a"]}}}'],
	["text that looks like members", `{"a":"\\"a:1,${"[".repeat(65)}","b":"a"}`],
	["a lone surrogate", '{"a":["x","\\ud800"],"b":"\\ud83d\\ude00"}', "/a/1: must not hold a lone surrogate"],
	["a name of a lone surrogate", '{"\\udc00":1}', "the document: must not hold a lone surrogate"],
	["one in the form of a stored file", '[\n  "\\ud800"\n]\n', "/0: must not hold a lone surrogate"],
	["64 levels", nested(64)],
	["65 levels", nested(65), tooDeep],
	["60,000 levels of what is no JSON", "[".repeat(60_000), tooDeep],
	["levels that a repeated name hides", `{"a":${nested(30_000)},"a":1}`, tooDeep],
	["levels side by side", `[${Array(100).fill('{"a":[]}').join()}]`],
];

for (const [what, json, ...problems] of documents)
	test(`${what}: ${problems.length > 0 ? "refused" : "read"}`, () =>
		assert.equal(problemsOf(json), problems));

test("lists and objects are counted", () => {
	assert.ok(isNestedBeyond("[[],{}]", 9, 2));
	assert.not(isNestedBeyond("[[],{}]", 9, 3));
});

test("a JSON pointer has a line", () => {
	const content = '{\n "a": [\n  1,\n  {"b/c": "}{,:\\"",\n   "d":\n 2}],\r\n "e": null}';
	const expected: Record<string, number> = {
		"": 1,
		"/a": 2,
		"/a/0": 3,
		"/a/1/b~1c": 4,
		"/a/1/d": 5,
		"/a/1/missing": 4,
		"/e": 7,
		"/e/deeper": 7,
	};
	const lineAt = linesOf(content);
	for (const [pointer, line] of Object.entries(expected)) assert.is(lineAt(pointer), line, pointer);
	assert.is(linesOf('{"a":1,\n"b":2')("/b"), 1, "text that is not JSON has no lines");
	const text = `{\n"a": 1,\n"${"x".repeat(5000)}": {\n"b": 1,\n"b": 2 } }`;
	assert.equal(problemsOf(text), [`/${"x".repeat(158)}…: ${twice}`]);
	assert.is(linesOf(text)(`/${"x".repeat(158)}…`), 3, "a pointer that was cut");
});

test("a text is read once for all its lines", () => {
	let reads = 0;
	class Counted extends String {
		override charCodeAt(index: number): number {
			reads += 1;
			return super.charCodeAt(index);
		}
	}
	const lineAt = linesOf(new Counted('{"a":1,\n"b":2}') as string);
	assert.is(lineAt("/a"), 1);
	const first = reads;
	assert.ok(first > 0);
	assert.equal([lineAt("/b"), reads], [2, first]);
});

test.run();
