import { readdir, readFile } from "node:fs/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { lineOf, parseJson } from "../../registry/json.ts";
import { canonicalText, parseRegistration } from "../../registry/registration.ts";

const fixtures = new URL("../fixtures/", import.meta.url);
const encoder = new TextEncoder();

async function names(folder: string): Promise<string[]> {
	return (await readdir(new URL(`${folder}/`, fixtures))).filter((name) => name.endsWith(".json")).sort();
}

for (const name of await names("valid")) {
	test(`valid: ${name}`, async () => {
		const bytes = await readFile(new URL(`valid/${name}`, fixtures));
		const { registration, problems } = parseRegistration(bytes);
		assert.equal(problems, []);
		if (!registration) return assert.unreachable();
		const text = canonicalText(registration);
		assert.equal(JSON.parse(text), JSON.parse(bytes.toString()), "nothing is added and nothing is lost");
		const again = parseRegistration(encoder.encode(text)).registration;
		assert.is(again && canonicalText(again), text);
	});
}

for (const name of await names("invalid")) {
	test(`invalid: ${name}`, async () => {
		const bytes = await readFile(new URL(`invalid/${name}`, fixtures));
		const expected = await readFile(new URL(`invalid/${name.replace(".json", ".txt")}`, fixtures), "utf8");
		const { registration, problems } = parseRegistration(bytes);
		assert.is(registration, null);
		assert.is(`${[...problems].sort().join("\n")}\n`, expected);
		assert.not.match(problems.join(), "hidden");
	});
}

test("the canonical form has one order, two spaces and a final newline", () => {
	const text =
		'{"fr":{"layer":"b","service_url":"http://h.example/"},"en":{"metadata":{"catalogue_url":"http://h.example/c","metadata_url":"http://h.example/m"},"layer":"a","service_url":"http://h.example/"},"payload_type":"wms","version":"1.0.0"}';
	const { registration } = parseRegistration(encoder.encode(text));
	assert.is(
		registration && canonicalText(registration),
		`{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": {
    "service_url": "http://h.example/",
    "layer": "a",
    "metadata": {
      "metadata_url": "http://h.example/m",
      "catalogue_url": "http://h.example/c"
    }
  },
  "fr": {
    "service_url": "http://h.example/",
    "layer": "b"
  }
}
`,
	);
});

test("a JSON pointer has a line", () => {
	const text = '{\n "a": [\n  1,\n  {"b/c": "}{,:\\"",\n   "d": 2}],\n "e": null}';
	assert.is(lineOf(text, ""), 1);
	assert.is(lineOf(text, "/a"), 2);
	assert.is(lineOf(text, "/a/1/b~1c"), 4);
	assert.is(lineOf(text, "/a/1/d"), 5);
	assert.is(lineOf(text, "/a/1/missing"), 4);
	assert.is(lineOf(text, "/e"), 6);
	assert.is(lineOf(text, "/e/deeper"), 6);
});

test("every repeated name is found, with its pointer, and nothing else is taken for one", () => {
	const problems = (text: string) => parseJson(encoder.encode(text)).problems;
	assert.equal(problems('{"a":1,"a":2,"b":[{"c":1,"c":2}],"a":3}'), [
		"/a: stands there more than once",
		"/b/0/c: stands there more than once",
		"/a: stands there more than once",
	]);
	assert.equal(problems('{"__proto__":1,"constructor":2,"a":{"a":{"a":["a","a"]}}}'), []);
	assert.equal(problems('{"a":"\\"a\\":1,","b":"a"}'), []);
});

test.run();
