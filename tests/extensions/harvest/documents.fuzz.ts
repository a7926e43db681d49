import fc from "fast-check";
import * as assert from "uvu/assert";
import type { Answer, Ask } from "../../../extensions/harvest/ask.ts";
import { checkLayer } from "../../../extensions/harvest/check-layer.ts";
import { createClients } from "../../../extensions/harvest/clients.ts";
import { descriptionText, type Harvest, mergeDescription } from "../../../extensions/harvest/description.ts";
import { harvestLayer } from "../../../extensions/harvest/harvest-layer.ts";
import { parseDescription } from "../../../registry/description.ts";
import type { Registration1 } from "../../../registry/registration.ts";
import { fuzzRuns } from "../../helpers/fuzz.ts";
import { test } from "../../helpers/suite.ts";
import { assertAccepted, featureAt, renderV09 } from "../../viewer/viewer.ts";
import { entry, layerDocument, legend, marker } from "./arcgis-server.ts";

const address = "http://maps.example/arcgis/rest/services/Odd/MapServer/3";

const odd = fc.oneof(
	fc.jsonValue({ maxDepth: 2 }),
	fc.constantFrom<unknown>(
		...[null, "", "NaN", "__proto__", "constructor", "\u0000", "\ud800", "<img src=x onerror=y>", -0, 1e308],
		...[[], {}, [[]], [null], { toString: 1 }, { length: 4 }, true, "esriFieldTypeInteger", 4269, "4269"],
	),
);

const symbols = [
	marker(7),
	{ type: "esriPMS", contentType: "image/png", imageData: "iVBORw0KGgo=" },
	{ type: "esriSFS", style: "esriSFSSolid", color: [0, 0, 0, 0], outline: { color: [1, 1, 1, 1], width: 1 } },
];
const infos = ["A", "same", "__proto__", "1", "2.5"].map((value, at) => {
	return { value, classMaxValue: at, label: value, symbol: symbols[at % symbols.length] };
});
const documents = ["uniqueValue", "classBreaks", "simple"].map((type) => {
	const fields = { field: "CLASS", field1: "NAME", field2: "CLASS", minValue: 0, defaultLabel: "x" };
	const classes = {
		uniqueValueInfos: infos,
		classBreakInfos: infos,
		symbol: marker(1),
		defaultSymbol: marker(1),
	};
	return layerDocument({ drawingInfo: { renderer: { type, ...fields, ...classes } } });
});

/** A document in which some values, at any depth, are others, or absent. */
function mutate(good: unknown) {
	const change = fc.tuple(
		fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
		fc.option(odd, { nil: undefined }),
	);
	return fc.array(change, { maxLength: 6 }).map((changes) => {
		const document = structuredClone(good);
		for (const [path, value] of changes) {
			let node = document as Record<string, unknown>;
			for (const [at, step] of path.entries()) {
				const names = Object.keys(node);
				const name = names[step % names.length];
				if (name === undefined) break;
				const inner = node[name];
				if (at < path.length - 1 && typeof inner === "object" && inner !== null) node = inner as typeof node;
				else {
					node[name] = structuredClone(value);
					break;
				}
			}
		}
		return document;
	});
}

/** What a service sends of a value: its JSON, and at times only a part of it. */
const bytes = (value: fc.Arbitrary<unknown>) =>
	fc
		.tuple(
			value,
			fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.double({ min: 0, max: 1, noNaN: true })),
		)
		.map(([sent, part]): Answer => {
			const whole = new TextEncoder().encode(JSON.stringify(sent) ?? "");
			return { ok: true, bytes: whole.subarray(0, whole.length * part), type: "application/json" };
		});

const answers = fc.record({
	layer: bytes(fc.oneof(...documents.map(mutate))),
	legend: bytes(mutate(legend(entry("A", 1, { values: ["A", 1] }), entry("same", 2), entry("x", 3)))),
	count: bytes(mutate({ count: 12 })),
});

function askFrom(sent: { layer: Answer; legend: Answer; count: Answer }): Ask {
	return async (asked) => {
		if (asked.includes("/legend?")) return sent.legend;
		return asked.includes("/query?") ? sent.count : sent.layer;
	};
}

function assertFindings(findings: Harvest["findings"]) {
	for (const { state, pointer, text } of findings) {
		assert.ok(state === "down" || state === "wrong");
		assert.match(
			pointer,
			/^\/(?:en|fr)\/(?:service_url|layer|display_field|feature_info_type|legend_format)$/,
		);
		assert.not.match(text, /\p{Cc}/u);
		assert.ok(text.length < 1000, text);
	}
}

test("whatever a feature service sends, a layer is served that the viewer accepts", async () => {
	const registration = featureAt(address);
	let described = 0;
	const property = fc.asyncProperty(answers, async (sent) => {
		const harvested = await harvestLayer(registration, null, createClients(askFrom(sent), 3978));
		assertFindings(harvested.findings);
		const description = mergeDescription(registration, harvested, null);
		if (description) {
			described += 1;
			const written = descriptionText(description);
			assert.ok(written.length < 1_200_000);
			assert.equal(parseDescription(written), description);
		}
		for (const lang of ["en", "fr"] as const)
			assertAccepted(renderV09(lang, "odd", registration, description));
	});
	await fc.assert(property, { numRuns: fuzzRuns });
	assert.ok(described > 0, "the cases are not all junk");
	assert.equal(Object.keys(Object.prototype), []);
});

const names =
	"Layer wms:Layer Name Title Style LegendURL Format Request GetFeatureInfo Capability __proto__ x";
const parts = [
	...names.split(" ").flatMap((name) => [`<${name}>`, `<${name}>text/html</${name}>`]),
	"<Layer queryable='1'><Name>roads</Name><Title>Roads</Title></Layer>",
	...["roads", "image/png", "&amp;", "&x;", "<![CDATA[a]]>", "</Layer>", "</Name>"],
	...["<a b='", "<!--", "-->", "]]>", "<?x?>", "\u0000"],
];
const piece = fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...parts) }, fc.string());
const root = fc.constantFrom("WMS_Capabilities", "WMT_MS_Capabilities", "ServiceExceptionReport", "html", "");
const capabilities = fc
	.tuple(root, fc.array(piece, { maxLength: 40 }), fc.boolean())
	.map(([tag, pieces, ends]) => `<${tag}>${pieces.join("")}${ends ? `</${tag}>` : ""}`);
const contentType = fc.oneof(
	fc.constantFrom("text/xml", "text/xml; charset=ISO-8859-1", "text/xml; charset=utf-16le"),
	fc.string(),
);

test("whatever a WMS sends, its check ends with facts or findings", async () => {
	const entry = { service_url: "http://maps.example/wms", layer: "roads", feature_info_type: "text/html" };
	const registration: Registration1 = {
		version: "1.0.0",
		payload_type: "wms",
		en: entry as Registration1["en"],
		fr: { ...entry, legend_format: "image/png" } as Registration1["fr"],
	};
	let found = 0;
	const property = fc.asyncProperty(capabilities, contentType, async (sent, type) => {
		const answer: Answer = { ok: true, bytes: new TextEncoder().encode(sent), type };
		const clients = createClients(async () => answer, 3978);
		const checked = await checkLayer(registration, clients);
		assertFindings(checked);
		if (checked.every(({ what }) => what.code !== "no-layer" && what.code !== "unlike")) found += 1;
	});
	await fc.assert(property, { numRuns: fuzzRuns });
	assert.ok(found > 0, "the cases are not all junk");
	assert.equal(Object.keys(Object.prototype), []);
});

test.run();
