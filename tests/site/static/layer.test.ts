import { SaxesParser } from "saxes";
import * as assert from "uvu/assert";
import { checkResult } from "../../../extensions/harvest/health.ts";
import { targetNames, targetPath } from "../../../registry/targets/table.ts";
import type { Entry } from "../../../site/data/entries.ts";
import { causeOf } from "../../../site/data/health.ts";
import { pageHeaders } from "../../../site/http/pages.ts";
import { fragmentPath } from "../../../site/static/addresses.ts";
import { layerEmbedHtml, layerHtml } from "../../../site/static/layer-page.ts";
import { test } from "../../helpers/suite.ts";
import { pageSettings } from "../data/pages.ts";

const entry: Entry = {
	smallkey: "a+b=",
	type: "wms",
	title: { en: "Rivers <script>alert(1)</script>", fr: "Rivières" },
	description: { en: "All </script><b>rivers</b>", fr: "Tous les cours d’eau" },
	keywords: { en: ["water"], fr: ["eau"] },
	address: { en: "https://maps.example.ca/wms?a=1&b=2", fr: "javascript:alert(1)" },
	layers: { en: ["rivers"] },
	sender: { en: "Office of Maps", fr: "Bureau des cartes" },
	changed: { commit: "0123456789ab", date: "2026-03-04T12:00:00Z" },
	health: { ...checkResult("down", causeOf("status", 503)), since: "2026-W10" },
	bounds: [-80.5, 45, -75, 50],
	unread: ["v1/fr"],
};
const publicSettings = { ...pageSettings, publicUrl: "https://layers.example.ca/x/" };

function assertWellFormed(html: string) {
	const text = html.replace("<!doctype html>", "").replace(/<script [^>]*>.*?<\/script>/g, "");
	new SaxesParser().write(text.replace(/<(meta|link)([^>]*)>/g, "<$1$2/>")).close();
}

test("the page of a layer says all in its language, and needs no script", () => {
	const html = layerHtml("fr", entry, pageSettings);
	assertWellFormed(html);
	for (const part of [
		'<html lang="fr">',
		'<h1 tabindex="-1">Rivières</h1>',
		'<p class="description">Tous les cours d’eau</p>',
		'<dt>Inscrite par</dt><dd><a href="../../fr/?sender=Bureau+des+cartes">Bureau des cartes</a></dd>',
		"<dd>4 mars 2026, commit 0123456</dd>",
		"ouest -80,5°, sud 45°, est -75°, nord 50°",
		"Le service est en panne, depuis la semaine du 2 mars 2026, répond par le statut 503",
		'href="../../v0.9/doc/fr/a%2Bb%3D"',
		'<a class="language" href="../../en/layer/a%2Bb%3D" hreflang="en" lang="en">',
	])
		assert.ok(html.includes(part), part);
	// A target that does not read the layer has no link.
	assert.not.match(html, 'href="../../v1/doc/fr/');
	assert.not.match(html, /href="javascript:/);
});

test("a page leads to the fragments of every target", () => {
	for (const name of targetNames) assert.is(fragmentPath(name, "fr", "k"), targetPath(name, "fr", "k"));
});

test("a name of a service with markup is shown as text", () => {
	const html = layerHtml("en", entry, pageSettings);
	assertWellFormed(html);
	assert.not.match(html, "<script>alert");
	assert.not.match(html, "<b>rivers");
	assert.match(html, '<h1 tabindex="-1">Rivers &lt;script&gt;alert(1)&lt;/script&gt;</h1>');
});

test("the page for frames has the map, its title and the layer's address only", () => {
	const html = layerEmbedHtml("fr", entry, publicSettings);
	assertWellFormed(html);
	assert.match(html, '<link rel="canonical" href="https://layers.example.ca/x/fr/layer/a%2Bb%3D">');
	assert.match(html, '<meta name="robots" content="noindex">');
	assert.not.match(html, /<(?:header|footer|nav)/);
	const policyOf = (page: string) => pageHeaders(`fr/${page}/k.html`)["Content-Security-Policy"] ?? "";
	assert.match(policyOf("embed"), "frame-ancestors *");
	assert.match(policyOf("layer"), "frame-ancestors 'none'");
});

test("search engines read its description, where it is, and its pair", () => {
	const html = layerHtml("en", entry, publicSettings);
	const url = "https://layers.example.ca/x/en/layer/a%2Bb%3D";
	for (const part of [
		`<link rel="canonical" href="${url}">`,
		`<link rel="alternate" hreflang="fr" href="${url.replace("/en/", "/fr/")}">`,
		'<meta name="description" content="All &lt;/script&gt;',
	])
		assert.match(html, part);
});

test("health is not good before it was checked; a cause in English is marked as such", () => {
	const { health: _, ...well } = entry;
	const strange = { state: "wrong", since: "2026-W10", cause: "says <b>" } as const;
	const htmlOf = (health: Entry["health"]) => layerHtml("fr", { ...well, health } as Entry, pageSettings);
	assert.match(htmlOf(strange), '<span lang="en">says &lt;b&gt;</span>');
	assert.match(htmlOf(null), "<dd>Pas encore vérifiée</dd>");
	assert.match(layerHtml("en", well, pageSettings), "<dd>No problem was seen</dd>");
});

test.run();
