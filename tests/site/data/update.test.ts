import { cp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { readConfiguration } from "../../../api/service/settings.ts";
import { chunksFolder, manifestPath, parseManifest } from "../../../site/data/entries.ts";
import { updateCatalogue } from "../../../site/data/update.ts";
import {
	type CatalogueOptions,
	catalogueOptions,
	readSite,
	senderNamesOf,
} from "../../../site/process/site-settings.ts";
import { serviceIdentity } from "../../../store/naming.ts";
import { feature, wms } from "../../helpers/handlers.ts";
import { type Files, filesIn, gitIn, sharedSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { entriesIn } from "./entries.ts";

const senderNames = { office: "Office of Maps · Bureau des cartes", other: "Other" };

function options(more: Partial<CatalogueOptions> = {}) {
	const configuration = readConfiguration({ PUBLIC_URL: "https://layers.example.ca" }, readSite);
	return { ...catalogueOptions(configuration, { senderNames, canSend: false }), ...more };
}

/** As a service, which writes no pages of layers. */
const served = { site: { ...options().site, canSend: true } };

let folder: string;
const base = { "layers/ab/abc.json": wms("rivers"), "layers/23/23ax5t.json": wms("limits") };

/** The tests share a repository: each begins with a commit that has only the layers of `base`. */
const test = sharedSuite("catalogue step by step", async (use) => {
	folder = use(await temporaryFolder()).path;
	await gitIn(folder)("init", "-q", "-b", "main");
});
test.before.each(async () => {
	for (const name of ["layers", "pictures", "out"])
		await rm(join(folder, name), { recursive: true, force: true });
	await commit(base, "office");
});

/** Commits files, as the service does a sender's request, or as a push. */
async function commit(files: Files, sender?: string) {
	const git = gitIn(folder);
	writeFiles(folder, files);
	await git("add", "-A", "layers");
	const [, name, mail] = /^(.*) <(.*)>$/.exec((sender && serviceIdentity) ?? "") ?? [];
	const identity = name ? ["-c", `committer.name=${name}`, "-c", `committer.email=${mail}`] : [];
	const words = [...identity, "commit", "-q", "--allow-empty", "-m", "change"];
	await git(...words, ...(sender ? ["--trailer", `Sender: ${sender}`] : []));
	return git("rev-parse", "HEAD");
}

async function bring(more: Partial<CatalogueOptions> = {}, out = "out", repository = folder) {
	const head = await gitIn(repository)("rev-parse", "HEAD");
	const layers = { repository, commit: head };
	return (await updateCatalogue(layers, join(folder, out), options(more))).how;
}

/** The output is that of an update from nothing, with its compressed copies. */
async function assertWhole(more: Partial<CatalogueOptions> = {}) {
	const fresh = join(folder, "fresh");
	await rm(fresh, { recursive: true, force: true });
	assert.is(await bring(more, "fresh"), "all");
	const [given, expected] = [filesIn(join(folder, "out")), filesIn(fresh)];
	// The chunks before the last change stay for who has read the manifest before.
	const named = await namedChunks();
	for (const path of given.keys())
		if (path.startsWith(`${chunksFolder}/`) && !named.includes(path.replace(/\.(?:gz|br)$/, "")))
			given.delete(path);
	assert.equal([...given.keys()], [...expected.keys()]);
	for (const [path, text] of expected) {
		const copied = () => gunzipSync(Buffer.from(given.get(path) ?? "", "latin1")).toString("latin1");
		if (path.endsWith(".gz")) assert.is(copied(), given.get(path.slice(0, -3)), path);
		else assert.is(given.get(path), text, path);
	}
}

/** The clock of a file system has ticks: waits until new files are later than the catalogue. */
async function untilLater() {
	const probe = join(folder, "probe");
	const { mtimeMs } = await stat(join(folder, "out.catalogue"));
	do await writeFile(probe, "now");
	while ((await stat(probe)).ctimeMs <= mtimeMs);
}

const read = (path: string) => readFile(join(folder, "out", path), "utf8");

function entries(): Record<string, Record<string, unknown>> {
	return Object.fromEntries(entriesIn(join(folder, "out")).map((entry) => [entry.smallkey, { ...entry }]));
}

async function namedChunks() {
	return (parseManifest(await read(manifestPath))?.chunks ?? []).filter((path) => path !== null);
}

test("any sequence of changes leaves the files of a whole build", async () => {
	await bring();
	let state = 20_261_121;
	const random = (below: number) => {
		state = (state * 48_271) % 2_147_483_647;
		return state % below;
	};
	const present = new Set<string>();
	for (let step = 0; step < 12; step += 1) {
		const files: Files = {};
		for (let count = 1 + random(step === 6 ? 40 : 3); count > 0; count -= 1) {
			const key = `k${random(60)}`;
			const path = `layers/${key.slice(0, 2)}/${key}.json`;
			const what = random(5);
			if (present.delete(key) && what === 0) files[path] = null;
			else if (what === 1) {
				const sick = random(2) ? {} : { [key]: { state: "down", since: "2026-W09", cause: "status 1" } };
				files["layers/health.json"] = JSON.stringify({ sick });
			} else if (what === 2) {
				const owner = `@org/team${random(3)}`;
				files["layers/owners.json"] = `{"operators":["@org/all"],"layers":{"k*":["${owner}"]}}`;
			} else {
				files[path] = random(3) === 0 ? feature : wms(`river ${random(50)}`);
				present.add(key);
			}
		}
		await commit(files, [undefined, "office", "unnamed"][random(3)]);
		if (random(3) > 0) assert.is(await bring(), "layers", `step ${step}`);
	}
	await bring();
	await assertWhole();
	assert.is(await bring(), "nothing");
});

test("the public name is that of the last sender, and no sender's id is in any file", async () => {
	await bring();
	const second = { "layers/ab/abd.json": wms("lakes"), "layers/23/23ax5t.json": null };
	await commit(second, "other");
	const changed = await commit({ "layers/ab/abc.json": wms("x") }, "secret-id");
	await commit({ "layers/ab/abg.json": wms("c") }, "office");
	assert.is(await bring(), "layers");
	const layers = entries();
	const senders = Object.fromEntries(Object.entries(layers).map(([key, { sender }]) => [key, sender]));
	const { office, other } = senderNames;
	assert.equal(senders, { abc: undefined, abd: other, abg: office });
	assert.is((layers.abc as { changed?: { commit: string } }).changed?.commit, changed.slice(0, 12));
	for (const [path, text] of filesIn(join(folder, "out")))
		assert.not.match(text, /secret-id|"office"|ada@tests/, path);
	await assertWhole();
	// Another name of a sender is seen on all layers that it has registered.
	assert.is(await bring({ senderNames: { other: "Renamed" } }), "all");
	assert.is(entries().abd?.sender, "Renamed");
});

test("an id or an address of mail is no public name", () => {
	const pair = { en: "Maps", fr: "Cartes" };
	const names = { a: "Agency", b: "a", c: "me@example.ca", d: null, e: "Équipe des cartes", f: pair };
	const senders = { ...names, g: { ...pair, fr: "cartes@example.ca" } };
	const parsed = new Map(Object.entries(senders).map(([id, name]) => [id, { name }]));
	assert.equal(senderNamesOf(parsed), { a: "Agency", e: "Équipe des cartes", f: pair });
});

test("a catalogue with deleted, cut or foreign files is written again", async () => {
	await bring(served);
	const out = join(folder, "out");
	for (const path of ["pages.json", "index/chunks"]) {
		await rm(join(out, path), { recursive: true });
		assert.is(await bring(served), "all", path);
	}
	const names = [() => [manifestPath], namedChunks, () => ["../out.catalogue"]];
	for (const [at, pathsOf] of names.entries()) {
		await commit({ "layers/ab/abe.json": wms(`more ${at}`) });
		for (const path of await pathsOf()) await writeFile(join(out, path), '{"version":4,"lay');
		assert.is(await bring(served), at === 1 ? "layers" : "all", String(at));
	}
	await gitIn(folder)("reset", "-q", "--hard", "HEAD~2");
	await commit({ "layers/ab/abe.json": null, "layers/ab/abf.json": wms("instead") });
	assert.is(await bring(served), "layers");
	assert.equal(Object.keys(entries()).sort(), ["23ax5t", "abc", "abf"]);
	await assertWhole(served);
});

test("files that were changed by hand, or are of another commit, are replaced with the next change", async () => {
	const out = join(folder, "out");
	await bring();
	for (const [path, text] of [
		["en/layer/abc.html", ""],
		["changes/recent.json", '{"version":2,"changes":[]}'],
	] as const) {
		await untilLater();
		await writeFile(join(out, path), text);
		await commit({ "layers/23/23ax5t.json": wms(`limits beside ${path}`) });
		assert.is(await bring(), "layers");
		await assertWhole();
	}
	// An earlier output with the same number of files.
	await cp(out, join(folder, "earlier"), { recursive: true, preserveTimestamps: true });
	await commit({ "layers/23/23ax5t.json": wms("more limits") });
	await bring();
	await rm(out, { recursive: true });
	await rename(join(folder, "earlier"), out);
	await commit({ "layers/ab/abc.json": wms("more rivers") });
	await bring();
	await assertWhole();
});

test("the catalogue of a clone without its whole history has it once the clone has", async () => {
	const clone = join(folder, "clone");
	await gitIn(folder)("clone", "-q", "--depth=1", `file://${folder}`, clone);
	await bring({}, "out", clone);
	assert.is(entries().abc?.changed, undefined);
	await commit({ "layers/23/23ax5t.json": wms("more limits") });
	await gitIn(clone)("pull", "-q", "--unshallow");
	assert.is(await bring({}, "out", clone), "layers");
	assert.ok(entries().abc?.changed);
	await assertWhole();
});

test("a layer that takes the place of another spelling has its last change", async () => {
	await commit({ "layers/ab/ABC.json": wms("other rivers") });
	await bring();
	await commit({ "layers/ab/ABC.json": null });
	assert.is(await bring(), "layers");
	assert.ok(entries().abc?.changed);
	await assertWhole();
});

test("a change rewrites one chunk, and the one before stays until the next change", async () => {
	const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
	await commit(Object.fromEntries(keys.map((key) => [`layers/${key.slice(0, 2)}/${key}.json`, wms(key)])));
	await bring(served);
	const change = async (layer: string) => {
		const before = await namedChunks();
		const id = await commit({ "layers/k7/k7.json": wms(layer) });
		assert.is(await bring(served), "layers");
		assert.is(parseManifest(await read(manifestPath))?.commit, id);
		const after = await namedChunks();
		const [old, ...more] = before.filter((path) => !after.includes(path));
		assert.equal(more, []);
		return old ?? "";
	};
	const isThere = (path: string) => filesIn(join(folder, "out")).has(path);
	const first = await change("one");
	assert.ok(isThere(first), "readers with the manifest before find it");
	assert.ok(isThere(await change("two")));
	assert.not.ok(isThere(first));
});

test.run();
