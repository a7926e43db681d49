import * as assert from "uvu/assert";
import { descriptionText, isImage } from "../../extensions/harvest/description.ts";
import { type Description, parseDescription, plainKeywords } from "../../registry/description.ts";
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

function readAs(en: unknown): unknown {
	return parseDescription(JSON.stringify({ en }))?.en ?? null;
}

test("a description of features, and one of a service that is taken whole, are read as they were written", () => {
	const entries = { service_url: "https://gis.example/MapServer", entries: [3, 0, 1] };
	const both = { en: features, fr: entries } as unknown as Description;
	const text = descriptionText({ fr: both.fr, en: both.en } as Description);
	assert.equal(parseDescription(text), both);
	assert.match(text, /^{\n {2}"en": {\n {4}"service_url".*}\n$/s);
	assert.equal(readAs({ ...entries, entries: ["a", "b"] }), { ...entries, entries: ["a", "b"] });
	assert.equal(readAs({ ...features, from: "import" }), { ...features, from: "import" });
});

const { renderer } = features;
const drawnAs = (more: object) => ({ ...features, renderer: { ...renderer, ...more } });
const unique = { type: "unique", default: null, classes: [] };
// biome-ignore format: a table
const broken: unknown[] = [
	"x",
	{ ...features, more: 1 },
	{ ...features, from: "hand" },
	{ ...features, name: undefined },
	{ ...features, min_scale: -1 },
	{ ...features, count: -1 },
	{ ...features, extent: { ...features.extent, xmin: "NaN" } },
	{ ...features, extent: { ...features.extent, wkid: undefined } },
	{ ...features, fields: [{ name: "A", alias: "a" }] },
	drawnAs({ type: "heatmap" }),
	drawnAs({ classes: [{ label: "", image: dot }] }),
	drawnAs({ default: {} }),
	{ ...features, renderer: { ...unique, fields: ["a", "b", "c", "d"] } },
	{ ...features, renderer: { ...unique, fields: [] } },
	{ ...features, renderer: { type: "simple", label: "", image: "https://h.example/a.png" } },
	{ service_url: "x", entries: [-1] },
	{ service_url: "x", entries: [1.5] },
];

test("a language that is not valid is left out, and the other one stays", () => {
	for (const en of broken) {
		const read = parseDescription(JSON.stringify({ en, fr: features }));
		assert.equal(read, { fr: features }, JSON.stringify(en));
	}
});

test("a file that is no description is none", () => {
	const text = descriptionText({ en: features } as unknown as Description);
	const documents = ["", "null", "[]", "{", '{"__proto__":{"en":1}}', "[".repeat(1_000_000)];
	for (const document of [...documents, text.replace('"xmin": 1', '"xmin": 1e999')])
		assert.is(parseDescription(document), null, document.slice(0, 40));
});

test("an image is a data URI of a known type in whole base64, of at most 100,000 characters", () => {
	const start = "data:image/png;base64,";
	assert.ok(isImage(dot));
	assert.ok(isImage("data:image/svg+xml;base64,QQ=="));
	assert.ok(isImage(`${start}${"A".repeat(99_976)}`));
	assert.not(isImage(`${start}${"A".repeat(99_980)}`));
	const broken = ["", "QQ", "QUJ", "QU=D", "QUJD\n"].map((end) => start + end);
	for (const text of [...broken, "data:text/html;base64,QUJD", 1]) assert.not(isImage(text), String(text));
});

test("keywords are plain, each once, at most 20 of at most 100 characters", () => {
	assert.equal(plainKeywords(["water", "<b>water</b>", " ", "air"]), ["water", "air"]);
	const many = Array.from({ length: 30 }, (_, index) => `${index} ${"x".repeat(200)}`);
	assert.is(plainKeywords(many).length, 20);
	assert.ok(plainKeywords(many).every((keyword) => keyword.length <= 100));
});

test.run();
