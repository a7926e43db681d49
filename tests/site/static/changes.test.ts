import * as assert from "uvu/assert";
import { checkResult } from "../../../extensions/harvest/health.ts";
import { causeOf } from "../../../registry/health.ts";
import type { Entry, RecentChange } from "../../../site/data/entries.ts";
import { slugOf } from "../../../site/search/select.ts";
import { renderListPage } from "../../../site/static/list-pages.ts";
import { listedEntries } from "../../../site/static/plain-list.ts";
import { test } from "../../helpers/suite.ts";
import { pageSettings } from "../data/pages.ts";

const maps = { en: "Office of Maps", fr: "Bureau des cartes" };

const lakes: Entry = {
	smallkey: "a+b=",
	type: "wms",
	title: { en: "Lakes <big>", fr: "Lacs" },
	address: { en: "https://maps.example.ca/wms" },
	sender: maps,
	health: { ...checkResult("down", causeOf("status", 503)), since: "2026-W09", repair: true },
	changed: { commit: "2".repeat(12), date: "2026-03-02T08:00:00Z" },
};
const roads: Entry = {
	smallkey: "roads",
	type: "feature",
	title: { en: "Roads", fr: 'Routes, "grandes"' },
	address: { en: "https://gis.example.ca/MapServer/1" },
	sender: maps,
	changed: { commit: "1".repeat(12), date: "2026-02-01T08:00:00Z" },
};
const other: Entry = {
	...roads,
	smallkey: "other",
	title: { en: "Other", fr: "Autre" },
	sender: "Élan inc.",
};

const at = (time: string, what: RecentChange["what"]): RecentChange => ({
	commit: time.slice(0, 2).repeat(20),
	date: `2026-03-${time}:00Z`,
	what,
});
const changes: RecentChange[] = [
	at("04T12:30", { smallkey: "gone", kind: "removed" }),
	at("04T09:05", { smallkey: "a+b=", kind: "changed" }),
	at("02T08:00", { smallkey: "gone", kind: "added" }),
	at("01T08:00", { many: 250 }),
];

const data = {
	...listedEntries([lakes, roads, other]),
	changes,
	settings: pageSettings,
};

function render(path: string) {
	const text = renderListPage(path, data);
	if (text === null) throw new Error(`there is no ${path}`);
	return text;
}

test("changes are listed by day, with title, publisher and commit", () => {
	const html = render("en/changes/index.html");
	const days = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, day]) => day);
	assert.equal(days, ["March 4, 2026", "March 2, 2026", "March 1, 2026"]);
	for (const part of [
		'<a href="../../en/layer/a%2Bb%3D">Lakes &lt;big&gt;</a>',
		'<a href="../../en/publisher/office-of-maps">Office of Maps</a>',
		"<strong>250 layers</strong>",
	])
		assert.match(html, part);
	// A removed layer has no link, also at its earlier changes.
	assert.is(html.match(/<strong>gone<\/strong>/g)?.length, 2);
});

test("a publisher’s page has its layers, what is wrong, and its changes", () => {
	const html = render("fr/publisher/office-of-maps.html");
	for (const part of [
		"<h1>Bureau des cartes</h1>",
		"2 couches, 1 avec un problème.",
		", depuis la semaine du 23 février 2026, répond par le statut 503, ",
		"une réparation est proposée",
		"Routes, &quot;grandes&quot;",
		"4 mars 2026",
	])
		assert.match(html, part);
	assert.not.match(html, "Autre<");
	assert.not.match(html, "250");
	assert.is(renderListPage("fr/publisher/office-of-map.html", data), null);
	assert.match(render("en/publisher/elan-inc.html"), "<h1>Élan inc.</h1>");
	assert.match(render("en/publisher/index.html"), '<a href="../../en/publisher/elan-inc">Élan inc.</a>');
});

test("a publisher’s address is made of plain letters; a name without any has its codes", () => {
	const slug = (en: string) => slugOf({ sender: { en, fr: "x" } });
	assert.is(slug("Ministère de l’Énergie & des Forêts (Québec)"), "ministere-de-l-energie-des-forets-quebec");
	assert.is(slug("測量"), "6e2c-91cf");
	assert.is(slugOf({}), null);
	assert.is(slug("a".repeat(500))?.length, 80);
});

test.run();
