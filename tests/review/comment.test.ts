import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { unpackDraft } from "../../registry/draft.ts";
import type { Registration } from "../../registry/registration.ts";
import { marker, maxCommentLength, renderComment } from "../../review/comment.ts";
import { fragmentChanges } from "../../review/fragments.ts";
import { parseReport, remarkLine, viewerLines } from "../../review/report.ts";
import type { Review } from "../../review/review.ts";
import { plainSettings } from "../catalogue/pages.ts";
import { exits, runScript, warns } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { type Files, Repository, temporaryFolder } from "../helpers/world.ts";
import { nowhere, ownersFile, wmsFile } from "./repository.ts";

/** Texts that would do something if they were not made safe. */
const hostile = [
	"</code></details><script>alert(1)</script>",
	"<!-- fragment-publisher: review -->",
	"-->",
	"```\n# out of the fence\n@maps/everybody",
	"`````````",
	"@maps/operators please approve",
	"[click](https://evil.example) https://evil.example ![x](https://evil.example/x.png)",
	"line\n::set-output name=x::y\n::stop-commands::z",
	"\n::error file=x::y",
	"##[add-mask]a ##[set-env name=A]b",
	"\r\n\u2028::warning::x",
	"\u202etxt.exe\u202c \u200b \u0007 \u001b[31m",
	// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what an attacker would write
	"$(touch /tmp/pwned) `touch /tmp/pwned` ; rm -rf / ${{ github.token }}",
	"| a | b |\n|---|---|",
	"#1 GH-1 maps/layers#1 :tada: ~~x~~ **b** &lt;",
];

