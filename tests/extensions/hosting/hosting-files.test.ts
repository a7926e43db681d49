import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { fragmentHeaders } from "../../../api/reply.ts";
import { isCompanion } from "../../../publish/place-file.ts";
import { targets } from "../../../registry/targets/table.ts";
import { pageHeaders } from "../../../site/http/pages.ts";
import { exits, runScript } from "../../helpers/process.ts";
import { filesIn, folderSuite } from "../../helpers/world.ts";

const test = folderSuite("hosting files");

/** Of `_headers`: a path with `*`, and its headers. */
function readRule(text: string) {
	const [path = "", ...lines] = text.split("\n");
	const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
	const headers = Object.fromEntries(lines.map((line) => /^ *(.*?): (.*)$/.exec(line)?.slice(1) ?? []));
	return { matches: (address: string) => pattern.test(address), headers };
}

test("every file of a build has the service's headers, and both compressed copies", async ({ folder }) => {
	const dist = join(folder, "dist");
	const words = ["--layers", "tests/fixtures/layers", "--out", dist, "--compress"];
	await exits(runScript("build", words), 0);
	const rules = (await readFile(join(dist, "_headers"), "utf8")).trim().split("\n\n").map(readRule);
	const paths = [...filesIn(dist).keys()];
	const pages = paths.filter((path) =>
		/^(?:index\/|changes\/|schemas\/|assets\/|en\/|fr\/|list\/|index\.html$|site\.json$)/.test(path),
	);
	assert.ok(pages.length > 30, pages.join());
	for (const path of pages.filter((path) => !isCompanion(path))) {
		const [rule, ...others] = rules.filter(({ matches }) => matches(`/${path}`));
		const { "Content-Type": _, ...expected } = pageHeaders(path);
		assert.equal([rule?.headers, others], [expected, []], path);
		assert.ok(paths.includes(`${path}.gz`) && paths.includes(`${path}.br`), path);
	}
	const path = join(dist, "v0.9/doc/en/toporama");
	const plain = await readFile(path);
	assert.equal(
		[gunzipSync(await readFile(`${path}.gz`)), brotliDecompressSync(await readFile(`${path}.br`))],
		[plain, plain],
	);
	const [fragments] = rules.filter(({ matches }) => matches("/v0.9/doc/en/toporama"));
	assert.equal(fragments?.headers, fragmentHeaders);
	await exits(runScript("build", words, { SITE: "off" }), 0);
	const names = (await readdir(dist)).filter((name) => !name.startsWith("."));
	const folders = targets.map(({ doc }) => doc.split("/")[0]);
	assert.equal(names.sort(), ["_headers", ...folders].sort());
});

test.run();
