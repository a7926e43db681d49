import * as assert from "uvu/assert";
import type { Description } from "../../../registry/description.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import type { Registration } from "../../../registry/registration.ts";
import { contentOf, entryOf, type KnownOfLayer } from "../../../site/data/entry.ts";
import type { Health } from "../../../site/data/health.ts";
import { feature, manual } from "../../helpers/local.ts";
import { test } from "../../helpers/suite.ts";

const settings = { metadataUrl: "", catalogueUrl: "" };

function descriptionOf(extent: object) {
	return {
		en: {
			service_url: "https://host.example/MapServer/1",
			name: "Rivers",
			display_field: "",
			geometry_type: "esriGeometryPoint",
			min_scale: 0,
			max_scale: 0,
			extent,
			fields: [],
			renderer: { type: "simple", label: "", image: "" },
			count: null,
		},
	} as unknown as Description;
}

const entry = (layer: CheckedLayer, known: KnownOfLayer = {}, health: Health = new Map()) =>
	entryOf(contentOf(layer, settings), known, health);

const stored = { smallkey: "abc", registration: JSON.parse(feature) as Registration };

test("bounds are in degrees, whatever reference the service has", () => {
	const boundsOf = (extent: object) => entry({ ...stored, description: descriptionOf(extent) }).bounds;
	assert.equal(
		boundsOf({ wkid: 4326, xmin: -76.00001, ymin: 45, xmax: -75, ymax: 46.5 }),
		[-76.0001, 45, -75, 46.5],
	);
	// A degree of longitude at the equator is 111,319.49 m of Web Mercator (EPSG, guidance note 7-2).
	const mercator = { wkid: 3857, xmin: -11131949, ymin: 0, xmax: -5565974.5, ymax: 5621521.48 };
	assert.equal(boundsOf(mercator)?.map(Math.round), [-100, 0, -50, 45]);
	assert.is(boundsOf({ wkid: 1, xmin: 0, ymin: 0, xmax: 1, ymax: 1 }), undefined);
});

test("a layer that was never checked is not in order: its health is not known", () => {
	const seen = new Map([["abc", { state: "down" as const, since: "2026-W10" }]]);
	const layer = { ...stored, description: null };
	assert.is(entry(layer).health, null);
	assert.equal(entry(layer, {}, seen).health, seen.get("abc"));
	const extent = { wkid: 4326, xmin: 0, ymin: 0, xmax: 1, ymax: 1 };
	const harvested = descriptionOf(extent);
	assert.not.ok("health" in entry({ ...stored, description: harvested }));
	for (const from of ["import", "example"]) {
		const unasked = { en: { ...harvested.en, from } } as Description;
		assert.is(entry({ ...stored, description: unasked }).health, null, from);
	}
});

test("an entry says what viewers show, and in which forms they cannot read it", () => {
	const wms = { smallkey: "23ax5t", registration: JSON.parse(manual) as Registration, description: null };
	const changed = { commit: "0123456789ab", date: "2026-03-04T12:00:00Z" };
	assert.equal(entry(wms, { changed, sender: { en: "Maps", fr: "Cartes" } }), {
		smallkey: "23ax5t",
		type: "wms",
		title: { en: "limits", fr: "limits" },
		address: { en: "http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en" },
		layers: { en: ["limits"] },
		sender: { en: "Maps", fr: "Cartes" },
		changed: { commit: "0123456789ab", date: "2026-03-04T12:00:00Z" },
		health: null,
	});
	const tiles = { service_type: "ogcWmts", service_url: "https://host.example/wmts", scrape_only: ["a"] };
	const registration = { version: "2.0", en: tiles, fr: tiles } as unknown as Registration;
	const { unread = [] } = entry({ smallkey: "t", registration, description: null });
	assert.ok(unread.includes("v0.9/en") && unread.includes("v0.9/fr"), unread.join());
	assert.not.ok(unread.includes("terria/en"));
});

test("an entry has its services' description, keywords and extent", () => {
	const registration = JSON.parse(manual) as Registration;
	const of = (lang: "en" | "fr", words: object) => ({
		service_url: registration[lang].service_url,
		layers: ["limits"],
		title: "Limits",
		...words,
	});
	const bounds = [-141, 41.7, -52.6, 83.1];
	const description = {
		en: of("en", { abstract: `Limits ${"é".repeat(400)}`, keywords: ["border", "Canada"], bounds }),
		fr: of("fr", { abstract: "Les limites", keywords: ["frontière", "Canada"], bounds }),
	} as unknown as Description;
	const found = entry({ smallkey: "abc", registration, description });
	assert.equal(found.description, { en: `Limits ${"é".repeat(292)}…`, fr: "Les limites" });
	assert.equal(found.keywords, { en: ["border", "Canada"], fr: ["frontière", "Canada"] });
	assert.equal(found.bounds, bounds);
});

test.run();
