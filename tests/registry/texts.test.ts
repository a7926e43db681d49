import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { schemaFiles } from "../../catalogue/openapi.ts";
import { owners } from "../../registry/schemas/owners.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { frenchOf, prefersFrench, type TextCode, textOf, texts } from "../../registry/texts.ts";

test("the French text of each code has the values of the English one, and is found by it", () => {
	for (const [code, [en, fr]] of Object.entries(texts)) {
		const values = en
			.split("{}")
			.slice(1)
			.map((_, index) => `"${index}"`);
		assert.is(fr.split("{}").length, en.split("{}").length, code);
		const french = fr.replace(/\{\}/g, () => values.shift() ?? "").replaceAll(" :", "\u00a0:");
		const english = textOf(code as TextCode, '"0"', '"1"', '"2"');
		assert.is(frenchOf(english), french, english);
		assert.is(frenchOf(`/en/a: ${english}`), `/en/a: ${french}`);
	}
});

test("each code of the schemas has its texts, and the files of the schemas show the English one", () => {
	const codes = JSON.stringify([registration1, registration2, owners]).match(/"code":"[^"]*"/g) ?? [];
	assert.ok(codes.length > 10);
	for (const code of codes) assert.ok((JSON.parse(`{${code}}`) as { code: string }).code in texts, code);
	const files = schemaFiles(targetNames, "/");
	const text = files.get("registration-1.schema.json") ?? "";
	assert.match(text, '"errorMessage": "must be an http or https address"');
	assert.not.match(text, '{}"');
});

test("each problem of the invalid fixtures has a French text", () => {
	const folder = new URL("../fixtures/invalid/", import.meta.url);
	for (const name of readdirSync(folder).filter((file) => file.endsWith(".txt"))) {
		const lines = readFileSync(new URL(name, folder), "utf8").trim().split("\n");
		for (const line of lines) assert.ok(frenchOf(line), `${name}: ${line}`);
	}
});

test("places and values stay, and what has no text has none in French", () => {
	const wrong = '/en/service_url: must be an http or https address, not "ftp://a: must be b"';
	assert.is(
		frenchOf(wrong),
		'/en/service_url: doit être une adresse http ou https, et non "ftp://a: must be b"',
	);
	assert.is(frenchOf("/a b: is missing"), "/a b: est requis");
	assert.is(
		frenchOf("the document: must be an object, not 1"),
		"le document\u00a0: doit être un objet, et non 1",
	);
	assert.is(
		frenchOf("/payload_type: must be wms or feature, not nothing"),
		"/payload_type: doit être wms ou feature, et non rien",
	);
	assert.is(
		frenchOf("the document must be JSON: line 1, column 2 must be a comma"),
		"le document doit être en JSON\u00a0: ligne 1, colonne 2 doit être une virgule",
	);
	assert.is(frenchOf("anything else"), null);
});

const headers: [string | null, boolean][] = [
	["fr", true],
	["fr-CA,fr;q=0.9,en;q=0.8", true],
	["en-CA,en;q=0.9,fr;q=0.8", false],
	["en;q=0.5, fr;q=0.7", true],
	["de, fr;q=0.1", true],
	["fr,en", true],
	["en,fr", false],
	["fr;q=0", false],
	["*", false],
	[",;q=", false],
	["", false],
	[null, false],
	["FR-ca ; q=1", true],
	// Only the start of a long header is read.
	[`${"de,".repeat(200)}fr`, false],
];

for (const [header, is] of headers) {
	test(`Accept-Language: ${header?.slice(0, 40)} is ${is ? "French" : "English"}`, () =>
		assert.is(prefersFrench(header), is));
}

test.run();
