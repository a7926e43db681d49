import { gzipSync } from "node:zlib";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { buildSite, type SiteFiles } from "../../catalogue/site.ts";
import { contentPolicy } from "../../site/static/content-policy.ts";
import { french } from "../../site/text/french.ts";
import { plainSettings } from "./pages.ts";

const site = await buildSite(plainSettings);

function textOf({ files }: SiteFiles, path: string): string {
	return Buffer.from(files.get(path) ?? "").toString("utf8");
}

/** A script with all that it needs before it runs. */
function withImports(path: string, seen = new Set<string>()): Set<string> {
	if (seen.has(path)) return seen;
	seen.add(path);
	for (const [, name] of textOf(site, path).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
		withImports(`assets/${name}`, seen);
	return seen;
}

/** Bytes of files as they travel. */
function weight(paths: Iterable<string>): number {
	return [...paths].reduce((sum, path) => sum + gzipSync(site.files.get(path) ?? "", { level: 9 }).length, 0);
}

function scriptCalled(name: string): string {
	const found = [...site.files.keys()].find((path) => path.startsWith(`assets/${name}-`));
	assert.ok(found, name);
	return found as string;
}

const first = withImports(site.assets.script);
// What is asked for at once is all that the first view needs.
assert.equal([...first].sort(), [site.assets.script, ...site.assets.imports].sort());
const added = (name: string) => [...withImports(scriptCalled(name))].filter((path) => !first.has(path));

test("the first load is at most 60 kB, of which 20 are left to the index at any number of layers", () => {
	const { french, styles } = site.assets;
	const bytes = weight([...first, styles, "en/index.html", "site.json"]);
	assert.ok(bytes <= 40_000, String(bytes));
	const inFrench = weight([...first, french, styles, "fr/index.html", "site.json"]);
	assert.ok(inFrench <= 40_000, String(inFrench));
	assert.not.match(textOf(site, "en/index.html"), french);
	assert.ok(textOf(site, "fr/index.html").includes(`<link rel="modulepreload" href="../${french}">`));
});

test("a map is loaded in pieces: pictures at most 75 kB, features at most 105, proj4 by itself", () => {
	const pictures = added("layer-map");
	assert.ok(weight(pictures) <= 75_000, String(weight(pictures)));
	const features = new Set([...pictures, ...added("features")]);
	assert.ok(weight(features) <= 105_000, String(weight(features)));
	for (const path of [...first, ...features]) assert.not.match(textOf(site, path), /\+proj=lcc/, path);
	const reproject = [...withImports(scriptCalled("reproject"))].map((path) => textOf(site, path));
	assert.match(reproject.join("\n"), /\+proj=lcc/);
});

test("no page holds a script or a style inline, each has the policy, and addresses are relative", () => {
	const pages = [...site.files.keys()].filter((path) => path.endsWith(".html"));
	assert.equal(pages.sort(), ["en/index.html", "fr/index.html", "index.html"]);
	for (const path of pages) {
		const html = textOf(site, path);
		assert.ok(html.includes(`content="${contentPolicy(false)}"`), path);
		assert.not.match(
			html,
			/<style|\sstyle=|\son\w+=|<script(?! type="application\/json")(?![^>]*\ssrc=)/,
			path,
		);
		for (const [, address = ""] of html.matchAll(/(?:href|src)="([^"]*)"/g))
			assert.not.match(address, /^(?:\/|https?:)/, address);
	}
	assert.match(contentPolicy(true), /script-src 'self';/);
	assert.not.match(contentPolicy(true), /http:/);
});

test("a browser finds the site's picture, and its search where the address is known", async () => {
	assert.match(
		textOf(site, "fr/index.html"),
		`<link rel="icon" type="image/svg+xml" href="../${site.assets.icon}">`,
	);
	assert.match(textOf(site, site.assets.icon), /^<svg /);
	const search =
		/<link rel="search" type="application\/opensearchdescription\+xml" title="[^"]+" href="\.\.\/opensearch-fr\.xml">/;
	assert.not.match(textOf(site, "fr/index.html"), search);
	assert.match(textOf(await buildSite(plainSettings, "https://l.example/"), "fr/index.html"), search);
});

test("names hold the hash of their content, so that what has one never changes", async () => {
	const again = await buildSite(plainSettings);
	assert.equal([...again.files.keys()].sort(), [...site.files.keys()].sort());
	for (const path of site.files.keys()) {
		if (path.startsWith("assets/")) assert.match(path, /-[0-9A-Za-z]{8,10}\.(?:js|css|svg)$/, path);
	}
});

test("the outline of the land is small, and as large as it says", () => {
	const svg = textOf(site, site.assets.landLight);
	assert.ok(gzipSync(svg, { level: 9 }).length <= 40_000, String(svg.length));
	assert.match(svg, /viewBox="0 0 4000 3200"/);
});

test("a text has the same values in both languages", () => {
	const valuesOf = (text: string) => [...text.matchAll(/\{\d\}/g)].map(String).sort();
	for (const [en, fr] of Object.entries(french)) assert.equal(valuesOf(fr), valuesOf(en), en);
});

test.run();
