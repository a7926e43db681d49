import fc from "fast-check";
import { SaxesParser } from "saxes";
import * as assert from "uvu/assert";
import { type CommitChanges, changesPath, type Titles, updateChanges } from "../../../site/data/changes.ts";
import { type Files, IndexBroken } from "../../../site/data/chunks.ts";
import { feedPath } from "../../../site/static/addresses.ts";
import { test } from "../../helpers/suite.ts";
import { commitOf, filesAfter } from "./entries.ts";

const publicUrl = "";

/** Every other layer has titles, with signs that XML escapes; the others were removed. */
const titles: Titles = {
	of: (smallkey) =>
		/[02468]$/.test(smallkey) ? { en: `Lakes & <rivers>: ${smallkey}\u0007`, fr: smallkey } : null,
	mayDiffer: () => false,
};

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
	return updateChanges(null, all, publicUrl, titles) as Files;
}

test("commits that come later give the files of a whole build", () => {
	const property = fc.property(sizes, fc.array(fc.nat(180), { maxLength: 4 }), (given, cuts) => {
		const all = history(given);
		let disk: Files = new Map();
		let done = 0;
		for (const cut of [...cuts.map((at) => at % all.length).sort((a, b) => a - b), all.length]) {
			const further = all.slice(done, cut);
			const files =
				done === 0
					? buildChanges(further, publicUrl)
					: updateChanges((path) => disk.get(path) ?? null, further, publicUrl, titles);
			assert.ok(files);
			disk = filesAfter(disk, files as Files);
			done = cut;
		}
		const whole = buildChanges(all, publicUrl);
		assert.equal([...disk.keys()].sort(), [...whole.keys()].sort());
		for (const [path, text] of whole) assert.is(disk.get(path), text, path);
	});
	fc.assert(property, { numRuns: 15 });
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

test("a commit of very many layers says how many they were, and is one entry of the feed", () => {
	const disk = buildChanges(history([1, 5_000, 1]), publicUrl);
	const { commits } = JSON.parse(disk.get("changes/0.json") ?? "");
	assert.equal(Object.keys(commits[1]), ["commit", "date", "many"]);
	assert.is(commits[1].many, 5_000);
	assert.is(commits[2].layers.length, 1);
	const feed = disk.get(feedPath) ?? "";
	assert.is(feed.match(/<entry>/g)?.length, 3);
	assert.match(feed, "<title>5000 layers changed · 5000 couches modifiées</title>");
});

test("when pieces are missing or of another version, the whole catalogue is built", () => {
	const disk = buildChanges(history([1, 1]), publicUrl);
	const read = (path: string) => disk.get(path) ?? null;
	const further = [commitAt(2, 1)];
	const isBroken = (error: Error) => error instanceof IndexBroken;
	const other = (path: string) => read(path)?.replace('"version":2', '"version":9') ?? null;
	const having = (at: string, text: string | null) => (path: string) => (path === at ? text : read(path));
	const wrong = [having(changesPath, null), having(feedPath, null), having("changes/0.json", "{")];
	for (const broken of [other, ...wrong, having("changes/0.json", "{}")])
		assert.throws(() => updateChanges(broken, further, publicUrl, titles), isBroken);
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
