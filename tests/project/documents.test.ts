import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { Variables } from "../../api/configuration.ts";
import { readPaths } from "../../api/read-request.ts";
import { settingNames } from "../../api/service/settings.ts";
import { extensions } from "../../extensions/index.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { allExtensions, commandsOf } from "../../scripts/main.ts";
import { snippetsOf } from "../../site/data/snippets.ts";
import { test } from "../helpers/suite.ts";

const commands = commandsOf(allExtensions).map(([name]) => name);
const isCommand = (name: string) => commands.includes(name);

const read = (name: string) => readFileSync(name, "utf8");
const readAll = (...patterns: string[]) => glob.sync(patterns).map(read).join("\n");
const names = glob.sync(["*.md", "docs/**/*.md"]).sort();
const pages = new Map(names.map((name) => [name, read(name)]));
const current = [...pages].filter(([name]) => name !== "CHANGELOG.md");

/** Fails unless what the first group of a form finds in the pages is there. */
function assertThere(form: RegExp, isThere: (name: string, page: string) => boolean): void {
	const uses = current.flatMap(([page, text]) =>
		[...text.matchAll(form)].map(([, name = ""]) => ({ page, name })),
	);
	assert.ok(uses.length > 3, `${uses.length} of ${form}`);
	assert.equal(
		uses.filter(({ name, page }) => !isThere(name, page)),
		[],
	);
}

const anchorOf = (heading: string) =>
	heading
		.toLowerCase()
		.replace(/[^\p{L}\p{N} _-]/gu, "")
		.replaceAll(" ", "-");

test("every link leads to a page, and to a heading of it", () => {
	assertThere(/\]\(((?!\w+:)[^)\s]+)\)/g, (link, page) => {
		const [path = "", anchor] = link.split("#");
		const target = path === "" ? page : join(dirname(page), path);
		const headings = (pages.get(target) ?? "").matchAll(/^#+ (.+)$/gm);
		const anchors = [...headings].map(([, text = ""]) => anchorOf(text));
		return existsSync(target) && (anchor === undefined || anchors.includes(anchor));
	});
});

test("every file and folder of the project that a page names is there", () => {
	const form =
		/`((?:registry|store|publish|api|site|scripts|extensions|deploy|tests|docs|\.github)\/[\w./-]+)`/g;
	assertThere(form, existsSync);
});

test("every command and script that a page names is there", () => {
	const { scripts } = JSON.parse(read("package.json"));
	assertThere(/(?:npx\s+fragment-publisher|scripts\/fragments\.cjs)\s+([a-z][\w-]*)/g, isCommand);
	assertThere(/npm\s+run\s+([\w:-]+)/g, (name) => name in scripts);
	const groups = /const groups = \[(.*)\]/.exec(read("tests/run/run.mjs"))?.[1] ?? "";
	assertThere(/npm\s+run\s+test:all -- (\w+)/g, (name) => groups.includes(`"${name}"`));
});

test("every setting that a page sets is one, or a variable of a script or workflow", () => {
	const settings = settingNames(allExtensions.flatMap(({ settings }) => settings ?? []));
	const code = readAll("{scripts,extensions}/**/*.ts", ".github/workflows/*.yml");
	for (const [, name = ""] of code.matchAll(/\b([A-Z][A-Z_]{3,})\b/g)) settings.add(name);
	assertThere(/`([A-Z][A-Z0-9_]+)=/g, (name) => settings.has(name) || /^NODE_|^NAME$/.test(name));
});

test("the page of readers has each address and setting, and its example works", async () => {
	const page = pages.get("docs/reading.md") ?? "";
	for (const { prefix, kind } of readPaths(targetNames)) {
		const path = kind === "query" ? `${prefix}?lang=<lang>&id=<key>,<key>` : `${prefix}<lang>/<key>`;
		assert.ok(page.includes(`\`${path}`), path);
	}
	const layer = { smallkey: "23ax5t", type: "wms", title: { en: "", fr: "" } };
	const snippets = snippetsOf(layer, "en", "https://fragments.example/", targetNames);
	for (const [viewer, ...parts] of [
		["RAMP 4.0", "RAMP.configServiceURL", "https://fragments.example/v0.9/", "?keys=23ax5t"],
		["FGPV", 'rv-service-endpoint="https://fragments.example/"', `rv-keys='["23ax5t"`],
		["GeoView", "geoCore", '"geocoreUrl": "https://fragments.example"'],
		["Terria", "terria-reference", "rcs.23ax5t.en"],
	] as const) {
		const snippet = snippets.find(({ name }) => name === viewer)?.text ?? "";
		for (const part of parts)
			for (const text of [snippet, page]) assert.ok(text.includes(part), `${viewer}: ${part}`);
	}
	const example = /^```js\n(.*?)^```$/ms.exec(page)?.[1];
	const config = { configs: { en: { layers: [] as { id: string }[] } } };
	const run = new Function("fetch", "config", `return (async () => { ${example} })()`);
	for (const body of [{ id: "a" }, [{ id: "b" }, { id: "c" }]])
		await run(async () => Response.json(body), config);
	assert.equal(
		config.configs.en.layers.map(({ id }) => id),
		["a", "b", "c"],
	);
});

test("the reading list of README is at most 20 files and 3,000 lines", () => {
	const list = pages.get("README.md")?.split("**The core in an hour**")[1] ?? "";
	const files = [...list.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, name = ""]) => name);
	assert.ok(files.length > 10 && files.length <= 20, String(files.length));
	const lines = files.map(read).join("").split("\n").length;
	assert.ok(lines <= 3_000, String(lines));
});

test("the README of each extension names its settings, its commands and its pages", () => {
	for (const { name, settings, commands = [] } of extensions) {
		const text = read(join("extensions", name, "README.md"));
		const variables = new Variables({});
		settings?.(variables);
		const names = [...variables.names, ...commands.map(([name]) => name)];
		assert.equal(
			names.filter((word) => !text.includes(`\`${word}\``)),
			[],
			name,
		);
		for (const [page] of text.matchAll(/docs\/[\w-]+\.md/g)) assert.ok(pages.has(page), `${name}: ${page}`);
	}
});

test.run();
