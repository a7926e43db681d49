import * as assert from "uvu/assert";
import {
	type Description,
	descriptionText,
	isImage,
	parseDescription,
	plainKeywords,
} from "../../registry/description.ts";
import { test } from "../helpers/suite.ts";

const dot = "data:image/png;base64,QUJD";
const features = {
	service_url: "https://gis.example/MapServer/1",
	name: "Stations",
	display_field: "",
	geometry_type: "esriGeometryPoint",
	min_scale: 0,
	max_scale: 0,
	extent: { wkid: 3978, xmin: 1, ymin: 2, xmax: 3, ymax: 4 },
	fields: [{ name: "A", alias: "a", type: "esriFieldTypeString" }],
	renderer: {
		type: "breaks",
		field: "A",
		min: 0,
		default: null,
		classes: [{ max: 1, label: "", image: dot }],
	},
	count: null,
} as const;

/** What is read of a description whose English part is this. */
function readAs(en: unknown): unknown {
	return parseDescription(JSON.stringify({ en }))?.en ?? null;
}

test("a description of features, and one of a service that is taken whole, are read as they were written", () => {
	const entries = { service_url: "https://gis.example/MapServer", entries: [3, 0, 1] };
	const both = { en: features, fr: entries } as unknown as Description;
	assert.equal(parseDescription(descriptionText(both)), both);
	assert.equal(readAs({ ...entries, entries: ["a", "b"] }), { ...entries, entries: ["a", "b"] });
	assert.equal(readAs({ ...features, from: "import" }), { ...features, from: "import" });
});

const { renderer } = features;
const broken: [string, unknown][] = [
	["no object", "x"],
	["an unknown member", { ...features, more: 1 }],
	["an unknown origin", { ...features, from: "hand" }],
	["no name", { ...features, name: undefined }],
	["a scale below zero", { ...features, min_scale: -1 }],
	["an extent of text", { ...features, extent: { ...features.extent, xmin: "NaN" } }],
	["an extent without a reference", { ...features, extent: { ...features.extent, wkid: undefined } }],
	["a field without type", { ...features, fields: [{ name: "A", alias: "a" }] }],
	["an unknown renderer", { ...features, renderer: { ...renderer, type: "heatmap" } }],
	[
		"a class of breaks without its end",
		{ ...features, renderer: { ...renderer, classes: [{ label: "", image: dot }] } },
	],
	["a default that is no symbol", { ...features, renderer: { ...renderer, default: {} } }],
	[
		"four fields",
		{ ...features, renderer: { type: "unique", fields: ["a", "b", "c", "d"], default: null, classes: [] } },
	],
	["no fields", { ...features, renderer: { type: "unique", fields: [], default: null, classes: [] } }],
	[
		"a picture from elsewhere",
		{ ...features, renderer: { type: "simple", label: "", image: "https://h.example/a.png" } },
	],
	["an entry below zero", { service_url: "x", entries: [-1] }],
	["an entry of half", { service_url: "x", entries: [1.5] }],
];

for (const [what, en] of broken) {
	test(`a language with ${what} is left out, the other stays`, () => {
		assert.is(readAs(en), null);
		assert.equal(parseDescription(JSON.stringify({ en, fr: features })), { fr: features });
	});
}

test("an image is a data URI of a known type in whole base64, of at most 100,000 characters", () => {
	const start = "data:image/png;base64,";
	assert.ok(isImage(dot));
	assert.ok(isImage("data:image/svg+xml;base64,QQ=="));
	assert.ok(isImage(`${start}${"A".repeat(99_976)}`));
	assert.not(isImage(`${start}${"A".repeat(99_980)}`));
	for (const text of [
		start,
		`${start}QQ`,
		`${start}QUJ`,
		`${start}QU=D`,
		`${start}QUJD\n`,
		"data:text/html;base64,QUJD",
		1,
	]) {
		assert.not(isImage(text), String(text));
	}
});

test("keywords are plain, each once, at most 20 of at most 100 characters", () => {
	assert.equal(plainKeywords(["water", "<b>water</b>", " ", "air"]), ["water", "air"]);
	const many = Array.from({ length: 30 }, (_, index) => `${index} ${"x".repeat(200)}`);
	assert.is(plainKeywords(many).length, 20);
	assert.ok(plainKeywords(many).every((keyword) => keyword.length <= 100));
});

test.run();
