import * as assert from "uvu/assert";
import type { Entry, RecentChange } from "../../../site/data/entries.ts";
import { renderListPage } from "../../../site/static/list-pages.ts";
import { listedEntries } from "../../../site/static/plain-list.ts";
import { test } from "../../helpers/suite.ts";
import { pageSettings } from "../data/pages.ts";

const lakes: Entry = {
	smallkey: "a+b=",
	type: "wms",
	title: { en: "Lakes <big>", fr: "Lacs" },
	address: { en: "https://maps.example.ca/wms" },
	sender: { en: "Office of Maps", fr: "Bureau des cartes" },
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

test("changes are listed by day, with title, publisher and commit", () => {
	const data = { ...listedEntries([lakes]), changes, settings: pageSettings };
	const html = renderListPage("en/changes/index.html", data) ?? "";
	const days = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, day]) => day);
	assert.equal(days, ["March 4, 2026", "March 2, 2026", "March 1, 2026"]);
	for (const part of [
		'<a href="../../en/layer/a%2Bb%3D">Lakes &lt;big&gt;</a>',
		'<a href="../../en/?sender=Office+of+Maps">Office of Maps</a>',
		"<strong>250 layers</strong>",
	])
		assert.match(html, part);
	// A removed layer has no link, also at its earlier changes.
	assert.is(html.match(/<strong>gone<\/strong>/g)?.length, 2);
});

test.run();
