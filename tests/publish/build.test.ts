import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { targetNames, targetOf, targets } from "../../registry/targets/table.ts";
import { manual, wms } from "../helpers/local.ts";
import { exits, root, runScript, warns } from "../helpers/process.ts";
import { filesIn, freshSuite, gitIn, temporaryFolder, writeFiles } from "../helpers/world.ts";

/** The fragments alone: the catalogue beside them has tests of its own. */
function buildOnly(words = ["--layers", layers, "--out", out], env: Record<string, string> = {}) {
	return runScript("build", words, { SITE: "off", ...env });
}

/** Number of files of a layer that every target can express: one for each target and language. */
const files = 2 * targets.length;

let folder: string;
let layers: string;
let out: string;

const test = freshSuite("build", async (use) => {
	folder = use(await temporaryFolder()).path;
	[layers, out] = [join(folder, "layers"), join(folder, "out")];
	await cp(join(root, "tests/fixtures/layers"), layers, { recursive: true });
});

/** Every file of a folder: path → content, and when it was last written. */
async function snapshot(folder: string): Promise<Map<string, { text: string; written: number }>> {
	const files = new Map<string, { text: string; written: number }>();
	for (const [path, text] of filesIn(folder))
		files.set(`/${path}`, { text, written: (await stat(join(folder, path))).mtimeMs });
	return files;
}

test("every layer becomes a file in each target and language", async () => {
	await exits(buildOnly(), 0);
	const files = (await readdir(layers, { recursive: true })).filter((name) =>
		/^..?\/[^.]*\.json$/.test(name),
	);
	const keys = files.map((name) => name.slice(name.indexOf("/") + 1, -5)).sort();
	assert.ok(keys.length >= 22);
	for (const { name } of targets) {
		for (const lang of ["en", "fr"]) {
			const folder = join(out, targetOf(name).doc, lang);
			assert.equal((await readdir(folder)).sort(), keys, folder);
		}
	}
	const french = JSON.parse(await readFile(join(out, "v0.9/doc/fr/nhn"), "utf8"));
	const [{ imageUrl, ...node }, ...others] = french.layers.wms;
	assert.match(imageUrl, /^data:image\/svg\+xml;base64,/);
	assert.equal(others, []);
	assert.equal(node, {
		id: "rcs.nhn.fr",
		displayName: "Réseau hydro national",
		url: "https://maps.geogratis.gc.ca/wms/hydro_network_fr",
		layerName: "nhn:nhn",
		format: "image/png",
	});
});

test("building twice gives the same bytes, and does not write them again", async () => {
	await buildOnly();
	const before = await snapshot(out);
	const again = await buildOnly();
	assert.match(again.stdout, /^0 written, \d+ unchanged, 0 removed/);
	assert.equal(await snapshot(out), before);
	const other = join(folder, "other");
	await buildOnly(["--layers", layers, "--out", other]);
	const texts = (files: Map<string, { text: string }>) =>
		Array.from(files, ([path, { text }]) => `${path} ${text}`).sort();
	assert.equal(texts(await snapshot(other)), texts(before));
});

test("only what changed is written; files of removed layers go; lost files come back", async () => {
	await buildOnly();
	const before = await snapshot(out);
	await rm(join(layers, "nh/nhn.json"));
	writeFiles(layers, { "ca/canvec.json": wms("changed") });
	await rm(join(out, "v0.9/doc/en/railway"));
	const again = await buildOnly();
	assert.match(again.stdout, new RegExp(`^${files + 1} written, \\d+ unchanged, ${files} removed`));
	writeFiles(out, { "v0.9/doc/fr/railway": "spoilt" });
	const fresh = await buildOnly(["--layers", layers, "--out", out, "--fresh"]);
	assert.match(fresh.stdout, /^1 written, \d+ unchanged, 0 removed/);
	const after = await snapshot(out);
	assert.not(after.has("/v0.9/doc/en/nhn"));
	assert.match(after.get("/v0.9/doc/en/canvec")?.text ?? "", "changed");
	for (const lang of ["en", "fr"]) {
		assert.is(after.get(`/v0.9/doc/${lang}/railway`)?.text, before.get(`/v0.9/doc/${lang}/railway`)?.text);
	}
	assert.equal(after.get("/v0.9/doc/en/ozone"), before.get("/v0.9/doc/en/ozone"));
});

