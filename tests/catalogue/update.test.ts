import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { Index } from "../../catalogue/chunks.ts";
import type { CatalogueOptions } from "../../catalogue/options.ts";
import { catalogueOptions, senderNamesOf } from "../../catalogue/options.ts";
import { readerOf } from "../../catalogue/output.ts";
import { proofsFile } from "../../catalogue/thumbnails.ts";
import { type CatalogueOutcome, updateCatalogue } from "../../catalogue/update.ts";
import { chunksFolder, manifestPath, parseManifest } from "../../registry/entries.ts";
import { readConfiguration } from "../../service/settings.ts";
import { serviceIdentity } from "../../store/store.ts";
import { feature, wms } from "../helpers/local.ts";
import { type Files, filesIn, freshSuite, gitIn, temporaryFolder, writeFiles } from "../helpers/world.ts";

const senderNames = { office: "Office of Maps · Bureau des cartes", other: "Other" };

function options(more: Partial<CatalogueOptions> = {}): CatalogueOptions {
	const configuration = readConfiguration({ PUBLIC_URL: "https://layers.example.ca" });
	return {
		...catalogueOptions(configuration, { senderNames, canSend: false, isCompressed: false }),
		...more,
	};
}

let folder: string;

const test = freshSuite("catalogue step by step", async (use) => {
	folder = use(await temporaryFolder()).path;
	await gitIn(folder)("init", "-q", "-b", "main");
	const layers = { "layers/ab/abc.json": wms("rivers"), "layers/23/23ax5t.json": wms("limits") };
	await commit(layers, "office");
});

/** As a service, which writes no pages of layers. */
const served = { site: { ...options().site, canSend: true } };

/** Commits files, null for one that is removed: a sender's request, which the service commits, or a push. */
async function commit(files: Files, sender?: string, committer = sender && serviceIdentity): Promise<string> {
	const git = gitIn(folder);
	writeFiles(folder, files);
	await git("add", "-A", "layers");
	const [, name, mail] = /^(.*) <(.*)>$/.exec(committer ?? "") ?? [];
	const identity = name ? ["-c", `committer.name=${name}`, "-c", `committer.email=${mail}`] : [];
	const words = [...identity, "commit", "-q", "--allow-empty", "-m", "change"];
	await git(...words, ...(sender ? ["--trailer", `Sender: ${sender}`] : []));
	return git("rev-parse", "HEAD");
}

async function bring(
	out = "out",
	more: Partial<CatalogueOptions> = {},
	of = folder,
): Promise<CatalogueOutcome> {
	const head = await gitIn(of)("rev-parse", "HEAD");
	return updateCatalogue({ repository: of, commit: head }, join(of, out), options(more));
}

/** That the range from the last commit leaves what the range from nothing writes, and each compressed copy what stands beside it. */
async function assertWhole(more: Partial<CatalogueOptions> = {}): Promise<void> {
	const fresh = join(folder, "fresh");
	await rm(fresh, { recursive: true, force: true });
	assert.is((await bring("fresh", more)).how, "all");
	const [given, expected] = [filesIn(join(folder, "out")), filesIn(fresh)];
	// The chunks before the last change stay for who has read the manifest before.
	const named = await namedChunks();
	for (const path of given.keys())
		if (path.startsWith(`${chunksFolder}/`) && !named.includes(path.replace(/\.(?:gz|br)$/, "")))
			given.delete(path);
	assert.equal([...given.keys()], [...expected.keys()]);
	for (const [path, text] of expected) {
		if (!path.endsWith(".gz")) assert.is(given.get(path), text, path);
		else {
			const whole = gunzipSync(Buffer.from(given.get(path) ?? "", "latin1")).toString("latin1");
			assert.is(whole, given.get(path.slice(0, -3)), path);
		}
	}
}

async function read(path: string): Promise<string> {
	return readFile(join(folder, "out", path), "utf8");
}

/** What the index says of each layer. */
async function entries(of = folder): Promise<Record<string, Record<string, unknown>>> {
	const all = new Index(readerOf(join(of, "out"))).chunks().flat();
	return Object.fromEntries(all.map((entry) => [entry.smallkey, { ...entry }]));
}

/** The chunks that the manifest names. */
async function namedChunks(): Promise<string[]> {
	return (parseManifest(await read(manifestPath))?.chunks ?? []).filter((path) => path !== null);
}

