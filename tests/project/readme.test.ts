import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { settingNames } from "../../service/settings.ts";
import { isCommand } from "../../system/terminal/commands.ts";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { gitIn } from "../helpers/world.ts";

const readme = await readFile(join(root, "README.md"), "utf8");

test("the README fits one screen", () => {
	assert.ok(readme.split("\n").length <= 50);
});

test("the two commands stand on the first screen", () => {
	const screen = readme.split("\n").slice(0, 25).join("\n");
	assert.match(screen, "npm ci && npm start");
	assert.match(screen, "npm ci && npm test");
});

test("every command that the documents name exists", async () => {
	const { scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
		scripts: Record<string, string>;
	};
	let count = 0;
	// The changes name commands that were there before.
	for (const page of await glob(["*.md", "docs/**/*.md"], { cwd: root, ignore: ["CHANGELOG.md"] })) {
		const text = await readFile(join(root, page), "utf8");
		for (const [, name = ""] of text.matchAll(/npm\s+run\s+([\w:-]+)/g)) assert.ok(scripts[name], name);
		for (const [, name = ""] of text.matchAll(
			/(?:npx\s+fragment-publisher|scripts\/fragments\.cjs)\s+([a-z][\w-]*)/g,
		)) {
			assert.ok(isCommand(name), `${page}: ${name}`);
			count += 1;
		}
		assert.not.match(text, /npx\s+fragments\s/, page);
	}
	assert.ok(count > 100, String(count));
});

test("the settings' page has every setting, and no other", async () => {
	const settings = await readFile(join(root, "docs/settings.md"), "utf8");
	const heads = [...settings.matchAll(/^- (`[A-Z].*?):/gm)].map(([, head = ""]) => head);
	const listed = heads.flatMap((head) => [...head.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name));
	const known = settingNames();
	for (const name of known) assert.match(settings, `\`${name}\``);
	assert.equal(
		listed.filter((name) => !known.has(name as string)),
		[],
	);
	assert.ok(listed.length > 30, String(listed.length));
});

test("every file and folder that a page names is there", async () => {
	const rooms = (await readdir(root, { withFileTypes: true })).filter((one) => one.isDirectory());
	// Builds and data are made later, and layers are examples.
	const names = rooms
		.map(({ name }) => name)
		.filter((name) => !/^(?:dist|layers|node_modules|\.data)$/.test(name));
	const path = new RegExp(
		`(?<=[\`( ])(?:${names.join("|").replaceAll(".", "\\.")})/[\\w./-]*(?=[\`) \\n#,;:])`,
		"g",
	);
	const pages = await glob(["*.md", "docs/**/*.md"], { cwd: root, ignore: ["CHANGELOG.md"] });
	const lost: string[] = [];
	const named = new Map<string, number>();
	for (const page of pages) {
		const found = (await readFile(join(root, page), "utf8")).match(path) ?? [];
		named.set(page, found.length);
		lost.push(...found.filter((one) => !existsSync(join(root, one))).map((one) => `${page}: ${one}`));
	}
	assert.equal(lost, []);
	for (const page of ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
		assert.ok((named.get(page) ?? 0) > 4, page);
	assert.ok([...named.values()].filter((count) => count > 0).length > 12);
});

test("the commits that the documents name are in the history, of the day that is named", async () => {
	const git = gitIn(root);
	if ((await git("rev-parse", "--is-shallow-repository")) === "true")
		return console.log("skipped: the commits that the documents name: this clone has no history");
	const placeholder = /^0123456789ab/;
	let count = 0;
	for (const page of await glob(["*.md", "docs/**/*.md"], { cwd: root })) {
		const text = await readFile(join(root, page), "utf8");
		// Digits and letters: a number, or a part of a longer id, is no commit.
		const named =
			/(?<![\w-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{7,40})(?![\w-])`?(?: of (\d{4}-\d\d-\d\d))?/g;
		for (const [, commit = "", day] of text.matchAll(named)) {
			if (placeholder.test(commit)) continue;
			const date = await git("show", "--no-patch", "--format=%ad", "--date=short", `${commit}^{commit}`);
			assert.is(day ?? date, date, `${page}: ${commit}`);
			count += 1;
		}
	}
	assert.ok(count > 6, String(count));
});

test.run();
