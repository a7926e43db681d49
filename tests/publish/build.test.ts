import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { lockFolder } from "../../api/service/lock.ts";
import { placeFile } from "../../publish/place-file.ts";
import { targetOf, targets } from "../../registry/targets/table.ts";
import { manual, wms } from "../helpers/local.ts";
import { exits, prints, root, runProgram, runScript, warns } from "../helpers/process.ts";
import { filesIn, freshSuite, temporaryFolder, writeFiles } from "../helpers/world.ts";

let folder: string;
let layers: string;
let out: string;

const test = freshSuite("build", async (use) => {
	folder = use(await temporaryFolder()).path;
	[layers, out] = [join(folder, "layers"), join(folder, "out")];
	await cp(join(root, "tests/fixtures/layers"), layers, { recursive: true });
});

function build(env: Record<string, string> = {}, ...words: string[]) {
	return runScript("build", ["--layers", layers, "--out", out, ...words], { SITE: "off", ...env });
}

function runLimited(files: number, script: string) {
	const words = ["--import", "tsx", "--input-type=module", "--eval", script];
	return runProgram("sh", ["-c", `ulimit -n ${files} && exec "$@"`, "sh", process.execPath, ...words]);
}

/** Of a layer that every target can express. */
const files = 2 * targets.length;

async function snapshot(path: string): Promise<Map<string, { text: string; written: number }>> {
	const found = new Map<string, { text: string; written: number }>();
	for (const [name, text] of filesIn(path))
		found.set(name, { text, written: (await stat(join(path, name))).mtimeMs });
	return found;
}

test("every layer becomes a file in each target and language; a second build writes nothing", async () => {
	await exits(build(), 0);
	const names = (await readdir(layers, { recursive: true })).filter((name) =>
		/^..?\/[^.]*\.json$/.test(name),
	);
	const keys = names.map((name) => name.slice(name.indexOf("/") + 1, -5)).sort();
	assert.ok(keys.length > 10);
	for (const { name } of targets)
		for (const lang of ["en", "fr"])
			assert.equal((await readdir(join(out, targetOf(name).doc, lang))).sort(), keys);
	assert.match(await readFile(join(out, "v0.9/doc/fr/nhn"), "utf8"), '"displayName":"Réseau hydro national"');
	const before = await snapshot(out);
	await prints(build(), 0, /^0 written, 0 removed/);
	assert.equal(await snapshot(out), before);
	const other = join(folder, "other");
	await exits(build({}, "--out", other), 0);
	assert.equal(filesIn(other), filesIn(out), "the same bytes");
});

test("only what changed is written; files of removed layers go with their copies; lost files come back", async () => {
	await build();
	const before = await snapshot(out);
	await rm(join(layers, "nh/nhn.json"));
	writeFiles(layers, { "ca/canvec.json": wms("changed") });
	await rm(join(out, "v0.9/doc/en/railway"));
	writeFiles(out, { "v0.9/doc/en/canvec.gz": "old", "v0.9/doc/en/nhn.br": "old" });
	await prints(build(), 0, new RegExp(`^${files + 1} written, ${files} removed`));
	const after = await snapshot(out);
	for (const name of ["nhn", "nhn.br", "canvec.gz"]) assert.not(after.has(`v0.9/doc/en/${name}`), name);
	assert.match(after.get("v0.9/doc/en/canvec")?.text ?? "", "changed");
	assert.is(after.get("v0.9/doc/en/railway")?.text, before.get("v0.9/doc/en/railway")?.text);
	assert.equal(after.get("v0.9/doc/en/ozone"), before.get("v0.9/doc/en/ozone"));
});

test("a build of the same layers compares no files", async () => {
	await build();
	const path = join(out, "v0.9/doc/en/nhn");
	await writeFile(path, "changed by hand");
	await prints(build(), 0, /^0 written, 0 removed/);
	assert.is(await readFile(path, "utf8"), "changed by hand");
});

test("readers have a file whole, and a file that cannot take its place leaves nothing behind", async () => {
	await mkdir(join(out, "taken/below"), { recursive: true });
	const place = (text: string | null, path = "one") =>
		placeFile(out, path, text === null ? null : Buffer.from(text));
	assert.is(place("first"), "written");
	const { ino } = await stat(join(out, "one"));
	assert.is(place("other"), "written");
	assert.is.not((await stat(join(out, "one"))).ino, ino, "who reads the old file has it whole");
	assert.throws(() => place("text", "taken"), /EISDIR/);
	assert.equal([place(null), place(null)], ["removed", "same"]);
	assert.equal([await readdir(out), (await readdir(folder)).sort()], [["taken"], ["layers", "out"]]);
});