test("any sequence of changes leaves the files of a whole build", async () => {
	assert.is((await bring()).how, "all");
	let state = 20_261_121;
	const random = (below: number) => {
		state = (state * 48_271) % 2_147_483_647;
		return state % below;
	};
	const keys = Array.from({ length: 60 }, (_, index) => `k${(index * 7919) % 97}-${index}`);
	const present = new Set<string>();
	const sick = new Map<string, object>();
	for (let step = 0; step < 12; step += 1) {
		const files: Files = {};
		for (let count = 1 + random(step === 6 ? 40 : 3); count > 0; count -= 1) {
			const key = keys[random(keys.length)] as string;
			const path = `layers/${key.slice(0, 2)}/${key}.json`;
			const what = random(5);
			if (present.has(key) && what === 0) {
				files[path] = null;
				present.delete(key);
			} else if (what === 1) {
				if (random(2) === 0)
					sick.set(key, { state: "down", since: "2026-W09", cause: `status ${random(2)}` });
				else sick.delete(key);
				files["layers/health.json"] = JSON.stringify({ sick: Object.fromEntries(sick) });
			} else if (what === 2) {
				const owner = `@org/team${random(3)}`;
				files["layers/owners.json"] = `{"operators":["@org/all"],"layers":{"k*":["${owner}"]}}`;
			} else {
				files[path] = random(3) === 0 ? feature : wms(`river ${random(50)}`);
				present.add(key);
			}
		}
		await commit(files, [undefined, "office", "unnamed"][random(3)]);
		if (random(3) === 0) continue;
		assert.is((await bring()).how, "changes", `step ${step}`);
	}
	await bring();
	await assertWhole();
	assert.is((await bring()).how, "nothing");
});

test("the public name is that of who registered a layer last, and no sender's id is in any file", async () => {
	await bring();
	await commit({ "layers/ab/abd.json": wms("lakes") }, "other");
	const changed = await commit(
		{ "layers/23/23ax5t.service.json": null, "layers/ab/abc.json": wms("x") },
		"secret-id",
	);
	assert.is((await bring()).how, "changes");
	const known = await entries();
	assert.is(known["23ax5t"]?.sender, senderNames.office);
	assert.is(known.abd?.sender, "Other");
	assert.is(known.abc?.sender, undefined);
	assert.is((known.abc as { changed?: { commit: string } }).changed?.commit, changed.slice(0, 12));
	for (const [path, text] of filesIn(join(folder, "out")))
		assert.not.match(text, /secret-id|"office"|ada@tests/, path);
	await assertWhole();
	// Another name of a sender is seen on all layers that it has registered.
	assert.is((await bring("out", { senderNames: { other: "Renamed" } })).how, "all");
	assert.is((await entries()).abd?.sender, "Renamed");
});

test("a trailer that the service did not write shows no sender's name", async () => {
	await bring();
	await commit({ "layers/ab/abd.json": wms("lakes") }, "office", "Pusher <pusher@example.ca>");
	await commit({ "layers/23/23ax5t.json": wms("x") }, "other", "fragment-publisher <t@example.ca>");
	assert.is((await bring()).how, "changes");
	const known = await entries();
	assert.is(known.abc?.sender, senderNames.office);
	assert.is(known.abd?.sender, undefined);
	assert.is(known["23ax5t"]?.sender, undefined);
	await assertWhole();
});

test("compressed copies are written and removed together with their files", async () => {
	const keys = Array.from({ length: 120 }, (_, index) => `zz${index}`);
	await commit(Object.fromEntries(keys.map((key) => [`layers/zz/${key}.json`, wms(key)])));
	await bring("out", { isCompressed: true });
	await commit({ "layers/ab/abd.json": wms("lakes"), "layers/23/23ax5t.json": null }, "other");
	assert.is((await bring("out", { isCompressed: true })).how, "changes");
	await assertWhole({ isCompressed: true });
	const names = [...filesIn(join(folder, "out")).keys()];
	assert.ok(names.some((name) => /^assets\/main-.*\.js\.br$/.test(name)));
	const chunks = names.filter((name) => name.startsWith(`${chunksFolder}/`) && name.endsWith(".json"));
	assert.ok(chunks.some((name) => names.includes(`${name}.br`)));
	for (const name of chunks) {
		const isLarge = (await read(name)).length >= 1_000;
		const found = [".gz", ".br"].map((end) => names.includes(name + end));
		assert.equal(found, [isLarge, isLarge]);
	}
	assert.ok(names.some((name) => /^list\/.*\.html\.gz$/.test(name)));
});

