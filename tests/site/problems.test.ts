import * as assert from "uvu/assert";
import { textsOf } from "../../registry/problems.ts";
import { parseRegistration } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { placedProblem } from "../../site/draft/send.ts";
import { test } from "../helpers/suite.ts";

const entry = { service_url: "https://maps.example.ca/wms", layer: "l" };
const wms = { version: "1.0.0", payload_type: "wms", en: entry, fr: entry };
const node = { service_type: "ogcWms", service_url: entry.service_url, scrape_only: ["l"] };

/** Documents with every kind of fault that a registration can have. */
const faulty: unknown[] = [
	7,
	[],
	{},
	{ ...wms, version: "3", extra: 1 },
	{ ...wms, payload_type: "wfs" },
	{ ...wms, en: "x" },
	{ ...wms, en: { service_url: 7, layer: "" } },
	{
		...wms,
		en: { ...entry, service_url: "ftp://x" },
		fr: { ...entry, service_url: "https://me:x@y.example.ca/" },
	},
	{ ...wms, en: { ...entry, service_url: `https://x.example.ca/${"x".repeat(3_000)}` } },
	{ ...wms, en: { ...entry, service_url: "https://x.example.ca/é" } },
	{ ...wms, en: { ...entry, layer: "<b>", legend_format: "png", loading_mode: "now" } },
	{ ...wms, en: { ...entry, display_field: "x", max_allowable_offset: -1, metadata: {} } },
	{ ...wms, payload_type: "feature", en: { ...entry, max_allowable_offset: 1.5 } },
	{ ...wms, targets: {} },
	{ ...wms, targets: { v3: {} } },
	{ ...wms, targets: { v2: {} } },
	{ ...wms, targets: { v2: { en: {} } } },
	{ version: "2.0", en: { ...node, service_type: "wfs" }, fr: { ...node, scrape_only: [] } },
	{ version: "2.0", en: { ...node, scrape_only: undefined }, fr: { ...node, recursive: "yes" } },
];

const texts = [
	"",
	"{",
	"[1,]",
	'{"a":1,"a":2}',
	'{"a":"\\ud800"}',
	"\ufeff{}",
	"[".repeat(100),
	"x".repeat(70_000),
];

/** Registrations that are accepted, and odd. */
const odd: unknown[] = [
	{
		...wms,
		en: { ...entry, service_url: "http://10.0.0.1/wms?REQUEST=x#y", feature_info_type: "text/xml" },
	},
	{ ...wms, en: { ...entry, service_url: "https://maps.example.ca/wms?map=a" } },
	{ ...wms, en: { ...entry, service_url: "https://maps.example.ca/wms?" } },
	{
		version: "1.0.0",
		payload_type: "feature",
		en: { service_url: "https://maps.example.ca/x/FeatureServer/1?f=json" },
		fr: { service_url: "https://maps.example.ca/x/FeatureServer/0?token=1" },
	},
	{
		version: "2.0",
		en: { service_type: "esriFeatureServer", service_url: "https://x.example.ca/y", scrape_only: [1, 2] },
		fr: { service_type: "esriMapServer", service_url: "https://x.example.ca/MapServer", scrape_only: [1] },
	},
];

const problemsOf = (text: string) => parseRegistration(new TextEncoder().encode(text), "written").problems;

test("every problem and every warning of a registration has a French text", () => {
	const problems = [...faulty.map((one) => JSON.stringify(one)), ...texts].flatMap((text) => {
		const found = problemsOf(text);
		assert.ok(found.length > 0, text.slice(0, 60));
		return found;
	});
	const warnings = odd.flatMap((one) => {
		const { registration } = parseRegistration(new TextEncoder().encode(JSON.stringify(one)), "written");
		assert.ok(registration, textsOf(problemsOf(JSON.stringify(one))).join());
		return warningsOf(registration);
	});
	assert.ok(warnings.length > 10);
	for (const problem of [...problems, ...warnings]) {
		const { lang, text } = placedProblem(problem, "fr");
		assert.is(lang, "fr");
		assert.not.match(text, /\b(?:must|the|which)\b/);
		assert.is(placedProblem(problem, "en").lang, "en");
	}
});

test("a problem's pointer is separated from its text, and may have a colon", () => {
	assert.equal(placedProblem(problemAt("/en/a: b", "required"), "en"), {
		pointer: "/en/a: b",
		text: "is missing",
		lang: "en",
	});
	assert.equal(placedProblem(problemAt("document", "object"), "fr"), {
		pointer: "",
		text: "le document\u00a0: doit être un objet",
		lang: "fr",
	});
});

test.run();
