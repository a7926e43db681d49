import * as assert from "uvu/assert";
import { inLanguageOf, refuseFile } from "../../api/reply.ts";
import { parseJson } from "../../registry/json.ts";
import { compile, everyError } from "../../registry/schemas/compile.ts";
import { owners } from "../../registry/schemas/definitions.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { targetNames } from "../../registry/targets/table.ts";
import {
	type Problem,
	problemAt,
	schemaProblems,
	textIn,
	textOf,
	texts,
	textsOf,
} from "../../registry/texts.ts";
import { parseTimestamp } from "../../registry/timestamp.ts";
import { schemaFiles } from "../../site/data/openapi.ts";
import { test } from "../helpers/suite.ts";

/** Keywords that only describe or apply schemas; a discriminator reports `const` and `oneOf`. */
const silent =
	/^(?:\$.*|title|description|examples|onlyOnWrite|allOf|then|else|items|propertyNames?|const|oneOf|\d+)$/;

/** The codes of all problems that a schema can have. */
function codesOf(schema: unknown): string[] {
	if (typeof schema !== "object" || schema === null) return [];
	const { code, if: _if, ...keywords } = schema as Record<string, unknown>;
	return Object.entries(keywords).flatMap(([keyword, value]) => {
		if (/^(?:properties|definitions)$/.test(keyword)) return Object.values(value as object).flatMap(codesOf);
		if (keyword === "type") return ["type", /^[aio]/.test(String(value)) ? `an-${value}` : `a-${value}`];
		const own = silent.test(keyword) ? [] : [String(code ?? keyword)];
		return keyword === "not" ? own : [...own, ...codesOf(value)];
	});
}

test("each code, keyword and type of the schemas has its texts, and published ones show English", () => {
	const codes = new Set(codesOf({ allOf: [registration1, registration2, owners] }));
	assert.ok(codes.size > 20);
	for (const code of codes) assert.ok(code in texts.en, code);
	const level = { type: "integer", minimum: 0 };
	const validate = compile({ type: "object", properties: { a: level, b: level } }, everyError);
	assert.not(validate({ a: -1, b: "x" }));
	const rules = ["/a: must be 0 or more, not -1", '/b: must be an integer, not "x"'];
	assert.equal(textsOf(schemaProblems(validate)), rules);
	const text = schemaFiles(targetNames, "/").get("registration-1.schema.json") ?? "";
	assert.match(text, '"errorMessage": "must be an http or https address"');
	assert.not.match(text, /\{\d\}"/);
});

const [syntax] = parseJson(new TextEncoder().encode("[1 2]")).problems;
// biome-ignore format: a table
const french: [Problem, string][] = [
	[problemAt("/en/my: member", "address", '"ftp://a: must be b"'), '/en/my: member: doit être une adresse http ou https, et non "ftp://a: must be b"'],
	[problemAt("document", "type", textOf("an-object"), 1), "le document\u00a0: doit être un objet, et non 1"],
	[problemAt("/payload_type", "enum", "wms | feature", textOf("nothing")), "/payload_type: doit être wms | feature, et non rien"],
	[syntax as Problem, 'le document\u00a0: doit être en JSON\u00a0: voir la ligne 1, colonne 4'],
];

test("a problem in French has its place and its values as they are", () => {
	for (const [problem, text] of french) assert.is(textIn("fr", problem), text);
	assert.is(textIn("en", french[2]?.[0] as Problem), "/payload_type: must be wms | feature, not nothing");
});

const isFrench = ["fr", "en;q=0.5, fr;q=0.7", "fr,en", "FR-ca ; q=1"];
// Only the start of a long header is read.
const isEnglish = ["en-CA,en;q=0.9,fr;q=0.8", "en,fr", "fr;q=0", "*", ",;q=", null, `${"de,".repeat(200)}fr`];

test("Accept-Language chooses French where it is preferred to English", () => {
	for (const header of [...isFrench, ...isEnglish]) {
		const lang = inLanguageOf(refuseFile(), header).headers["Content-Language"];
		assert.is(lang === "fr", header !== null && isFrench.includes(header), `${header}`.slice(0, 40));
	}
});

const noon = Date.UTC(2026, 2, 4, 12);
const timestamps: [string, number][] = [
	["2026-03-04T12:00:00Z", noon],
	["2026-03-04T12:00:00.25Z", noon + 250],
	["2026-03-04T12:00:00.123456789", noon + 123.456789],
	["2026-03-04 12:00", noon],
	["2026-03-04T07:00-0500", noon],
	["2026-03-04T17:30:00.25+05:30", noon + 250],
	["2026-03-05T01:00+13", noon],
];
const wrongTimestamps = [
	"2026-03-04T12:00:00.1234567890Z",
	"2026-03-04T12:00:00.Z",
	"2026-03-04",
	"2026-02-30T12:00:00Z",
	"2026-03-04T24:00:00Z",
	"2026-03-04T12:60:00Z",
	"2026-03-04T12:00.5Z",
	"2026-03-04T12:00:00+24:00",
	"2026-03-04T12:00:00-05:60",
	"2026-03-04  12:00:00Z",
	"2026-03-04t12:00:00z",
	"2026-03-04T12:00:00Z\n",
	" 2026-03-04T12:00:00Z",
];

test("a timestamp is a date and time of ISO 8601 as the older service reads it", () => {
	for (const [text, time] of timestamps) assert.is(parseTimestamp(text), time, text);
	for (const text of wrongTimestamps) assert.is(parseTimestamp(text), null, text);
});

test.run();
