import * as assert from "uvu/assert";
import { type CauseCode, causeOf, causes, causeText } from "../../registry/causes.ts";
import type { Entry } from "../../registry/entries.ts";
import { healthText, parseHealth, type SickLayer, seenAs, sickStates } from "../../registry/health.ts";
import { isBlockedOn } from "../../registry/mixed-content.ts";
import { healthHtml } from "../../site/static/health.ts";
import { layerHtml } from "../../site/static/layer.ts";
import { pageSettings } from "../catalogue/pages.ts";
import { test } from "../helpers/suite.ts";

const codes = Object.keys(causes.en) as CauseCode[];

test("the French pages have no English sentence, whatever a layer is sick of", () => {
	const sick = codes.flatMap((code, at): SickLayer[] => {
		const state = sickStates[at % sickStates.length] ?? "down";
		const seen = seenAs(state, causeOf(code, "x1", "x2", "x3"));
		const stored = parseHealth(healthText(new Map([["k", { ...seen, since: "2026-W10" }]]))).get("k");
		return stored ? [{ ...stored, smallkey: `k${at}`, title: { en: "T", fr: "T" } }] : [];
	});
	assert.is(sick.length, codes.length);
	const entries = new Map(
		sick.map(({ smallkey, title, ...health }): [string, Entry] => {
			return [smallkey, { smallkey, type: "wms", title, health, address: { en: "https://a.example/wms" } }];
		}),
	);
	const report = { version: 3, sick: sick.length, checked: 100, unchecked: 0 } as const;
	// The page counts only the first ten causes, and its table has all.
	const groups = [{ owner: "", host: "a.example", layers: sick }];
	const entryOf = (smallkey: string) => entries.get(smallkey);
	const lists = { settings: pageSettings, entryOf, lastLook: null };
	const pages = [
		healthHtml("fr", { ...report, groups }, lists),
		...[...entries.values()].map((entry) => layerHtml("fr", entry, pageSettings)),
	];
	for (const { smallkey, state, code, values = [] } of sick) {
		const english = causeText("en", { code: code as CauseCode, values });
		for (const page of pages) assert.not.ok(page.includes(`>${english}<`), english);
		assert.match(
			pages[0] ?? "",
			causeText("fr", { code: code as CauseCode, values }),
			`${smallkey} ${state}`,
		);
	}
	assert.not.match(pages.join(), /<span lang="en">/);
});

test("the cause of a failed host is stored as the layer's own", () => {
	const { code, cause } = seenAs("down", causeOf("host-failed", causeOf("slow", 10)));
	assert.equal([code, cause], ["slow", "did not answer completely within 10 s"]);
});

test("an unknown code is read as none", () => {
	const read = (more: object) =>
		parseHealth(
			JSON.stringify({ sick: { a: { state: "down", since: "2026-W10", cause: "fails", ...more } } }),
		).get("a");
	assert.equal(read({ code: "toString", values: ["1"] }), {
		state: "down",
		since: "2026-W10",
		cause: "fails",
	});
	assert.equal(read({ code: "status", values: [{}, 1, "x".repeat(500), "2"] })?.values, [
		"x".repeat(160),
		"2",
	]);
	assert.equal(read({ code: "status", values: "503" })?.values, undefined);
});

for (const [site, address, is] of [
	["https://maps.example", "http://a.example/wms", true],
	["", "http://a.example/wms", true],
	["http://maps.example", "http://a.example/wms", false],
	["https://maps.example", "https://a.example/wms", false],
	["https://maps.example", "HTTP://a.example/wms", true],
	["https://maps.example", "http://127.0.0.1:8080/wms", false],
	["https://maps.example", "http://[::1]/wms", false],
	["https://maps.example", "http://127.0.0.1.example/wms", true],
	["https://maps.example", "http://localhost/wms", false],
	["https://maps.example", "http://", false],
] as const) {
	test(`pages of ${site || "an unknown site"} ${is ? "cannot ask" : "can ask"} ${address}`, () =>
		assert.is(isBlockedOn(site, address), is));
}

test.run();