/** The Markdown outside of code: fenced blocks and code elements taken out, as CommonMark reads them. */
function outsideCode(markdown: string): string {
	let fence: string | null = null;
	const lines = markdown.split("\n").filter((line) => {
		const run = /^ {0,3}(`{3,})(.*)$/.exec(line);
		if (fence === null && run) {
			fence = run[1] as string;
			return false;
		}
		if (fence !== null && run && (run[1] as string).length >= fence.length && run[2]?.trim() === "") {
			fence = null;
			return false;
		}
		return fence === null;
	});
	assert.is(fence, null, "a fence is left open");
	return lines.join("\n").replace(/<code>[A-Za-z0-9 &#;]*<\/code>/g, "");
}

/** A link of our own: none of its characters means anything to Markdown. */
const link =
	/\[(?:on the map, as a draft|its service, (?:en|fr))?\]\(https?:\/\/[A-Za-z0-9./:?#=&%+,;_-]+\)/g;

/** What the comment itself may say outside of code: its own words, and its own markup. */
function checkSafe(markdown: string): void {
	const outside = outsideCode(markdown);
	assert.ok(outside.startsWith(marker));
	const own = outside
		.slice(marker.length)
		.replaceAll("<details><summary>", "")
		.replaceAll("</summary>", "")
		.replaceAll("</details>", "")
		.replaceAll("**Next:**", "")
		.replaceAll(link, "")
		.replaceAll("`layers/owners.json`", "")
		.replaceAll(/`(?:en|fr)`/g, "");
	assert.not.match(own, /[<>@`[\]|~$\\]|https?:|::|\u202e|evil|pwned|GH-1/);
	for (const tag of ["details", "summary"]) {
		assert.is(outside.split(`<${tag}>`).length, outside.split(`</${tag}>`).length);
	}
	assert.not.match(markdown.replaceAll("\n", ""), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
}

/** A change whose names, values and owners are hostile. */
function hostileFiles(): Files {
	const files: Files = {};
	for (const [index, text] of hostile.entries()) {
		const fileName = text.replaceAll("/", "∕").slice(0, 100);
		files[`layers/zz/${fileName}.json`] = wmsFile("a", nowhere);
		files[`outside/${fileName}`] = "x";
		files[`layers/ok/ok${index}.json`] = wmsFile(text, nowhere);
		files[`layers/ba/bad${index}.json`] = wmsFile("a", text, { [text]: text });
	}
	return files;
}

async function reviewInProcess(files: Files, env: Record<string, string> = {}, base?: Files) {
	using repository = new Repository(base ?? { "layers/owners.json": ownersFile });
	await using folder = await temporaryFolder();
	repository.propose(files);
	const out = join(folder.path, "comment.md");
	const reportFile = join(folder.path, "report.json");
	const args = ["--base", "main", "--head", "head", "--repo", repository.path, "--out", out];
	const ended = await runScript("review", [...args, "--report", reportFile], env);
	const read = (path: string) => readFile(path, "utf8").catch(() => "");
	return { ...ended, comment: await read(out), report: await read(reportFile) };
}

test("hostile names and texts stay text, in the comment, in the log and in the annotations", async () => {
	const env = { GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: "maps/layers" };
	const { code, stdout, stderr, comment, report } = await reviewInProcess(hostileFiles(), env);
	assert.is(code, 1, stderr);
	checkSafe(comment);
	const lines = stdout.trimEnd().split(/\r\n|[\n\r\u2028\u2029]/);
	const approvals = lines.filter((line) => /^approval of @maps\/\w+ for \d+ files?$/.test(line));
	assert.equal(approvals.length, 2);
	for (const line of lines) {
		assert.match(line, /^(?:error |warning |approval of |\d+ layers changed)/);
		assert.not.match(line, /##\[|\u202e/);
	}
	assert.match(lines.at(-1) as string, /^\d+ layers changed, \d+ to correct/);
	// What the job that may write reads.
	const { conclusion, annotations, comment: reported } = parseReport(report);
	assert.equal([conclusion, reported, annotations.length], ["failure", comment, 50]);
});

test("a line of the log is no command of the runner's", () => {
	const problem = { file: "layers/a,b:c%\n.json", line: 3, text: "/en/x: 100%\r\n::y" };
	assert.is(
		remarkLine({ level: "error", ...problem, file: "::a\nb##[x]" }),
		"error ::a\\u000ab## [x]:3: /en/x: 100%\\u000d\\u000a::y",
	);
});

const onGithub = {
	GITHUB_ACTIONS: "true",
	GITHUB_SERVER_URL: "https://github.example",
	GITHUB_REPOSITORY: "maps/layers",
	PUBLIC_URL: "https://fragments.example/base",
};

test("hostile names stay text where files, owners and drafts are linked, too", async () => {
	const { comment } = await reviewInProcess(hostileFiles(), onGithub);
	checkSafe(comment);
	const targets = Array.from(
		outsideCode(comment).matchAll(/\]\((\S+?)\)/g),
		([, address = ""]) => new URL(address).origin,
	);
	assert.equal([...new Set(targets)].sort(), [
		"http://127.0.0.1:9",
		"https://fragments.example",
		"https://github.example",
	]);
});

test("a comment links files at their line, drafts, services and owners, and says what comes next", async () => {
	const files = {
		"layers/aa/aaa.json": wmsFile("a", "https://maps.example/wms?map=(a)&x='c'*_b_"),
		"layers/ba/bad.json": wmsFile("a", "https://someone:secret@maps.example/"),
	};
	const wrong = await reviewInProcess(files, { ...onGithub, HTTPS_PROXY: "http://127.0.0.1:9" });
	checkSafe(wrong.comment);
	assert.match(wrong.comment, /^\*\*Next:\*\* correct what is listed here on the same branch/m);
	assert.match(
		wrong.comment,
		/\]\(https:\/\/github\.example\/maps\/layers\/blob\/[0-9a-f]{40}\/layers\/ba\/bad\.json#L5\) line 5: /,
	);
	assert.match(wrong.comment, "](https://github.example/orgs/maps/teams/reviewers)");
	const [, address = ""] = /\[its service, en\]\((\S+)\)/.exec(wrong.comment) ?? [];
	assert.is(address, "https://maps.example/wms?map=%28a%29&x=%27c%27%2A_b_");
	assert.not.match(wrong.comment, /\]\([^)]*secret/);
	// Both layers can be tried on the map, the wrong one, too, and what is tried is the pull request's text.
	const drafts = [
		...wrong.comment.matchAll(/\((https:\/\/fragments\.example\/base\/\?page=draft)#draft=([^)]+)\)/g),
	];
	const tried = await Promise.all(drafts.map(([, , packed = ""]) => unpackDraft(packed)));
	assert.equal(tried, [
		{ smallkey: "bad", text: files["layers/ba/bad.json"] },
		{ smallkey: "aaa", text: files["layers/aa/aaa.json"] },
	]);
	// Their server cannot be reached, which blocks nothing.
	const good = await reviewInProcess(
		{ "layers/aa/aaa.json": wmsFile("a") },
		{ ...onGithub, HTTPS_PROXY: "http://127.0.0.1:9" },
	);
	assert.match(good.comment, /^\*\*Next:\*\* an owner of each group below approves/m);
	const quiet = await reviewInProcess({ "layers/aa/aaa.json": wmsFile("a", nowhere) });
	assert.not.match(quiet.comment, /page=draft|blob\//);
});

test("three thousand changed layers give one comment that is whole, and counts the rest", async () => {
	const address = nowhere.padEnd(300, "x");
	const base: Files = { "layers/owners.json": ownersFile };
	const files: Files = {};
	for (let index = 0; index < 3_000; index += 1) {
		const key = `k${String(index).padStart(5, "0")}`;
		const path = `layers/${key.slice(0, 2)}/${key}.json`;
		base[path] = wmsFile("a", address);
		files[path] = index % 10 === 0 ? "{}" : wmsFile("a", address, { service_name: key });
	}
	const { code, comment } = await reviewInProcess(files, { GITHUB_ACTIONS: "true" }, base);
	assert.is(code, 1);
	assert.ok(comment.length <= maxCommentLength, String(comment.length));
	checkSafe(comment);
	assert.match(comment, /3000 layers: 2700 changed, 300 wrong\./);
	assert.match(comment, /- and \d+ more\n/);
	const shown = comment.split("<details>").length - 1;
	assert.ok(shown > 10, String(shown));
	const closing = `The fragments of ${2700 - shown} more layers are not shown here: there is no room.\n`;
	assert.ok(comment.endsWith(closing), comment.slice(-200));
});

test("three thousand files with hostile names are counted, and no name is shown", async () => {
	const files: Files = {};
	for (let index = 0; index < 3_000; index += 1) {
		const text = (hostile[index % hostile.length] as string).replaceAll("/", "∕").slice(0, 80);
		files[index % 2 === 0 ? `layers/zz/${index}${text}` : `${index}${text}`] = "x";
	}
	const { code, stdout, comment } = await reviewInProcess(files, { GITHUB_ACTIONS: "true" });
	assert.is(code, 1);
	assert.ok(comment.length <= maxCommentLength, String(comment.length));
	checkSafe(comment);
	assert.match(comment, "### 1500 things to correct in this change");
	assert.is(comment.match(/^- and \d+ more$/gm)?.length, 2, "of the layers' files, and of the others");
	for (const line of stdout.trimEnd().split(/\r\n|[\n\r\u2028\u2029]/))
		assert.ok(!/^::(?!(?:error|warning) )|##\[|[^\P{C}]/u.test(line), JSON.stringify(line));
});

test("a value of 10 MB is shown by its size in every place", async () => {
	const megabytes = 10 * 1024 * 1024;
	const long = `{"name": "${"x".repeat(megabytes)}"}`;
	const files: Files = {
		"layers/bi/big.json": long,
		"layers/de/deep.json": "[".repeat(megabytes),
		"layers/pa/padded.json": wmsFile("a", nowhere).padEnd(megabytes),
		"layers/de/described.json": wmsFile("a", nowhere),
		"layers/de/described.service.json": long,
		"layers/owners.json": long,
		"outside.json": long,
		"layers/go/good.json": wmsFile("a", nowhere),
	};
	const { code, stdout, comment } = await reviewInProcess(files);
	assert.is(code, 1);
	checkSafe(comment);
	assert.ok(comment.length < 20_000, String(comment.length));
	assert.ok(stdout.length < 20_000, String(stdout.length));
	for (const name of ["bi/big", "de/deep", "pa/padded"])
		assert.match(stdout, `error layers/${name}.json:1: must have at most 65536 bytes`);
	assert.match(stdout, "error layers/de/described.service.json:1: must have at most 4194304 bytes");
	assert.match(stdout, /error layers\/owners\.json:1: must have at most 1048576 bytes\n/);
	assert.match(comment, "<code>good</code> added");
	assert.not.match(comment, "xxxxxxxxxx");
});

const empty: Review = {
	obstacle: null,
	problems: [],
	warnings: [],
	services: { wrong: [], down: [], unasked: [] },
	layers: [],
	approvals: [],
	outside: [],
};

test("80 lines of a long difference are shown, and the others are counted", () => {
	const names = Array.from({ length: 40 }, (_, number) => `layer${number}`);
	const node = { service_type: "ogcWms", service_url: nowhere, scrape_only: names };
	const registration = { version: "2.0", en: node, fr: node } as Registration;
	const after = { smallkey: "abc", registration, description: null };
	const [change] = fragmentChanges({ smallkey: "abc", before: null, after }, plainSettings);
	assert.ok(change);
	assert.is(change.lines.length, 80);
	assert.ok(change.hidden > 0);
	const shown = viewerLines([change, { lang: "fr", lines: [], hidden: 0 }]);
	assert.is(shown[0], "  viewers in en read:");
	const expected = change.lines.map((line) => `    ${line}`);
	assert.equal(shown.slice(1, -1), expected);
	assert.is(shown.at(-1), `    … ${change.hidden} more lines`);
});

test("a comment with every list at its longest stays within GitHub's limit", () => {
	const located = Array.from({ length: 500 }, (_, index) => {
		return { file: `layers/${"@".repeat(300)}`, line: index, text: `/en: ${"😀".repeat(300)}` };
	});
	const paths = located.map(({ file }) => file);
	const comment = renderComment({
		obstacle: null,
		problems: located,
		warnings: located,
		services: { wrong: located, down: located, unasked: paths },
		layers: [
			{ smallkey: "abc", verb: "wrong", before: null, after: null, text: "", fragments: [], draft: null },
		],
		approvals: located.map(({ file }) => ({ owners: ["@maps/operators"], paths: [file] })),
		outside: paths,
	});
	assert.ok(comment.length <= maxCommentLength);
	checkSafe(comment);
	for (const title of [
		"To correct",
		"this change is wrong",
		"server is down",
		"Who has to approve",
		"outside",
	]) {
		assert.match(comment, title);
	}
	assert.not.match(comment, "had no room");
});

test("a change without layers says so, and names who looks at the rest", () => {
	const approvals = [{ owners: ["@maps/operators"], paths: ["README.md"] }];
	const comment = renderComment({ ...empty, approvals, outside: ["README.md"] });
	checkSafe(comment);
	assert.match(comment, "### No layer changes");
	assert.match(comment, /&#64;maps&#47;operators<\/code>, for <code>README&#46;md/);
});

test("a comment says where the base has no owners", () => {
	assert.match(renderComment({ ...empty, approvals: null }), "no usable `layers/owners.json`");
});

test("the command names its missing options", async () => {
	await warns(runScript("review", []), 2, "--base: is needed; --help lists the options");
	const nowhere = await exits(runScript("review", ["--base", "nowhere\n::error::x"]), 2);
	assert.match(nowhere.stderr, /^.*has no commit nowhere\\u000a::error::x$/m);
});

test.run();
