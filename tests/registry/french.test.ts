import { readdirSync, readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { frenchOf, inFrench, prefersFrench, texts } from "../../registry/french.ts";
import { registration1 } from "../../schemas/registration-1.ts";
import { registration2 } from "../../schemas/registration-2.ts";

test("codes are unique, and the French text of each has the values of the English one", () => {
	assert.is(new Set(texts.map(([code]) => code)).size, texts.length);
	for (const [code, en, fr] of texts) {
		assert.is(fr.split("{}").length, en.split("{}").length, code);
		assert.is(frenchOf(en.replaceAll("{}", "x"))?.code, code, en);
	}
});

test("each text of the schemas, and each problem of the invalid fixtures, has a French one", () => {
	const messages =
		JSON.stringify([registration1, registration2]).match(/"errorMessage":"(?:[^"\\]|\\.)*"/g) ?? [];
	assert.ok(messages.length > 10);
	for (const member of messages) {
		const { errorMessage } = JSON.parse(`{${member}}`) as { errorMessage: string };
		assert.ok(frenchOf(errorMessage) ?? frenchOf(`${errorMessage}, not "x"`), errorMessage);
	}
	const folder = new URL("../fixtures/invalid/", import.meta.url);
	for (const name of readdirSync(folder).filter((file) => file.endsWith(".txt"))) {
		const lines = readFileSync(new URL(name, folder), "utf8").trim().split("\n");
		for (const line of lines) assert.ok(frenchOf(line), `${name}: ${line}`);
	}
});

test("places and values stay, and what has no text stays as it is", () => {
	const wrong = '/en/service_url: must be an http or https address, not "ftp://a: must be b"';
	assert.is(
		inFrench(wrong),
		'/en/service_url: doit être une adresse http ou https, et non "ftp://a: must be b"',
	);
	assert.is(inFrench("/a b: is missing"), "/a b: est absent");
	assert.is(inFrench("the document: must be an object, not 1"), "le document : doit être un objet, et non 1");
	assert.is(inFrench("anything else"), "anything else");
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
];

for (const [header, is] of headers) {
	test(`Accept-Language: ${header} is ${is ? "French" : "English"}`, () =>
		assert.is(prefersFrench(header), is));
}

test.run();
