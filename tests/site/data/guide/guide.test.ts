import * as assert from "uvu/assert";
import { readGuidePages, renderGuide } from "../../../../site/data/guide/guide.ts";
import { test } from "../../../helpers/suite.ts";
import { pageSettings } from "../pages.ts";

const pages = readGuidePages();
const guide = renderGuide(pages, pageSettings);

function render(markdown: string, path = "page.md") {
	const others = [
		{ path: "README.md", markdown: "# All" },
		{ path: "fr/page.md", markdown: "# Page" },
	];
	return renderGuide([{ path, markdown }, ...others], pageSettings).get(
		`guide/${path.replace(".md", ".html")}`,
	) as string;
}

test("every document is a page, in the frame of the catalogue and its language", () => {
	assert.ok(guide.has("guide/index.html") && guide.has("guide/fr/index.html"));
	assert.is(guide.size, pages.length);
	const publish = guide.get("guide/publish.html") as string;
	assert.match(publish, '<html lang="en">');
	assert.match(publish, '<link rel="stylesheet" href="../a/styles.css">');
	assert.match(publish, '<a class="language" href="fr/publish.html" hreflang="fr" lang="fr">');
	const french = guide.get("guide/fr/publish.html") as string;
	assert.match(french, '<html lang="fr">');
	for (const [path, html] of guide) assert.ok(html.length < 64_000, `${path} has ${html.length} characters`);
});

test("HTML in a document is shown as text, and no script enters the page", () => {
	const html = render(
		'# A\n\n<script>alert(1)</script> and <b onclick="x">b</b>\n\n`<i>`\n\n[x](javascript:alert(1))\n\n![p](x.png)',
	);
	assert.not.match(html, "<script>alert");
	assert.not.match(html, "<b onclick");
	assert.match(html, "&lt;script&gt;alert(1)&lt;/script&gt;");
	assert.match(html, "<code>&lt;i&gt;</code>");
	assert.not.match(html, "javascript:");
	assert.not.match(html, "<img");
});

test("links lead to pages of the guide, and others become text", () => {
	const html = render(
		"# A\n\n[c](README.md#words) [f](fr/page.md) [s](../schemas/x.ts) [n](none.md) [h](https://x.example/) [a](#a)",
	);
	assert.match(
		html,
		'<a href="index.html#words">c</a> <a href="fr/page.html">f</a> s n <a href="https://x.example/">h</a>',
	);
	assert.match(html, '<a href="#a">a</a>');
	assert.match(html, '<h1 id="a">A</h1>');
	const french = render("# A\n\n[e](../README.md)", "fr/other.md");
	assert.match(french, '<a href="../index.html">e</a>');
});

test.run();