test("an id or an address of mail is no public name", () => {
	const pair = { en: "Maps", fr: "Cartes" };
	const wrong = { en: "Maps", fr: "cartes@example.ca" };
	const senders = {
		a: "Agency",
		b: "a",
		c: "me@example.ca",
		d: null,
		e: "Équipe des cartes",
		f: pair,
		g: wrong,
	};
	const parsed = new Map(Object.entries(senders).map(([id, name]) => [id, { name }]));
	assert.equal(senderNamesOf(parsed), { a: "Agency", e: "Équipe des cartes", f: pair });
});

test("a catalogue whose files are deleted, cut off or of another history is written again as a whole", async () => {
	await bring();
	const out = join(folder, "out");
	for (const path of ["index/chunks", "pages.json", "en/index.html", "index.html", "changes", "assets"]) {
		await rm(join(out, path), { recursive: true });
		assert.is((await bring()).how, "all", path);
	}
	await assertWhole();
	await commit({ "layers/ab/abe.json": wms("more") });
	for (const path of await namedChunks()) await writeFile(join(out, path), '{"version":4,"entries":[');
	assert.is((await bring()).how, "all");
	await commit({ "layers/ab/abg.json": wms("once more") });
	await writeFile(join(out, manifestPath), '{"version":4,"lay');
	assert.is((await bring()).how, "all");
	await gitIn(folder)("reset", "-q", "--hard", "HEAD~2");
	await commit({ "layers/ab/abf.json": wms("instead") });
	assert.is((await bring()).how, "all");
	assert.equal(Object.keys(await entries()).sort(), ["23ax5t", "abc", "abf"]);
	await assertWhole();
});

test("an update that ended while it placed pictures is done again, with its options and those before", async () => {
	await bring();
	const pictures = join(folder, "pictures");
	const layers = { abc: { picture: "ab/abc.0123456789ab.webp" } };
	// A folder cannot be copied as a file.
	await mkdir(join(pictures, layers.abc.picture), { recursive: true });
	await writeFile(join(pictures, proofsFile), JSON.stringify({ version: 1, layers }));
	const failure = await bring("out", { pictures }).catch((error: unknown) => error);
	assert.match(String(failure), "abc.0123456789ab.webp");
	assert.is((await bring()).how, "all");
	await assertWhole();
});

test("an update that fails at a page has written the styles and scripts that the pages before it name", async () => {
	const blocked = join(folder, "out/guide/fr/accessibility.html");
	await mkdir(join(blocked, "in-the-way"), { recursive: true });
	const failed = await bring().catch((error: Error) => error);
	assert.instance(failed, Error);
	await bring("whole");
	const assetsIn = (out: string) =>
		[...filesIn(join(folder, out)).keys()].filter((name) => name.startsWith("assets/"));
	assert.ok(assetsIn("whole").length > 10);
	assert.equal(assetsIn("out"), assetsIn("whole"));
});

test("a catalogue of a folder is always written as a whole", async () => {
	const fromFolder = () =>
		updateCatalogue({ folder: join(folder, "layers") }, join(folder, "out"), options());
	await bring();
	assert.is((await fromFolder()).how, "all");
	assert.is((await fromFolder()).how, "all");
	assert.equal((await readdir(folder)).includes("out.catalogue"), false);
	assert.is((await bring()).how, "all");
	await assertWhole();
});

