import { SaxesParser } from "saxes";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generateEntries } from "../../bench/entries.ts";
import { buildCatalogue, type ListedLayer, updateCatalogue } from "../../catalogue/catalogue.ts";
import type { CommitChanges } from "../../registry/index/changes.ts";
import type { Entry } from "../../registry/index/entry.ts";
import { readHealthReport } from "../../registry/index/health.ts";
import type { Files } from "../../registry/index/set.ts";

const settings = {
	assets: {
		policy: "",
		script: "a.js",
		choose: "c.js",
		styles: "s.css",
		landLight: "l.svg",
		landDark: "d.svg",
	},
	publicUrl: "",
	owners: (smallkey: string) => (smallkey.startsWith("a") ? ["@org/a"] : []),
};

function listed(entry: Entry): ListedLayer {
	const address = `https://${entry.host.en}/wms?layer=${entry.smallkey}&x=1`;
	return { entry, addresses: { en: address, fr: address } };
}

function commitOf(at: number, smallkey: string): CommitChanges {
	const date = new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString().replace(".000", "");
	return { commit: at.toString(16).padStart(40, "0"), date, layers: [{ smallkey, kind: "changed" }] };
}

function apply(disk: Files, files: Files): Files {
	const after = new Map(disk);
	for (const [path, text] of files) {
		if (text === null) after.delete(path);
		else after.set(path, text);
	}
	return after;
}

function assertSame(given: Files, expected: Files): void {
	assert.equal([...given.keys()].sort(), [...expected.keys()].sort());
	for (const [path, text] of expected) assert.is(given.get(path), text, path);
}

test("a change writes few files, and what is there then is what a whole build writes", () => {
	const entries = [...generateEntries(700)];
	const present = new Map(entries.slice(0, 640).map((entry) => [entry.smallkey, listed(entry)]));
	const history = [commitOf(0, "first")];
	let disk = buildCatalogue([...present.values()], history, settings);
	const change = (smallkey: string, layer: ListedLayer | null) => {
		const commit = commitOf(history.length, smallkey);
		const changes = { layers: new Map([[smallkey, layer]]), history: [commit] };
		const files = updateCatalogue((path) => disk.get(path) ?? null, changes, settings);
		assert.ok(files);
		disk = apply(disk, files as Files);
		history.push(commit);
		if (layer) present.set(smallkey, layer);
		else present.delete(smallkey);
		return [...(files as Files).keys()];
	};
	for (const entry of entries.slice(640)) {
		const paths = change(entry.smallkey, listed(entry));
		// Also where a layer more splits a page of the plain list.
		assert.ok(paths.filter((path) => !path.startsWith("index/")).length <= 6, paths.join());
	}
	const some = entries[3] as Entry;
	const paths = change(some.smallkey, listed({ ...some, title: { ...some.title, en: "Other" } }));
	assert.ok(paths.filter((path) => !path.startsWith("index/")).length <= 6, paths.join());
	const sick = { ...some, health: { state: "down" as const, since: "2026-W10" } };
	assert.ok(change(some.smallkey, listed(sick)).includes("index/health.json"));
	change(some.smallkey, listed({ ...some, title: { en: "Other", fr: "Autre" } }));
	for (const entry of entries.slice(100, 130)) change(entry.smallkey, null);
	assertSame(disk, buildCatalogue([...present.values()], history, settings));
});

test("an index that is not whole is not gone on with", () => {
	const entries = [...generateEntries(20)];
	const disk = buildCatalogue(entries.map(listed), [commitOf(0, "first")], settings);
	const [some] = entries as [Entry];
	const changes = { layers: new Map([[some.smallkey, null]]), history: [commitOf(1, some.smallkey)] };
	for (const gone of ["index/index.json", "list/index.html", "changes/index.json"]) {
		const read = (path: string) => (path === gone ? null : (disk.get(path) ?? null));
		assert.is(updateCatalogue(read, changes, settings), null, gone);
	}
});

test("the health report names the sick layers and who can mend them", () => {
	const [one, other] = [...generateEntries(2)] as [Entry, Entry];
	const sick = { ...one, smallkey: "abc", health: { state: "empty" as const, since: "2026-W10" } };
	const files = buildCatalogue([listed(sick), listed({ ...other, health: undefined })], null, settings);
	const report = readHealthReport(files.get("index/health.json") ?? "");
	assert.equal(report?.layers, [
		{ smallkey: "abc", title: sick.title, health: sick.health, owners: ["@org/a"] },
	]);
	assert.is(report?.sick, 1);
});

test("the plain list is whole and well-formed, whatever titles hold", () => {
	const odd: Entry[] = [
		["k1", "<img src=x onerror=alert(1)>", "\"quotes\" & 'more'"],
		["k2", "x".repeat(500), "x".repeat(500)],
		["k3", "\u202eabc\u202c مرحبا", "</table><script>"],
	].map(([smallkey = "", en = "", fr = ""]) => ({
		smallkey,
		type: "wms",
		title: { en, fr },
		host: { en: "h", fr: "h" },
		fragments: { "v0.9": { en: "1", fr: "2" }, ramp4: { en: "3" } },
	}));
	const files = buildCatalogue(odd.map(listed), null, settings);
	const pages = [...files].filter(([path]) => path.startsWith("list/"));
	assert.is(pages.length, 2);
	for (const [path, html] of pages) {
		assert.not.match(html ?? "", /<img|<script/, path);
		new SaxesParser()
			.write(
				(html ?? "")
					.replace("<!doctype html>", "")
					.replaceAll("&nbsp;", " ")
					.replace(/<(meta|link)([^>]*)>/g, "<$1$2/>"),
			)
			.close();
	}
	const page = pages.find(([path]) => path !== "list/index.html")?.[1] ?? "";
	for (const link of ["../v0.9/doc/en/k1", "../v0.9/doc/fr/k1", "../ramp4/en/k1"])
		assert.ok(page.includes(`href="${link}"`), link);
	assert.not.ok(page.includes("../ramp4/fr/k1"));
	assert.ok(page.includes("https://h/wms?layer=k1&amp;x=1"));
});

test.run();
