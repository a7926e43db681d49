import * as assert from "uvu/assert";
import { schemaFiles } from "../../catalogue/openapi.ts";
import { parseJson } from "../../registry/json.ts";
import { owners } from "../../registry/schemas/owners.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { targetNames } from "../../registry/targets/table.ts";
import {
	oneOf,
	type Problem,
	prefersFrench,
	problemAt,
	textIn,
	textOf,
	texts,
} from "../../registry/texts.ts";
import { test } from "../helpers/suite.ts";

test("each code of the schemas has its texts, and the files of the schemas show the English one", () => {
	const codes = JSON.stringify([registration1, registration2, owners]).match(/"code":"[^"]*"/g) ?? [];
	assert.ok(codes.length > 10);
	for (const code of codes) assert.ok((JSON.parse(`{${code}}`) as { code: string }).code in texts.en, code);
	const files = schemaFiles(targetNames, "/");
	const text = files.get("registration-1.schema.json") ?? "";
	assert.match(text, '"errorMessage": "must be an http or https address"');
	assert.not.match(text, /\{\d\}"/);
});

test("places and values stay as they are, in every text of a document's problems", () => {
	const french = (problem: Problem) => textIn("fr", problem);
	const wrong = problemAt("/en/my: member", "address", '"ftp://a: must be b"');
	assert.is(
		french(wrong),
		'/en/my: member: doit être une adresse http ou https, et non "ftp://a: must be b"',
	);
	const notObject = problemAt("document", "type", textOf("an-object"), 1);
	assert.is(french(notObject), "le document\u00a0: doit être un objet, et non 1");
	const notNamed = problemAt("/payload_type", "enum", oneOf(["wms", "feature"]), textOf("nothing"));
	assert.is(french(notNamed), "/payload_type: doit être wms ou feature, et non rien");
	assert.is(textIn("en", notNamed), "/payload_type: must be wms or feature, not nothing");
	const [syntax] = parseJson(new TextEncoder().encode("[1 2]")).problems;
	assert.is(
		french(syntax as Problem),
		"le document doit être en JSON\u00a0: ligne 1, colonne 4 doit être une virgule",
	);
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
