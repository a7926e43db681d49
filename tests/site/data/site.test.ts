import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { buildSite, type SiteFiles } from "../../../site/data/site.ts";
import { contentPolicy } from "../../../site/static/frame.ts";
import { test } from "../../helpers/suite.ts";
import { plainOptions, plainSettings } from "./pages.ts";

const site = await buildSite(plainOptions, true);

function textOf({ files }: SiteFiles, path: string) {
	return Buffer.from(files.get(path) ?? "").toString("utf8");
}

/** A script with all that it needs before it runs. */
function withImports(path: string, seen = new Set<string>()) {
	if (seen.has(path)) return seen;
	seen.add(path);
	for (const [, name] of textOf(site, path).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
		withImports(`assets/${name}`, seen);
	return seen;
}

function weight(paths: Iterable<string>) {
	return [...paths].reduce((sum, path) => sum + gzipSync(site.files.get(path) ?? "", { level: 9 }).length, 0);
}

const first = withImports(site.pages.assets.script);
// What is asked for at once is all that the first view needs.
assert.equal([...first].sort(), [site.pages.assets.script, ...site.pages.assets.imports].sort());

test("the first load is at most 30 kB without the index", () => {
	const { english, french, styles } = site.pages.assets;
	const bytes = weight([...first, english, styles, "en/index.html", "site.json"]);
	assert.ok(bytes <= 30_000, String(bytes));
	const inFrench = weight([...first, french, styles, "fr/index.html", "site.json"]);
	assert.ok(inFrench <= 30_000, String(inFrench));
	const preloaded = (path: string) => `<link rel="modulepreload" href="../${path}">`;
	assert.ok(textOf(site, "en/index.html").includes(preloaded(english)));
	assert.not.match(textOf(site, "en/index.html"), french);
	assert.ok(textOf(site, "fr/index.html").includes(preloaded(french)));
	assert.not.match(textOf(site, "fr/index.html"), english);
});

test("no page has a script or style inline, each has the policy, and addresses are relative", () => {
	const pages = [...site.files.keys()].filter((path) => /^(?!guide\/).*\.html$/.test(path));
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

const signature = `<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 40"><title>Office of Maps &amp; Charts</title></svg>`;

test("every page says whose site it is, as far as the settings say it", async () => {
	const own = {
		name: { en: "Maps <of> us", fr: "Nos cartes" },
		contact: "maps@example.ca",
		terms: { en: "https://example.ca/terms", fr: "https://example.ca/conditions" },
	};
	const theme = ":root { --link: #284162; }";
	const options = { site: { ...plainSettings, ...own }, publicUrl: "", look: { theme, signature } };
	const mine = await buildSite(options, true);
	const html = textOf(mine, "fr/index.html");
	const { assets } = mine.pages;
	for (const part of [
		"<title>Nos cartes</title>",
		'data-page="layers">Nos cartes</a>',
		'<a href="mailto:maps@example.ca">Contact</a>',
		'<a href="https://example.ca/conditions">Conditions d’utilisation</a>',
		`<link rel="stylesheet" href="../${assets.theme}">`,
		`<img class="signature" src="../${assets.signature?.path}" alt="Office of Maps &amp; Charts" width="300" height="40">`,
		'<link rel="canonical" href="./">',
	])
		assert.ok(html.includes(part), part);
	assert.is(textOf(mine, assets.theme ?? ""), theme);
	assert.not.match(textOf(site, "en/index.html"), /mailto:|Terms of use|<img/);
});

test.run();
