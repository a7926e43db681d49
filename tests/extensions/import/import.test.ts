import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { entryNames } from "../../../extensions/import/compare/differences.ts";
import { parseDescription } from "../../../registry/description.ts";
import { parseRegistration } from "../../../registry/registration.ts";
import { descriptionPath, type Lang, langs, layerPath } from "../../../registry/smallkey.ts";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { renderAt } from "../../../registry/targets/table.ts";
import { exits, prints, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { assertAcceptedAt } from "../../viewer/accepted.ts";
import { factsOf } from "../../viewer/viewer.ts";
import {
	release10,
	release15,
	release17,
	release17Wms,
	release20,
	release20Many,
	release20Server,
	release20Whole,
	release20Wms,
	release110,
	wmsNode,
} from "./documents.ts";

let folder: string;
let dataDir: string;

const test = freshSuite("import", async (use) => {
	folder = use(await temporaryFolder()).path;
	dataDir = join(folder, "data");
});

async function run(dump: string | Buffer | object, senders?: object, words: string[] = []) {
	const [path, other] = [join(folder, "dump.json"), join(folder, "auth.json")];
	const isText = typeof dump === "string" || Buffer.isBuffer(dump);
	await writeFile(path, isText ? dump : JSON.stringify(dump));
	if (senders) await writeFile(other, JSON.stringify(senders));
	const more = senders ? ["--senders", other] : [];
	return runScript("import", [path, ...words, ...more], { DATA_DIR: dataDir });
}

function git(...args: string[]) {
	const words = ["-C", join(dataDir, "repository.git"), ...args];
	return execFileSync("git", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function storedKeys() {
	const paths = existsSync(dataDir) ? git("ls-tree", "-r", "--name-only", "main") : "";
	return [...paths.matchAll(/^layers\/..\/([^.]+)\.json$/gm)].map(([, smallkey = ""]) => smallkey).sort();
}

function fileOf(path: string) {
	return git("show", `main:${path}`);
}

function nodeOf(smallkey: string, lang: Lang, target: TargetName = "v0.9"): Record<string, unknown> {
	const { layers } = fragmentOf(target, smallkey, lang);
	return (layers.wms ?? layers.feature)[0];
}

/** What is served now at a target; null where the layer cannot be expressed there. */
function fragmentOf(target: TargetName, smallkey: string, lang: Lang) {
	const { registration, problems } = parseRegistration(Buffer.from(fileOf(layerPath(smallkey))), "stored");
	if (!registration) throw new Error(JSON.stringify(problems));
	const isDescribed = git("ls-tree", "main", descriptionPath(smallkey)) !== "";
	const description = isDescribed ? parseDescription(fileOf(descriptionPath(smallkey))) : null;
	const fragment = renderAt(target, factsOf(lang, smallkey, registration, description));
	if (fragment !== null) assertAcceptedAt(target, fragment);
	return JSON.parse(fragment ?? "null");
}

/** What the older service served, but for what the viewer reads otherwise or not at all. */
function olderNode(node: object, lang: Lang): Record<string, unknown> {
	const { geometryType: _, ...rest } = node as Record<string, never>;
	const text = JSON.stringify(rest).replace(',"spatialReference":{"wkid":3978}', "");
	const french = text.replace('"Icon"', '"Icône"').replace('"Details"', '"Détails"');
	return JSON.parse(lang === "fr" ? french : text);
}

const documents = [release15, release17, release17Wms, release110];

test("documents of every release are served as the older service served them", async () => {
	const lines = [/^5 registered, /m, /^commit [0-9a-f]{40}$/m];
	const { stderr } = await prints(run({ docs: [...documents, release10] }), 0, lines);
	assert.is(stderr, "");
	assert.equal(storedKeys(), ["old-10", "old-110", "old-15", "old-17", "old-17-wms"]);
	for (const lang of langs) {
		assert.equal(nodeOf("old-10", lang), olderNode(release10.data[lang], lang));
		assert.equal(nodeOf("old-15", lang), olderNode(release15.data[lang], lang));
		assert.equal(nodeOf("old-110", lang, "v1"), olderNode(release110.data[lang], lang));
		// The viewer reads no empty second or third field.
		const { symbology, ...rest } = olderNode(release17.data[lang], lang);
		const { field2: _field2, field3: _field3, ...others } = symbology as Record<string, unknown>;
		assert.equal(nodeOf("old-17", lang, "v1"), { ...rest, symbology: others });
		const { imageUrl, ...wms } = nodeOf("old-17-wms", lang);
		assert.type(imageUrl, "string");
		assert.equal(wms, olderNode(release17Wms.data[lang], lang));
	}
	const { en } = JSON.parse(fileOf(layerPath("old-17-wms")));
	const request = { service_url: "http://maps.example/wms", layer: "roads", legend_format: "image/png" };
	assert.equal(en, { ...request, feature_info_type: "text/plain" });
	const { en: english } = JSON.parse(fileOf(layerPath("old-110")));
	assert.not("loading_mode" in english, "the older service counted the features");
});

test("of a damaged symbology, only the classes that are wrong are left out", async () => {
	const { symbology } = release17.data.en as { symbology: { valueMaps: object[] } };
	const damaged = {
		...symbology,
		valueMaps: [...symbology.valueMaps, { ...symbology.valueMaps[0], value: null }],
	};
	for (const [given, type, classes] of [
		[damaged, "uniqueValue", 2],
		[{ ...symbology, field1: null }, "simple", undefined],
		[{ ...(release15.data.en as { symbology: object }).symbology, field: null }, "simple", undefined],
	] as const) {
		const node = { ...release17.data.en, symbology: given };
		await prints(run({ docs: [{ ...release17, data: { ...release17.data, en: node, fr: node } }] }), 0);
		const drawn = nodeOf("old-17", "en", "v1").symbology as Record<string, unknown>;
		assert.equal([drawn.type, (drawn.valueMaps as object[] | undefined)?.length], [type, classes]);
	}
});

test("documents of version 2.0 are served at v1 and v2 as they were, of every kind", async () => {
	const docs = [release20, release20Wms, release20Many, release20Server, release20Whole];
	const { stderr } = await prints(run({ docs }), 0, /^5 registered, /m);
	assert.is(stderr, "");
	for (const lang of langs) {
		// The older service did not serve the type of geometry.
		assert.equal(nodeOf("new-20", lang, "v1"), olderNode(release20.v1_config[lang] as object, lang));
		const { imageUrl: _imageUrl, ...wms } = nodeOf("new-wms", lang, "v1");
		assert.equal(wms, olderNode(release20Wms.v1_config[lang] as object, lang));
		for (const document of [release20Many, release20Server, release20Whole]) {
			const { layerType, url, layerEntries } = document.layer_config[lang] as Record<string, unknown>;
			const node = fragmentOf("v2", document._id, lang).layers[0];
			assert.equal([node.layerType, node.url], [layerType, url]);
			const names = (layerEntries as { id?: string; index?: number }[]).map(({ id, index }) => id ?? index);
			assert.equal(entryNames(node.layerEntries), names);
			assert.is(fragmentOf("v1", document._id, lang), null, "it has no form there, as before");
		}
		const node = fragmentOf("v2", "new-20", lang).layers[0];
		assert.equal([node.tolerance, node.metadataUrl], [5, "http://csw.example/xml?id=abc"]);
	}
	const { fr } = JSON.parse(fileOf(descriptionPath("new-server")));
	assert.equal([fr.from, fr.entries], ["import", [4, 0]]);
});

test("every form of a dump is read, with what it holds beside documents", async () => {
	const rows = documents.map((doc) => ({ id: doc._id, key: doc._id, value: { rev: "1-a" }, doc }));
	const design = { _id: "_design/views", views: {} };
	const gone = { _id: "gone", _deleted: true };
	const goneRow = { id: "x", key: "x", value: { rev: "2", deleted: true }, doc: null };
	const dumps = [
		{ new_edits: false, docs: [design, ...documents, gone] },
		{ total_rows: 6, offset: 0, rows: [...rows, goneRow] },
		{ rows: documents.map((doc) => ({ doc })) },
	];
	const senders = { docs: [{ _id: "jstest", key: "k" }] };
	const lines = ["4 could be registered, 0 changed, 0 stored already; nothing was written\n"];
	lines.push("1 sender could be added to ");
	await prints(run(dumps[0] as object, senders, ["--dry-run"]), 0, ...lines);
	assert.is(existsSync(dataDir), false);
	const wide = Buffer.from(`\ufeff${JSON.stringify(dumps[0])}\r\n`, "utf16le");
	const counts = /^(?:4 registered|0 registered, 0 changed, 4 stored already)/;
	for (const dump of [...dumps, wide, `\ufeff${JSON.stringify(dumps[0], null, 2)}\n`])
		assert.is((await prints(run(dump), 0, counts)).stderr, "");
	assert.is(storedKeys().length, 4);
});

test("importing again changes nothing, and a harvested description stays", async () => {
	await run({ docs: documents.slice(0, 1) });
	await prints(run({ docs: documents }), 0, "3 registered, 0 changed, 1 stored already\n");
	assert.match(git("log", "--format=%s"), /^import 3 layers\nimport 1 layer\n/);
	const before = git("rev-parse", "main");
	await prints(run({ docs: documents }), 0, /, 4 stored already$/m);
	assert.is(git("rev-parse", "main"), before);
	const harvested = JSON.parse(fileOf(descriptionPath("old-15")));
	assert.is(harvested.en.from, "import");
	for (const lang of langs) {
		delete harvested[lang].from;
		harvested[lang].name = "Harvest";
	}
	const text = `${JSON.stringify(harvested, null, 2)}\n`;
	const head =
		"commit refs/heads/main\ncommitter a <a@a.invalid> 1 +0000\ndata 1\nx\nfrom refs/heads/main^0\n";
	const input = `${head}M 644 inline ${descriptionPath("old-15")}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
	execFileSync("git", ["-C", join(dataDir, "repository.git"), "fast-import", "--quiet"], { input });
	const pushed = git("rev-parse", "main");
	await prints(run({ docs: documents }), 0, /, 4 stored already$/m);
	await prints(run({ docs: documents.slice(1) }), 0, "3 stored already\n", "dump: old-15\n");
	assert.is(git("rev-parse", "main"), pushed);
});

const passwords = { en: wmsNode("p", "en", { url: "http://a:b@c/" }), fr: wmsNode("p", "fr") };

const unmovable: [document: { _id: string; [member: string]: unknown }, reason: string][] = [
	[{ _id: "no smallkey", type: "wms" }, "its key must be 1 to 64 of A-Z a-z 0-9 _ - + ="],
	[{ _id: "tiles", type: "tiles" }, "is neither a wms nor a feature layer"],
	[
		{ _id: "half", type: "wms", data: { en: wmsNode("half", "en") } },
		"/fr/layer: is missing; /fr/service_url: is missing",
	],
	[{ ...release17, _id: "twice" }, "has more than one document"],
	[{ ...release17, _id: "twice" }, "has more than one document"],
	[{ ...release17, _id: "OLD-15" }, "differs only in case from old-15"],
	[
		{ ...release17Wms, _id: "password", data: passwords },
		"/en/service_url: must not hold a user name or password",
	],
];

test("a document that cannot be moved is listed with its reason, others are imported", async () => {
	const docs = [release15, ...unmovable.map(([document]) => document), release17];
	const { stderr: error } = await warns(run({ docs }), 1, "7 documents could not be moved\n");
	assert.equal(storedKeys(), ["old-15", "old-17"]);
	for (const [index, [{ _id }, reason]] of unmovable.entries()) {
		const line = error.split("\n").find((text) => text.includes(`(document ${index + 2} of `));
		assert.match(line ?? "", `not moved: ${_id}: ${reason}`);
	}
	assert.not.match(error, /a:b@/);
	const docs2 = ["aux", "OLD-17", "new"].map((_id) => ({ ...release17, _id }));
	const counts = "1 could be registered, 0 changed, 0 stored already; nothing was written\n";
	const trial = await exits(run({ docs: docs2 }, undefined, ["--dry-run"]), 1);
	assert.ok(trial.stdout.startsWith(counts), trial.stdout);
	assert.match(trial.stderr, "not moved: aux: is a name that Windows keeps");
	assert.match(trial.stderr, /not moved: OLD-17: differs only in case from old-17, .*\(document 2/);
});

test("a layer that no target serves is imported, and named with its reason", async () => {
	const request = { service_type: "ogcWms", service_url: "http://maps.example/wms" };
	const docs = [{ ...release20Wms, request: { en: request, fr: request } }, release20Whole];
	const reason = "must name its layers in scrape_only, or have a recursive of true";
	const { stdout, stderr } = await exits(run({ docs }), 0);
	assert.match(stdout, "2 registered");
	assert.is(stderr, `moved, but nothing serves it: new-wms: /en: ${reason}; /fr: ${reason}\n`);
});

test("a dump that cannot be read is an error, and nothing is stored", async () => {
	const whole = JSON.stringify({ docs: documents });
	for (const [dump, rule] of [
		[whole.slice(0, -1), "dump.json: is not JSON: is it whole?"],
		['{"docs":[7]}', "holds something else than documents"],
		['{"rows":[{"id":"a","key":"a","value":{"rev":"1"}}]}', "ask for _all_docs?include_docs=true"],
		['{"docs":[],"rows":[]}', "must have one array of documents"],
		[
			'{"error":"unauthorized","reason":"Log in."}',
			"dump.json: holds CouchDB's error unauthorized: Log in.;",
		],
		[Buffer.from('{"docs":[{"_id":"é"}]}', "latin1"), "dump.json: is not UTF-8 or UTF-16;"],
	] as const)
		await warns(run(dump), 2, rule, /nothing was written\n$/);
	await warns(run({ docs: documents }, { nothing: 1 }), 2, "auth.json: must have one array of documents");
	assert.equal(storedKeys(), []);
	assert.is(existsSync(join(dataDir, "senders.json")), false);
});

test("senders are added to the senders file, and its senders stay unchanged", async () => {
	const senders = {
		docs: [
			{ _id: "jstest", key: "test_-k" },
			{ _id: "bad id", key: "secret-of-bad" },
			{ _id: "nobody", key: "" },
			{ _id: "copy", key: "test_-k" },
		],
	};
	const place = join(dataDir, "senders.json");
	const { stdout: out, stderr: error } = await run({ docs: [release15] }, senders);
	assert.equal(JSON.parse(await readFile(place, "utf8")), { jstest: { key: "test_-k" } });
	assert.is((await stat(place)).mode & 0o777, 0o600);
	assert.match(out, /^1 sender added to .*senders\.json$/m);
	assert.match(error, /^not moved: sender copy: has the same secret as jstest \(document \d+ of .*\)$/m);
	assert.not.match(out + error, /test_-k|secret-of-bad/);
	const others = ["jstest", "second"].map((_id) => ({ _id, key: "other" }));
	const reason = "sender jstest: is a sender here, with another secret: left as it is";
	await warns(run({ docs: [release15] }, { docs: others }), 1, reason);
	const both = { jstest: { key: "test_-k" }, second: { key: "other" } };
	assert.equal(JSON.parse(await readFile(place, "utf8")), both);
});

test.run();
