import * as assert from "uvu/assert";
import { answerNoPage, noPage } from "../../api/pages.ts";
import { pageSettings } from "../catalogue/pages.ts";
import { test } from "../helpers/suite.ts";

const page = (target: string, pages: typeof pageSettings | null = null) => {
	const reply = answerNoPage(noPage(target, "/base") as { file: string; root: string }, pages, true);
	assert.is(reply.status, 404);
	return new TextDecoder().decode(reply.body as Uint8Array);
};

test("an error page does not repeat the folders of a long path", () => {
	const long = `/base/${"a/".repeat(30_000)}`;
	assert.ok(page(long).length <= page("/base/a/b").length + 100);
	assert.match(page("/base/a/b"), '"../');
	assert.match(page(long), '"/base/');
});

test("with a catalogue the error page has its header and footer, and the language of its address", () => {
	const english = page("/base/a/b?c", pageSettings);
	for (const part of ['<link rel="stylesheet" href="../a/styles.css">', '<header class="bar">', "<footer"])
		assert.ok(english.includes(part), part);
	const { body } = answerNoPage({ file: "fr/aucune", root: "../" }, pageSettings, true);
	const french = new TextDecoder().decode(body as Uint8Array);
	assert.match(french, '<html lang="fr">');
	assert.match(
		french,
		/Cette page n’existe pas<\/h1>[\s\S]*<section lang="en">\n<h1>This page does not exist/,
	);
});

test.run();