test("a thousand reads of a file at once are answered; if no file can be opened, that is not a missing one", async () => {
	writeFiles(out, { one: "text" });
	const script = `import { openSync } from "node:fs";
		import { readFragmentFile } from "${join(root, "publish/place-file.ts")}";
		const path = "${join(out, "one")}";
		const read = () => readFragmentFile(path).then((fragment) => String(fragment?.body), ({ code }) => code);
		console.log(...new Set(await Promise.all(Array.from({ length: 1_000 }, read))));
		try { for (;;) openSync(path); } catch { console.log(await read()); }`;
	const { stdout } = await runLimited(128, script);
	assert.is(stdout, "text\nEMFILE\n");
});

test("a layer is rendered from the store while no file can be opened", async () => {
	const script = `import { closeSync, existsSync, openSync } from "node:fs";
		import { eventually } from "${join(root, "tests/helpers/wait.ts")}";
		import { Local, wms } from "${join(root, "tests/helpers/local.ts")}";
		const local = await Local.open({ files: { "layers/on/one.json": wms("one") } });
		await eventually(() => existsSync(local.out + "/v0.9/doc/fr/one"));
		await local.restart();
		await (await local.store.served()).read("one");
		const held = [];
		try { for (;;) held.push(openSync("/dev/null")); } catch {}
		const answer = await local.file("v0.9/doc/en", "one").catch(String);
		for (const file of held) closeSync(file);
		console.log(answer.body ? new TextDecoder().decode(answer.body) : answer);
		await local[Symbol.asyncDispose]();`;
	const { stdout } = await runLimited(160, script);
	assert.match(stdout, '"layerName":"one"');
});

test("TARGETS chooses what is built; what an earlier build had of the others goes", async () => {
	await build();
	await exits(build({ TARGETS: "ramp4,v0.9" }), 0);
	const found = [...filesIn(out).keys()].filter((path) => path.includes("/"));
	assert.equal([...new Set(found.map((path) => path.split("/")[0]))], ["ramp4", "v0.9"]);
	await prints(build({ TARGETS: "v0.9,ramp4" }), 0, /^0 written, 0 removed/);
});

test("a layer has no file where a target cannot express it", async () => {
	const node = { service_type: "ogcWmts", service_url: "https://host.example/s" };
	const text = (more: object) => JSON.stringify({ version: "2.0", en: { ...node, ...more }, fr: node });
	writeFiles(layers, { "ti/tiles.json": text({ scrape_only: ["t"] }) });
	const targets = { TARGETS: "v0.9,v1,v2,ramp4,terria" };
	await exits(build(targets), 0);
	const paths = () => [...filesIn(out).keys()].filter((path) => path.endsWith("/tiles"));
	assert.equal(paths(), ["terria/en/tiles", "v2/doc/en/tiles"]);
	writeFiles(layers, { "ti/tiles.json": text({}) });
	await prints(build(targets), 0, /^0 written, 2 removed/);
	assert.equal(paths(), [], "no viewer draws a service of no layers");
});

test("every problem of a folder is reported with file, pointer and reason, and the old output stays", async () => {
	await build();
	const before = await snapshot(out);
	writeFiles(layers, {
		"ba/bad.json": manual.replaceAll("http://", "ftp://"),
		"li/link.json": { link: "../23/23ax5t.json" },
		xx: { link: "23" },
	});
	await warns(build(), 1, [
		/^layers\/ba\/bad\.json: \/en\/service_url: must be an http or https address, not "ftp:/m,
		/^layers\/li\/link\.json: must be a plain file$/m,
		/^layers\/xx: must be named/m,
		/^4 problems; nothing was written$/m,
	]);
	assert.equal(await snapshot(out), before);
});

test("a build goes into an empty folder or an earlier build only, and into that of no running service", async () => {
	const home = join(folder, "home");
	writeFiles(home, { "thesis.txt": "precious" });
	const reason = `--out: ${join(home, "thesis.txt")} is from no build; name an empty folder`;
	await warns(build({}, "--out", home), 2, reason);
	await exits(build({}, "--out", join(home, "thesis.txt")), 2);
	assert.equal([...filesIn(home)], [["thesis.txt", "precious"]]);
	const service = join(folder, "service");
	await mkdir(service);
	const lock = await lockFolder(service);
	const dist = join(service, "dist");
	await warns(build({}, "--out", dist), 2, `--out: a service runs on ${service}, and writes ${dist} itself`);
	assert.not.ok((await readdir(service)).includes("dist"));
	await lock.release();
	await exits(build({}, "--out", dist), 0);
});

test.run();