test("TARGETS chooses what is built; what an earlier build had of the others goes", async () => {
	await buildOnly();
	await exits(buildOnly(undefined, { TARGETS: "ramp4,v0.9" }), 0);
	const files = [...(await snapshot(out)).keys()].filter((path) => path.split("/").length > 2);
	assert.equal([...new Set(files.map((path) => path.split("/")[1]))].sort(), ["ramp4", "v0.9"]);
	const again = await buildOnly(undefined, { TARGETS: "v0.9,ramp4" });
	assert.match(again.stdout, /^0 written, \d+ unchanged, 0 removed/);
	const wrong = await exits(buildOnly(undefined, { TARGETS: "v0.9,v3" }), 2);
	assert.match(wrong.stderr, `TARGETS: must be some of ${targetNames.join()}, not v3\n`);
});

test("a layer has no file where a target cannot express it", async () => {
	const text = (service_type: string, scrape_only?: string[]) => {
		const node = { service_type, service_url: "https://host.example/s", scrape_only };
		return JSON.stringify({ version: "2.0", en: node, fr: node });
	};
	const pathsOf = async () => {
		const paths = [...(await snapshot(out)).keys()].filter((path) => path.endsWith("/tiles"));
		return paths.map((path) => path.slice(1)).sort();
	};
	writeFiles(layers, { "ti/tiles.json": text("esriTile") });
	const known = { TARGETS: "v0.9,v1,v2,ramp4,terria" };
	await exits(buildOnly(undefined, known), 0);
	const folders = ["ramp4/en", "ramp4/fr", "terria/en", "terria/fr", "v2/doc/en", "v2/doc/fr"];
	const expected = folders.map((folder) => `${folder}/tiles`);
	assert.equal(await pathsOf(), expected);
	writeFiles(layers, { "ti/tiles.json": text("ogcWmts") });
	const unnamed = await buildOnly(undefined, known);
	assert.match(
		unnamed.stdout,
		/^0 written, \d+ unchanged, 6 removed/,
		"no viewer draws a service of no layers",
	);
	assert.equal(await pathsOf(), []);
	writeFiles(layers, { "ti/tiles.json": text("ogcWmts", ["t"]) });
	const named = await buildOnly(undefined, known);
	assert.match(named.stdout, /^4 written, \d+ unchanged, 0 removed/);
	assert.equal(await pathsOf(), ["terria/en/tiles", "terria/fr/tiles", "v2/doc/en/tiles", "v2/doc/fr/tiles"]);
	const afresh = join(folder, "afresh");
	await buildOnly(["--layers", layers, "--out", afresh], known);
	assert.equal([...(await snapshot(afresh)).keys()].sort(), [...(await snapshot(out)).keys()].sort());
});

test("every problem is reported with file, pointer and reason, and the old output stays whole", async () => {
	await buildOnly();
	const before = await snapshot(out);
	writeFiles(layers, {
		"aa/wrong-folder.json": manual,
		"23/23AX5T.json": manual,
		"zz/23ax5t.json": manual,
		"bad name.json": manual,
		"no/notes.txt": "hello",
		".hidden.json": manual,
		"ba/bad.json": manual.replaceAll("http://", "ftp://"),
		"ju/junk.json": "{",
		"bi/big.json": manual + " ".repeat(65_536),
		"or/orphan.service.json": "{}",
	});
	await mkdir(join(layers, "li"));
	await symlink("../23/23ax5t.json", join(layers, "li/link.json"));
	await symlink("23", join(layers, "xx"));
	const expected = [
		/^layers\/aa\/wrong-folder\.json: must be at layers\/wr\/wrong-folder\.json$/m,
		/^layers\/23\/23ax5t\.json: smallkey: 23ax5t differs only in case from 23AX5T, which is registered$/m,
		/^layers\/zz\/23ax5t\.json: must be at layers\/23\/23ax5t\.json$/m,
		/^layers\/bad name\.json: smallkey: must be 1 to 64 of/m,
		/^layers\/no\/notes\.txt: must be named <smallkey>\.json or/m,
		/^layers\/\.hidden\.json: smallkey: must be 1 to 64 of/m,
		/^layers\/ba\/bad\.json: \/en\/service_url: must be an http or https address, not "ftp:/m,
		/^layers\/ba\/bad\.json: \/fr\/service_url: must be an http or https address, not "ftp:/m,
		/^layers\/ju\/junk\.json: the document must be JSON: /m,
		/^layers\/bi\/big\.json: must have at most 65536 bytes$/m,
		/^layers\/or\/orphan\.service\.json: describes a layer that is not at layers\/or\/orphan\.json$/m,
		/^layers\/li\/link\.json: must be a plain file, not a symlink$/m,
		/^layers\/xx: must be named/m,
	];
	const built = await exits(buildOnly(), 1);
	for (const line of expected) assert.match(built.stderr, line);
	assert.match(built.stderr, /^14 problems; nothing was written$/m);
	assert.equal(await snapshot(out), before);
});

