import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { marker, maxCommentLength, type Report, renderComment } from "../../../extensions/review/comment.ts";
import type { Remark } from "../../../extensions/review/review.ts";
import { readDraft } from "../../../registry/draft.ts";
import { root, runScript } from "../../helpers/process.ts";
import { test } from "../../helpers/suite.ts";
import { type Files, Repository, temporaryFolder } from "../../helpers/world.ts";
import { nowhere, ownersFile, wmsFile } from "./repository.ts";

/** Texts that would do something if they were not made safe. */
const hostile = [
	"</code></details><script>alert(1)</script>",
	"<!-- fragment-publisher: review -->",
	"```\n# out of the fence\n@maps/everybody",
	"@maps/operators please approve",
	"##[add-mask]a",
	"\r\n\u2028::warning::x",
	"\u202etxt.exe\u202c \u200b \u0007 \u001b[31m",
	"$(touch /tmp/pwned) `touch /tmp/pwned`",
];

/** The Markdown outside of fenced blocks and code elements, as CommonMark reads them. */
function outsideCode(markdown: string): string {
	let fence: string | null = null;
	const lines = markdown.split("\n").filter((line) => {
		const [, run = "", rest = ""] = /^ {0,3}(`{3,})(.*)$/.exec(line) ?? [];
		if (run === "") return fence === null;
		if (fence === null) fence = run;
		else if (run.length >= fence.length && rest.trim() === "") fence = null;
		return false;
	});
	assert.is(fence, null, "a fence is left open");
	return lines.join("\n").replace(/<code>[A-Za-z0-9 &#;]*<\/code>/g, "");
}

/** A link whose characters mean nothing to Markdown. */
const link = /\[(?:on the map, as a draft)?\]\(https?:\/\/[A-Za-z0-9./:?#=&%+,;_-]+\)/g;
const markup = /<\/?details>|<\/?summary>|\*\*Next:\*\*|`layers\/owners\.json`|`(?:en|fr)`/g;

/** The lines of the table of a large change, without code and links. */
const table =
	/^\|(?: and \d+ more \| \| \| | layer \| change \| look at \| name |(?:---\|){3}---| {2}\| (?:added|changed|removed|wrong) \| (?:to correct|wrong service|service down|odd)? \| {1,2})\|$/gm;

/** Checks that outside of code a comment has only its own words and markup. */
function checkSafe(markdown: string): void {
	assert.ok(markdown.startsWith(marker));
	assert.ok(markdown.length <= maxCommentLength);
	const outside = outsideCode(markdown.slice(marker.length));
	assert.not.match(
		outside.replace(markup, "").replace(link, "").replace(table, ""),
		/[<>@`[\]|~$\\]|https?:|::|evil|pwned|GH-1/,
	);
	for (const tag of ["details", "summary"])
		assert.is(outside.split(`<${tag}>`).length, outside.split(`</${tag}>`).length);
	assert.not.match(markdown.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
}

/** Runs the command as the workflow does. */
async function reviewOf(files: Files) {
	using repository = new Repository({ "layers/owners.json": ownersFile });
	await using folder = await temporaryFolder();
	repository.propose(files);
	const report = join(folder.path, "report.json");
	process.chdir(repository.path);
	const args = ["--base", "main", "--head", "head", "--report", report];
	const run = runScript("review", args, { GITHUB_ACTIONS: "true", ...onGithub });
	const ended = await run.finally(() => process.chdir(root));
	return { ...ended, ...(JSON.parse(await readFile(report, "utf8")) as Report) };
}

const onGithub = {
	GITHUB_SERVER_URL: "https://github.example",
	GITHUB_REPOSITORY: "maps/layers",
	PUBLIC_URL: "https://fragments.example/base",
	HTTPS_PROXY: "http://127.0.0.1:9",
};

test("hostile names and values stay text, in the comment, in its links and in the log", async () => {
	const files: Files = {};
	for (const [index, text] of hostile.entries()) {
		const fileName = text.replaceAll("/", "∕").slice(0, 100);
		files[`layers/zz/${fileName}.json`] = wmsFile("a", nowhere);
		files[`outside/${fileName}`] = "x";
		files[`layers/ok/ok${index}.json`] = wmsFile(text, nowhere);
		files[`layers/ba/bad${index}.json`] = wmsFile("a", text, { [text]: text });
	}
	const { code, stdout, stderr, conclusion, comment } = await reviewOf(files);
	assert.is(code, 1, stderr);
	checkSafe(comment);
	const links = outsideCode(comment).matchAll(/\]\((\S+?)\)/g);
	const origins = new Set(Array.from(links, ([, to = ""]) => new URL(to).origin));
	assert.equal([...origins].sort(), ["https://fragments.example", "https://github.example"]);
	for (const line of stdout.trimEnd().split(/\r\n|[\n\r\u2028\u2029]/)) {
		assert.match(line, /^(?:error |warning |note |owners @|\d+ layers changed)/);
		assert.not.match(line, /##\[|\u202e/);
	}
	assert.is(conclusion, "failure");
});

test("a comment links files at their line and drafts, and says what comes next", async () => {
	const files = {
		"layers/aa/aaa.json": wmsFile("a", "https://maps.example/wms?map=(a)&x='c'*_b_"),
		"layers/ba/bad.json": wmsFile("a", "https://someone:secret@maps.example/"),
	};
	const { comment } = await reviewOf(files);
	checkSafe(comment);
	assert.match(comment, /^\*\*Next:\*\* correct what is listed here on the same branch/m);
	assert.match(
		comment,
		/\]\(https:\/\/github\.example\/maps\/layers\/blob\/[0-9a-f]{40}\/layers\/ba\/bad\.json#L5\) line 5: /,
	);
	assert.not.match(comment, /\]\([^)]*secret/);
	const drafts = comment.matchAll(/\(https:\/\/fragments\.example\/base\/\?page=draft(#[^)]+)\)/g);
	const expected = [{ smallkey: "aaa", text: files["layers/aa/aaa.json"] }];
	assert.equal(
		Array.from(drafts, ([, hash = ""]) => readDraft(hash)),
		expected,
		"none with a secret",
	);
});

test("a change of the owners alone is named, with who has to approve it", async () => {
	const { stdout, comment } = await reviewOf({ "layers/owners.json": ownersFile.replace("energy", "wind") });
	const look = "for the operators to look at\n";
	const owners = "owners @maps/operators: layers/owners.json\n0 layers changed, 0 to correct, 0 warnings\n";
	assert.is(stdout, `note layers/owners.json: is no file of a layer, ${look}${owners}`);
	assert.match(comment, "### No layer changes\n\n**Next:** an owner");
	assert.match(comment, `#### Files outside the layers, ${look}\n- <code>layers&#47;owners&#46;json`);
});

test("a comment with every list at its longest is whole, and counts what has no room", () => {
	const located = Array.from({ length: 500 }, (_, line) => {
		return { file: `layers/${"@".repeat(300)}`, line, text: `/en: ${"😀".repeat(300)}` };
	});
	const paths = located.map(({ file }) => file);
	const lines = Array(80).fill(`+${"x".repeat(290)}`);
	const fragments = [{ lang: "en" as const, target: "v0.9", alike: [], lines, hidden: 3 }];
	const layer = { smallkey: "abc", verb: "added", state: "", name: "", services: [], draft: null, fragments };
	const kind = (title: string) => located.map((place) => ({ level: "error", title, ...place }));
	const commentOn = (layers: number) =>
		renderComment({
			obstacle: null,
			unasked: 500,
			outside: paths,
			remarks: ["a", "b", "c", "d"].flatMap(kind) as Remark[],
			layers: Array(layers).fill(layer),
			approvals: located.map(({ file }) => ({ owners: ["@maps/operators"], paths: [file] })),
		});
	const [comment, large] = [20, 2_000].map(commentOn) as [string, string];
	for (const text of [comment, large]) checkSafe(text);
	assert.match(large, /^\| and \d+ more \|/m);
	assert.match(comment, /- and \d+ more\n/);
	assert.match(comment, /The fragments of \d+ more layers are not shown here: there is no room\.\n$/);
});

test.run();
