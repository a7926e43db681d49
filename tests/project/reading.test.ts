import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { readPaths } from "../../api/wanted.ts";
import { snippetsOf } from "../../registry/snippets.ts";
import { targetNames, targets } from "../../registry/targets/table.ts";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

const page = await readFile(join(root, "docs/reading.md"), "utf8");

/** The code block of a section. */
function blockOf(heading: string): string {
	const section = page.split(`### ${heading}\n`)[1]?.split(/^##/m)[0] ?? "";
	return /^```\w+\n(.*?)^```$/ms.exec(section)?.[1] ?? "";
}

test("the table of addresses has every path at which layers are read", () => {
	const table = page.split("## Addresses")[1]?.split("\n## ")[0] ?? "";
	for (const { prefix, kind } of readPaths(targetNames)) {
		const path = kind === "query" ? `${prefix}?lang=<lang>&id=<key>,<key>` : `${prefix}<lang>/<key>`;
		assert.ok(table.includes(`\`${path}`), path);
	}
});

test("the other tables and lists of targets have each target", async () => {
	const pageOf = (name: string) => readFile(join(root, "docs", name), "utf8");
	const french = await pageOf("fr/reading.md");
	for (const { name, doc, docs, queryDoor } of targets) {
		const row = `| \`${name}\` | \`/${doc}/<lang>/<key>\` | \`/${docs}/<lang>/<key>,<key>\` |`;
		assert.ok(page.includes(row), `docs/reading.md: ${row}`);
		const paths = [`/${doc}/<lang>/<clé>`, `/${docs}/<lang>/<clé>,<clé>`];
		if (queryDoor) paths.push(`/${queryDoor.path}?lang=<lang>&id=<clé>,<clé>`);
		for (const path of paths) assert.ok(french.includes(`\`${path}\``), `docs/fr/reading.md: ${path}`);
	}
	const list = targetNames.map((name) => `\`${name}\``).join(", ");
	for (const name of ["settings.md", "README.md", "fr/README.md"])
		assert.ok((await pageOf(name)).includes(list), `docs/${name}: ${list}`);
});

test("the copy button's configuration of GeoView is that of the page", () => {
	const layer = { smallkey: "23ax5t", type: "wms", title: { en: "", fr: "" }, address: { en: "" } };
	const configurationAt = (root: string) => {
		const found = snippetsOf(layer, "en", root, targetNames).find(({ name }) => name === "GeoView");
		return JSON.parse(found?.text ?? "null");
	};
	assert.equal(JSON.parse(blockOf("GeoView")), configurationAt("https://fragments.example/"));
	const { serviceUrls } = configurationAt("https://fragments.example/rcs/");
	assert.is(serviceUrls.geocoreUrl, "https://fragments.example/rcs");
});

test("the copy buttons of RAMP and FGPV give the settings of the page, with the layer's key", () => {
	const layer = { smallkey: "23ax5t", type: "wms", title: { en: "", fr: "" }, address: { en: "" } };
	const textOf = (wanted: string) =>
		snippetsOf(layer, "en", "https://fragments.example/", targetNames).find(({ name }) => name === wanted)
			?.text ?? "";
	assert.ok(textOf("RAMP 4.0").startsWith(blockOf("RAMP 4.0.x")));
	assert.ok(textOf("RAMP 4.0").endsWith("?keys=23ax5t"));
	assert.ok(textOf("RAMP 5").startsWith('RAMP.configServiceURL = "https://fragments.example/v1/";\n'));
	const [endpoint] = /rv-service-endpoint="[^"]+"/.exec(blockOf("FGPV")) ?? ["?"];
	assert.ok(textOf("FGPV").includes(`${endpoint} rv-keys='["23ax5t"]'`));
});

test("the snippet for RAMP4 adds the layers of one key, and those of several", async () => {
	const snippet = blockOf("RAMP4");
	assert.match(snippet, "await fetch(");
	for (const [body, ids] of [
		[{ id: "a" }, ["a"]],
		[
			[{ id: "a" }, { id: "b" }],
			["a", "b"],
		],
	] as const) {
		const layers: { id: string }[] = [];
		const config = { configs: { en: { layers } } };
		const run = new Function("fetch", "config", `return (async () => { ${snippet} })()`);
		await run(async () => Response.json(body), config);
		const found = layers.map(({ id }) => id);
		assert.equal(found, ids);
	}
});

test.run();