test("one commit of a repository gives what its folder gives", async () => {
	const repository = join(folder, "work");
	const git = gitIn(repository);
	await mkdir(repository);
	await git("init", "-q", "-b", "main");
	await cp(layers, join(repository, "layers"), { recursive: true });
	await git("add", ".");
	await git("commit", "-qm", "one");
	writeFiles(repository, { "layers/ne/new.json": manual });
	await git("add", ".");
	await git("commit", "-qm", "two");
	await buildOnly();
	const other = join(folder, "other");
	await exits(buildOnly(["--repo", repository, "--ref", "main~1", "--out", other]), 0);
	const texts = async (path: string) =>
		[...(await snapshot(path))].map(([name, { text }]) => `${name} ${text}`).sort();
	assert.equal(await texts(other), await texts(out));
	const newer = await buildOnly(["--repo", repository, "--out", other]);
	assert.match(newer.stdout, new RegExp(`^${files} written, \\d+ unchanged, 0 removed`));
	const older = await buildOnly(["--repo", repository, "--ref", "main~1", "--out", other]);
	assert.match(older.stdout, new RegExp(`^0 written, \\d+ unchanged, ${files} removed`));
	assert.equal(await texts(other), await texts(out));
	for (const ref of ["none", "--help", "main:layers"]) {
		await warns(buildOnly(["--repo", repository, `--ref=${ref}`, "--out", other]), 2, "has no commit");
	}
});

test("unknown options and arguments are an error", async () => {
	for (const words of [
		["--layers", join(folder, "none")],
		["--nonsense"],
		["--layers", layers, "--repo", "."],
		["--ref", "x"],
	]) {
		const failed = await exits(buildOnly(words), 2);
		assert.not.match(failed.stderr, /\bat .*\.ts/);
	}
});

test("validate checks files without writing", async () => {
	await exits(runScript("validate", [join(layers, "23/23ax5t.json")]), 0);
	writeFiles(layers, { "ba/bad.json": "{}" });
	const bad = await runScript("validate", [join(layers, "ba/bad.json"), join(layers, "23/23ax5t.json")]);
	assert.is(bad.code, 1);
	assert.match(bad.stderr, /^layers\/ba\/bad\.json: \/version: is missing$/m);
	await exits(runScript("validate", []), 0);
});

test("a compressed copy goes before its file changes, or with it, no matter what made the copy", async () => {
	const words = ["--layers", layers, "--out", out];
	writeFiles(layers, {
		"on/one.json": wms("before"),
		"tw/two.json": wms("two"),
	});
	await exits(buildOnly(words), 0);
	const copies = ["one.gz", "two.br"].map((name) => join(out, "v0.9/doc/en", name));
	for (const copy of copies) await writeFile(copy, "compressed");
	writeFiles(layers, { "on/one.json": wms("after") });
	await rm(join(layers, "tw"), { recursive: true });
	await exits(buildOnly(words), 0);
	assert.match(await readFile(join(out, "v0.9/doc/en/one"), "utf8"), '"layerName":"after"');
	for (const copy of copies) assert.is(await stat(copy).catch(() => null), null, copy);
});

test.run();
