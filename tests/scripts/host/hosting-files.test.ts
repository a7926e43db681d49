import { execFileSync } from "node:child_process";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import * as assert from "uvu/assert";
import { pageHeaders } from "../../../api/site-headers.ts";
import { isCompanion } from "../../../publish/place-file.mjs";
import { targets } from "../../../registry/targets/table.ts";
import { layers, plainKeys, wms } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, runScript } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("hosting files");

/** Every file of a folder with its bytes and its time of change. */
async function snapshot(dist: string): Promise<Map<string, { bytes: Buffer; time: number }>> {
	const files = new Map<string, { bytes: Buffer; time: number }>();
	for (const name of await readdir(dist, { recursive: true })) {
		const { mtimeMs, isFile } = await stat(join(dist, name)).then((found) => ({
			mtimeMs: found.mtimeMs,
			isFile: found.isFile(),
		}));
		if (isFile) files.set(name, { bytes: await readFile(join(dist, name)), time: mtimeMs });
	}
	return files;
}

/** The paths that `_headers` has rules for. */
async function readHeaders(dist: string): Promise<string[]> {
	const text = await readFile(join(dist, "_headers"), "utf8");
	return text.split("\n").filter((line) => line.startsWith("/"));
}

test("npx fragment-publisher build writes Cloudflare's headers, and nothing twice", async ({ folder }) => {
	const words = ["--layers", "tests/fixtures/layers", "--out", join(folder, "dist")];
	await exits(runScript("build", words, { SITE: "off" }), 0);
	const before = await snapshot(join(folder, "dist"));
	const rules = (await readHeaders(join(folder, "dist"))).map(
		(path) => `${path}
  Content-Type: application/json; charset=utf-8
  Access-Control-Allow-Origin: *
  Access-Control-Expose-Headers: ETag, Date
  Cache-Control: public, max-age=60, stale-while-revalidate=60, stale-if-error=86400
  X-Content-Type-Options: nosniff
`,
	);
	assert.is(before.get("_headers")?.bytes.toString(), rules.join("\n"));
	const expected = targets.map(({ doc }) => `/${doc}/*`);
	assert.equal(await readHeaders(join(folder, "dist")), expected);
	await exits(runScript("build", words, { TARGETS: "v2", SITE: "off" }), 0);
	assert.equal(await readHeaders(join(folder, "dist")), ["/v2/doc/*"]);
	await exits(runScript("build", words), 0);
	assert.not.ok([...before.keys()].some((name) => name.endsWith(".gz") || name.endsWith(".br")));
	const settled = await snapshot(join(folder, "dist"));
	await exits(runScript("build", words), 0);
	assert.equal(await snapshot(join(folder, "dist")), settled);
});

test("the catalogue's files have the headers that the service gives them", async ({ folder }) => {
	const dist = join(folder, "dist");
	await exits(runScript("build", ["--layers", "tests/fixtures/layers", "--out", dist, "--compress"]), 0);
	const rules = (await readFile(join(dist, "_headers"), "utf8")).trim().split("\n\n").map(readRule);
	const files = [...(await snapshot(dist)).keys()];
	const pages = files.filter((path) =>
		/^(?:index\/|changes\/|schemas\/|assets\/|en\/|fr\/|list\/|index\.html$|site\.json$)/.test(path),
	);
	assert.ok(pages.length > 30, pages.join());
	for (const path of pages.filter((one) => !isCompanion(one))) {
		const address = `/${path}`;
		const [rule, ...others] = rules.filter(({ matches }) => matches(address));
		assert.equal(others, [], address);
		const { "Content-Type": _, ...expected } = pageHeaders(path, true);
		assert.equal(rule?.headers, expected, address);
		assert.ok(files.includes(`${path}.gz`) && files.includes(`${path}.br`), path);
	}
	const [toggle, next] = [{ SITE: "off" }, await readdir(join(dist, "v0.9/doc/en"))];
	await exits(
		runScript("build", ["--layers", "tests/fixtures/layers", "--out", dist, "--compress"], toggle),
		0,
	);
	assert.equal(await readdir(join(dist, "v0.9/doc/en")), next);
	const folders = targets.map(({ doc }) => doc.split("/")[0]);
	const found = (await readdir(dist)).filter((name) => !name.startsWith(".")).sort();
	assert.equal(found, ["_headers", ...folders].sort());
});

/** A rule of `_headers`: a path in which `*` stands for anything. */
function readRule(text: string) {
	const [path = "", ...lines] = text.split("\n");
	const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
	const headers = Object.fromEntries(
		lines.map((line) =>
			line
				.trim()
				.split(/: (.*)/)
				.slice(0, 2),
		),
	);
	return { matches: (address: string) => pattern.test(address), headers };
}

test("--compress puts both copies beside each fragment, as others read them", async ({ folder }) => {
	const words = ["--layers", "tests/fixtures/layers", "--out", join(folder, "dist"), "--compress"];
	await exits(runScript("build", words, { SITE: "off" }), 0);
	for (const lang of ["en", "fr"]) {
		const path = join(folder, "dist/v0.9/doc", lang, "toporama");
		const plain = await readFile(path);
		assert.equal(execFileSync("gzip", ["-dc", `${path}.gz`]), plain);
		assert.equal(brotliDecompressSync(await readFile(`${path}.br`)), plain);
	}
});

test("compressed copies change with their fragment alone, and are removed with it", async ({ folder }) => {
	const dist = await buildDist(layers, folder, true);
	const before = await snapshot(dist);
	await buildDist(layers, folder, true);
	assert.equal(await snapshot(dist), before, "nothing changed, nothing is written");

	const next = new Map(layers).set("23ax5t", wms("other"));
	next.delete("a+b=c");
	await rm(join(folder, "layers"), { recursive: true });
	await buildDist(next, folder, true);
	const after = await snapshot(dist);
	assert.not.ok([...after.keys()].some((name) => name.includes("a+b=c")));
	for (const [name, { bytes, time }] of after) {
		if (name.includes("23ax5t")) assert.not.equal(bytes, before.get(name)?.bytes, name);
		else assert.is(time, before.get(name)?.time, name);
	}
	const plain = after.get("v0.9/doc/en/23ax5t")?.bytes;
	assert.equal(brotliDecompressSync(after.get("v0.9/doc/en/23ax5t.br")?.bytes ?? Buffer.alloc(0)), plain);
});

test("a build without --compress removes older copies, which would still be served", async ({ folder }) => {
	const dist = await buildDist(layers, folder, true);
	assert.ok((await readdir(join(dist, "v0.9/doc/en"))).includes("23ax5t.gz"));
	await buildDist(layers, folder, false);
	assert.equal((await readdir(join(dist, "v0.9/doc/en"))).sort(), [...plainKeys].sort());
});

test.run();
