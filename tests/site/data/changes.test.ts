import fc from "fast-check";
import { SaxesParser } from "saxes";
import * as assert from "uvu/assert";
import { type CommitChanges, changesFiles, changesPath } from "../../../site/data/changes.ts";
import type { Files } from "../../../site/data/chunks.ts";
import { feedPath } from "../../../site/static/addresses.ts";
import { test } from "../../helpers/suite.ts";
import { commitOf } from "./entries.ts";

const publicUrl = "";

/** Every other layer has titles, with signs that XML escapes; the others were removed. */
const titleOf = (smallkey: string) =>
	/[02468]$/.test(smallkey) ? { en: `Lakes & <rivers>: ${smallkey}\u0007`, fr: smallkey } : undefined;

/** Commit number `at`, which touches as many layers as `size` says. */
function commitAt(at: number, size: number): CommitChanges {
	const kinds = ["added", "changed", "removed"] as const;
	const layers = Array.from({ length: size }, (_, index) => {
		return { smallkey: `layer-${at}-${index}`, kind: kinds[(at + index) % 3] as (typeof kinds)[number] };
	});
	return commitOf(at, layers);
}

function history(sizes: readonly number[]): CommitChanges[] {
	return sizes.map((size, at) => commitAt(at, size));
}

const sizes = fc.array(fc.constantFrom(1, 1, 1, 2, 40, 500), { minLength: 1, maxLength: 180 });

/** All files of a history. */
function buildChanges(all: readonly CommitChanges[], publicUrl: string): Files {
	return changesFiles(all, publicUrl, titleOf);
}

test("the pieces have all commits in their order, up to a number of pieces", () => {
	const property = fc.property(sizes, (given) => {
		const all = history(given);
		const files = buildChanges(all, publicUrl);
		const { commits, first, starts } = JSON.parse(files.get(changesPath) ?? "");
		const pieces = starts.map((_: string, index: number) =>
			JSON.parse(files.get(`changes/${first + index}.json`) ?? ""),
		);
		const ids = pieces.flatMap((piece: { commits: { commit: string }[] }) =>
			piece.commits.map(({ commit }) => commit),
		);
		assert.equal([commits, first, ids], [all.length, 0, all.map(({ commit }) => commit)]);
	});
	fc.assert(property, { numRuns: 15 });
	const many = history(Array.from({ length: 10_051 }, () => 1));
	const files = buildChanges(many, publicUrl);
	assert.equal([files.has("changes/1.json"), files.has("changes/2.json")], [false, true]);
	assert.is(JSON.parse(files.get(changesPath) ?? "").first, 2);
});

test("no change is lost after a batch: each single one is in its piece and in the feed", () => {
	const all = history([190, ...Array.from({ length: 49 }, () => 1), 180, 200, 1]);
	const disk = buildChanges(all, publicUrl);
	const listed = ["changes/0.json", "changes/1.json"].flatMap(
		(path) => JSON.parse(disk.get(path) ?? "").commits,
	);
	assert.equal(
		listed.map(({ layers }) => layers),
		all.map(({ layers }) => layers),
	);
	const feed = buildChanges(all.slice(0, 50), publicUrl).get(feedPath) ?? "";
	for (const { layers } of all.slice(1, 50)) assert.match(feed, `<category term="${layers[0]?.smallkey}"/>`);
});

test("the feed is well-formed, newest first, at most 100 entries, with addresses that lead to the page", () => {
	const publicUrl = "https://layers.example.ca/a&b/";
	{
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
		for (const lang of ["en", "fr"])
			assert.ok(links.includes(`${publicUrl || "../"}${lang}/?layer=layer-3-0`));
	}
});

test.run();
