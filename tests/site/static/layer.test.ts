import { SaxesParser } from "saxes";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Entry } from "../../../registry/entries.ts";
import { layerHtml } from "../../../site/static/layer.ts";
import { pageSettings } from "../../catalogue/pages.ts";

const entry: Entry = {
	smallkey: "a+b=",
	type: "wms",
	title: { en: "Rivers <script>alert(1)</script>", fr: "Rivières" },
	description: { en: "All </script><b>rivers</b>", fr: "Tous les cours d’eau" },
	keywords: ["water"],
	address: { en: "https://maps.example.ca/wms?a=1&b=2", fr: "javascript:alert(1)" },
	layers: ["rivers"],
	sender: { en: "Office of Maps", fr: "Bureau des cartes" },
	changed: { commit: "0123456789ab", date: "2026-03-04T12:00:00Z" },
	health: { state: "down", since: "2026-W10", cause: "answers with status 503" },
	bounds: [-80.5, 45, -75, 50],
	unread: ["v1/fr"],
};

/** HTML that is well-formed XML but for the document type, and elements without an end. */
function assertWellFormed(html: string): void {
	// A script is no XML.
	const text = html
		.replace("<!doctype html>", "")
		.replace(/<script type="application\/ld\+json">.*<\/script>/, "");
	new SaxesParser().write(text.replace(/<(meta|link)([^>]*)>/g, "<$1$2/>")).close();
}

test("the page of a layer says all in its language, and needs no script", () => {
	const html = layerHtml("fr", entry, pageSettings);
	assertWellFormed(html);
	for (const part of [
		'<html lang="fr">',
		"<h1>Rivières</h1>",
		"<p>Tous les cours d’eau</p>",
		"<dt>Inscrite par</dt><dd>Bureau des cartes</dd>",
		"<dd>2026-03-04, commit 0123456789ab</dd>",
		"ouest -80,5°, sud 45°, est -75°, nord 50°",
		'Le service ne répond pas, depuis la semaine du 2026-03-02\u00a0: <span lang="fr">Statut 503</span>',
		'href="../../v0.9/doc/fr/a%2Bb%3D"',
		'<a class="language" href="../../en/layer/a%2Bb%3D" hreflang="en" lang="en">',
		'href="../../guide/fr/"',
	])
		assert.ok(html.includes(part), part);
	assert.not.match(html, 'href="../../v1/doc/fr/');
	assert.not.match(html, /href="javascript:/);
	assert.not.match(html, /<script(?! type="application\/ld\+json">)/);
});

test("what is copied from the page has whole addresses: without PUBLIC_URL only that of the map service", () => {
	const namesOf = (publicUrl: string) => {
		const html = layerHtml("en", entry, { ...pageSettings, publicUrl });
		assert.not.match(html, /<code>[^<]*\.\.\//);
		return [...html.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, name]) => name);
	};
	const libraries = ["OpenLayers", "Leaflet", "QGIS (Python)", "ArcGIS Maps SDK"];
	assert.equal(namesOf(""), libraries);
	const viewers = ["RAMP 4.0", "RAMP 5", "FGPV", "GeoView", "RAMP4", "Terria", "curl"];
	assert.equal(namesOf("https://layers.example.ca/"), [...viewers, ...libraries, "&lt;iframe&gt;"]);
});

test("whatever a service is called, it is text", () => {
	const html = layerHtml("en", entry, pageSettings);
	assertWellFormed(html);
	assert.not.match(html, "<script>alert");
	assert.not.match(html, "<b>rivers");
	assert.ok(html.includes("<h1>Rivers &lt;script&gt;alert(1)&lt;/script&gt;</h1>"));
});

test("search engines read where it is, its pair, and a data set of schema.org", () => {
	const html = layerHtml("en", entry, { ...pageSettings, publicUrl: "https://layers.example.ca/x/" });
	const address = "https://layers.example.ca/x/en/layer/a%2Bb%3D";
	for (const part of [
		`<link rel="canonical" href="${address}">`,
		`<link rel="alternate" hreflang="en" href="${address}">`,
		'<link rel="alternate" hreflang="fr" href="https://layers.example.ca/x/fr/couche/a%2Bb%3D">',
		`<meta property="og:url" content="${address}">`,
		'<meta property="og:title" content="Rivers &lt;script&gt;',
	])
		assert.ok(html.includes(part), part);
	const [, json = ""] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(html) ?? [];
	const dataset = JSON.parse(json);
	assert.is(dataset["@context"], "https://schema.org/");
	assert.is(dataset["@type"], "Dataset");
	assert.is(dataset.name, entry.title.en);
	assert.is(dataset.description, "All </script><b>rivers</b>");
	assert.is(dataset.url, address);
	// schema.org, GeoShape: the box's corners are latitude and longitude, the lower one first.
	assert.is(dataset.spatialCoverage.geo.box, "45 -80.5 50 -75");
});

test("health is not said to be good before it was checked; a cause in English is marked as such", () => {
	const { health: _, ...well } = entry;
	const cause = "has no layer <b> among its 7";
	const wrong = layerHtml(
		"fr",
		{ ...well, health: { state: "wrong", since: "2026-W10", cause } },
		pageSettings,
	);
	assert.match(wrong, '<span lang="en">has no layer &lt;b&gt; among its 7</span>');
	assert.match(layerHtml("en", { ...entry, health: null }, pageSettings), "<dd>Not checked yet</dd>");
	assert.match(layerHtml("fr", { ...entry, health: null }, pageSettings), "<dd>Pas encore vérifiée</dd>");
	assert.match(layerHtml("en", well, pageSettings), "<dd>No problem was seen</dd>");
});

test.run();