test("the last changes say what they changed, whether they come one by one or all together", async () => {
	await bring();
	const moved = wms("rivers").replaceAll("://", "://new.");
	await commit({ "layers/ab/abc.json": moved }, "office");
	await bring();
	await commit({ "layers/23/23ax5t.json": null }, "other");
	await bring();
	const { changes } = JSON.parse(await readFile(join(folder, "out/changes/recent.json"), "utf8"));
	const [removed, changed, added] = changes.map((one: { what: unknown }) => one.what);
	assert.equal([added.kind, added.smallkey, added.fields], ["added", "23ax5t", undefined]);
	assert.is(removed.was.address.en, JSON.parse(wms("limits")).en.service_url);
	assert.is(removed.was.sender, senderNames.other);
	const found = changed.fields.map(({ field }: { field: string }) => field);
	assert.equal(found, ["/en/service_url", "/fr/service_url"]);
	assert.is(changed.fields[0].from, JSON.parse(wms("rivers")).en.service_url);
	assert.is(changed.fields[0].to, JSON.parse(moved).en.service_url);
	const page = await readFile(join(folder, "out/en/changes/index.html"), "utf8");
	assert.match(page, `<ins>${changed.fields[0].to}</ins>`);
	await assertWhole();
});

test("a change of health alone is in the index", async () => {
	await bring();
	const down = { state: "down", since: "2026-W09", cause: "answers with status 500" };
	for (const health of [down, { ...down, cause: "has no layer" }, { ...down, repair: true }, null]) {
		await commit({ "layers/health.json": JSON.stringify({ sick: health ? { abc: health } : {} }) });
		assert.is((await bring()).how, "changes");
		assert.equal((await entries()).abc?.health, health);
	}
	await assertWhole();
});

test("after more than a thousand changes the catalogue is written again as a whole", async () => {
	await bring("out", served);
	const keys = Array.from({ length: 1_001 }, (_, index) => `zz${index}`);
	await commit(Object.fromEntries(keys.map((key) => [`layers/zz/${key}.json`, wms(key)])));
	assert.is((await bring("out", served)).how, "all");
	assert.is(Object.keys(await entries()).length, 2 + keys.length);
});

test("a shallow clone has no dates and no changes, and files that are wrong or twins are not listed twice", async () => {
	await bring();
	await commit({ "layers/ab/ABC.json": wms("twin"), "layers/ab/abw.json": "{}" });
	await bring();
	assert.equal(Object.keys(await entries()).sort(), ["23ax5t", "ABC"]);
	await assertWhole();
	await commit({ "layers/ab/ABC.json": null });
	await bring();
	assert.equal(Object.keys(await entries()).sort(), ["23ax5t", "abc"]);
	await assertWhole();
	const clone = join(folder, "clone");
	await gitIn(folder)("clone", "-q", "--depth", "1", `file://${folder}`, clone);
	await bring("out", {}, clone);
	assert.is((await entries(clone)).abc?.changed, undefined);
	assert.not.ok((await readdir(join(clone, "out"))).includes("changes"));
});

test("a change rewrites the chunk of its layer, and the one before stays until the next change", async () => {
	const keys = Array.from({ length: 200 }, (_, index) => `k${index}`);
	await commit(Object.fromEntries(keys.map((key) => [`layers/${key.slice(0, 2)}/${key}.json`, wms(key)])));
	await bring("out", served);
	const before = await namedChunks();
	const change = async (layer: string) => {
		const id = await commit({ "layers/k7/k7.json": wms(layer) });
		assert.is((await bring("out", served)).how, "changes");
		assert.is(parseManifest(await read(manifestPath))?.commit, id);
		return namedChunks();
	};
	const after = await change("one");
	const old = before.filter((path) => !after.includes(path));
	assert.is(old.length, 1);
	const present = async () =>
		(await readdir(join(folder, "out", chunksFolder))).map((name) => `${chunksFolder}/${name}`);
	assert.ok((await present()).includes(old[0] as string), "readers with the manifest before find it");
	await change("two");
	assert.not.ok((await present()).includes(old[0] as string));
	assert.is((await present()).length, after.length + 1);
});

test("a service has no pages of layers, lists and records as files, but a sitemap of them", async () => {
	await bring("out", served);
	const paths = [...filesIn(join(folder, "out")).keys()];
	assert.not.ok(paths.some((path) => /^(?:en\/layer|fr\/couche|list|records)\//.test(path)));
	const sitemaps = await Promise.all(
		paths.filter((path) => path.startsWith("sitemap/")).map((path) => read(path)),
	);
	assert.match(sitemaps.join(""), "<loc>https://layers.example.ca/fr/layer/abc</loc>");
	await commit({ "layers/ab/abc.json": null, "layers/ab/abd.json": wms("lakes") });
	assert.is((await bring("out", served)).how, "changes");
	await assertWhole(served);
});

test.run();
