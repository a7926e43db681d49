import { SaxesParser } from "saxes";
import * as assert from "uvu/assert";
import { parseRecent, recentPath } from "../../../site/data/entries.ts";
import type { CommitChanges } from "../../../site/data/history.ts";
import { feedPath } from "../../../site/static/addresses.ts";
import { test } from "../../helpers/suite.ts";
import { buildCatalogue, commitOf } from "./entries.ts";
import { pageSettings } from "./pages.ts";

const publicUrl = "";

function commitAt(at: number, size: number) {
	const kinds = ["added", "changed", "removed"] as const;
	const layers = Array.from({ length: size }, (_, index) => {
		return { smallkey: `layer-${at}-${index}`, kind: kinds[(at + index) % 3] as (typeof kinds)[number] };
	});
	return commitOf(at, layers);
}

function history(sizes: readonly number[]) {
	return sizes.map((size, at) => commitAt(at, size));
}

/** Every other layer has titles, with signs that XML escapes; the others were removed. */
function buildChanges(all: readonly CommitChanges[], publicUrl: string): Map<string, string> {
	const smallkeys = all.flatMap(({ layers }) => layers.map(({ smallkey }) => smallkey));
	const entries = smallkeys
		.filter((smallkey) => /[02468]$/.test(smallkey))
		.map((smallkey) => ({
			smallkey,
			type: "wms",
			address: { en: "https://maps.example.ca/wms" },
			title: { en: `Lakes & <rivers>: ${smallkey}\u0007`, fr: smallkey },
		}));
	const pages = { ...pageSettings, publicUrl };
	return buildCatalogue(entries, all, { pages, isServed: true, commit: null, owners: () => [] });
}

test("after a batch each single change is in the file and the feed, and of the batch its number", () => {
	const all = history([190, ...Array.from({ length: 49 }, () => 1), 201, 1]);
	const files = buildChanges(all, publicUrl);
	const listed = parseRecent(files.get(recentPath) ?? null)?.changes.map(({ what }) =>
		"many" in what ? what : what.smallkey,
	);
	const single = all.slice(1, 50).map(({ layers }) => layers[0]?.smallkey);
	assert.equal(listed?.slice(0, 51), ["layer-51-0", { many: 201 }, ...single.reverse()]);
	const feed = files.get(feedPath) ?? "";
	for (const smallkey of single) assert.match(feed, `<category term="${smallkey}"/>`);
});

test("the feed is well-formed, newest first, with at most 100 entries and addresses of pages", () => {
	const publicUrl = "https://layers.example.ca/a&b/";
	const feed = buildChanges(history([60, 30, 2, 40]), publicUrl).get(feedPath) ?? "";
	const [titles, links]: [string[], string[]] = [[], []];
	let text = "";
	const parser = new SaxesParser({ xmlns: true });
	parser.on("text", (more) => {
		text += more;
	});
	parser.on("opentag", ({ local, attributes }) => {
		text = "";
		if (local === "link") links.push(String(attributes.href?.value));
	});
	parser.on("closetag", ({ local }) => local === "title" && titles.push(text));
	parser.write(feed).close();
	assert.is(titles.length, 101);
	assert.is(titles[1], "Lakes & <rivers>: layer-3-0  · layer-3-0: added · ajoutée");
	assert.is(titles[2], "layer-3-1: changed · modifiée");
	for (const lang of ["en", "fr"]) assert.ok(links.includes(`${publicUrl || "../"}${lang}/?layer=layer-3-0`));
});

test.run();
