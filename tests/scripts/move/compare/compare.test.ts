import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { type Ended, exits, prints, runScript, warns } from "../../../helpers/process.ts";
import { type Answering, answering, freshSuite, temporaryFolder } from "../../../helpers/world.ts";
import { featureNode, wmsNode } from "../import/documents.ts";

type Nodes = Record<string, object | null | number>;

/** A service that answers lists of layers from a table: smallkey → node, or the status of its whole answer. */
interface Fake {
	server: Answering;
	/** Path of lists → layers: `v1/docs`. */
	lists: Map<string, Nodes>;
	/** Paths whose lists lack the first of several layers. */
	incomplete: Set<string>;
	asked: string[];
}

let old: Fake;
let now: Fake;
let folder: string;

const test = freshSuite("compare", async (use) => {
	[old, now] = [await startFake(), await startFake()];
	for (const { server } of [old, now]) use(server);
	folder = use(await temporaryFolder()).path;
});

async function startFake(): Promise<Fake> {
	const fake = { lists: new Map<string, Nodes>(), incomplete: new Set<string>(), asked: [] as string[] };
	const server = await answering((request, response) => {
		const path = request.url ?? "";
		fake.asked.push(path);
		const match = /^\/(.*docs)\/(en|fr)\/(.*)$/.exec(path);
		const nodes = match && fake.lists.get(match[1] as string);
		if (!match || !nodes) return void response.writeHead(404, { Connection: "close" }).end();
		const keys = decodeURIComponent(match[3] as string).split(",");
		const found = keys.map((key) => nodes[key] ?? null);
		const failure = found.find((node) => typeof node === "number");
		response.writeHead((failure as number | undefined) ?? 200, { Connection: "close" });
		// v2 answers an empty list for a single unknown key.
		const isUnknown = match[1] === "v2/docs" && found.length === 1 && found[0] === null;
		if (fake.incomplete.has(match[1] as string) && found.length > 1) found.shift();
		response.end(JSON.stringify(isUnknown ? [] : found));
	});
	return { ...fake, server };
}

function feature(node: object): object {
	return { layers: { feature: [node] } };
}

async function compare(keys: string, ...words: string[]): Promise<Ended> {
	const path = join(folder, "keys");
	await writeFile(path, keys);
	return runScript("compare", [old.server.origin, `${now.server.origin}/`, "--keys", path, ...words], {
		DATA_DIR: folder,
	});
}

test("a layer that neither service has at v2 is no difference", async () => {
	for (const { lists } of [old, now]) lists.set("v2/docs", {});
	const { stdout } = await prints(compare("gone"), 0, /^ +1 {2}in neither: gone$/m);
	assert.not.match(stdout, /Not compared/);
});

test("when all layers are read alike, the exit code is 0", async () => {
	const nodes = { a: feature(featureNode("a", "en")), b: { layers: { wms: [wmsNode("b", "en")] } } };
	for (const fake of [old, now]) fake.lists.set("v1/docs", nodes).set("v0.9/docs", nodes);
	const { stdout, stderr } = await exits(compare("a b\n"), 0);
	assert.is(stdout, "2 layers read at v0.9, v1, in both languages\n\n       2  the same in both\n");
	assert.match(stderr, /^Comparing 2 layers of http/);
});

test("after an answer without some of the layers each layer is read by itself", async () => {
	const nodes = Object.fromEntries(["a", "b", "c"].map((key) => [key, feature(featureNode(key, "en"))]));
	for (const { lists } of [old, now]) lists.set("v1/docs", nodes);
	old.incomplete.add("v1/docs");
	await prints(compare("a b c\n"), 0, /^ +3 {2}the same in both$/m);
});

test("differences are counted by kind and class, and exit code 1 is for what a viewer sees", async () => {
	const node = featureNode("a", "en");
	old.lists.set("v1/docs", {
		a: feature(node),
		b: feature({ ...node, geometryType: "esriGeometryPoint" }),
		c: feature({ ...node, nameField: "OTHER" }),
		gone: feature(node),
		broken: 500,
		down: feature(node),
	});
	now.lists.set("v1/docs", {
		a: feature(node),
		b: feature(node),
		c: feature(node),
		broken: feature(node),
		down: 500,
		fresh: feature(node),
	});
	const { stdout } = await exits(compare("a,b,c,gone,broken,down,fresh,never"), 1);
	const lines = stdout.split("\n");
	const expected = [
		"8 layers read at v1, in both languages",
		"",
		"Viewer-relevant: layers that a viewer would draw or ask otherwise",
		"       1  answers 500 (v1): down",
		"       1  nameField (v1): c",
		"",
		"Missing: layers that the new service does not have",
		"       1  not there (v1): gone",
		"",
		"Cosmetic: layers in which no viewer sees a difference, or a better one",
		"       1  geometryType: no viewer reads it (v1): b",
		"",
		"Not compared: layers that the older service cannot serve itself",
		"       1  answers 500 (v1): broken",
		"",
		"       1  the same in both",
		"       1  only in the new service: fresh",
		"       1  in neither: never",
		"",
	];
	assert.equal(lines, expected);
	now.lists.set("v1/docs", {
		...now.lists.get("v1/docs"),
		c: old.lists.get("v1/docs")?.c as object,
		down: feature(node),
	});
	assert.is((await compare("a,b,c,gone,broken,down")).code, 0, "missing and cosmetic alone");
});

test("three smallkeys of each kind are named, or all", async () => {
	const keys = Array.from({ length: 45 }, (_, index) => `k${index + 10}`);
	const of = (more: object) =>
		Object.fromEntries(keys.map((key) => [key, feature(featureNode(key, "en", more))]));
	old.lists.set("v1/docs", of({}));
	now.lists.set("v1/docs", of({ mode: "snapshot" }));
	const some = await compare(keys.join("\n"));
	assert.match(some.stdout, /^ +45 {2}mode: only now \(v1\): k10 k11 k12 and 42 more$/m);
	const all = await compare(keys.join("\n"), "--all");
	assert.ok(all.stdout.includes(`(v1): ${keys.join(" ")}\n`));
	const longest = Math.max(...old.asked.map((path) => path.split(",").length));
	assert.is(longest, 20, "an address is not longer than any server takes");
});

test("an answer that unpacks to over 5 MB, or to too many lists, is not compared, and the other layers are", async () => {
	const nodes = Object.fromEntries(["a", "b", "c"].map((key) => [key, feature(featureNode(key, "en"))]));
	for (const { lists } of [old, now]) lists.set("v1/docs", { ...nodes });
	const bytes = old.lists.get("v1/docs") as Nodes;
	bytes.a = { layers: { feature: [{ ...featureNode("a", "en"), more: "x".repeat(5_000_000) }] } };
	bytes.b = { layers: { feature: [{ ...featureNode("b", "en"), more: Array(200_000).fill([]) }] } };
	const { stdout } = await exits(compare("a b c"), 0);
	assert.match(stdout, /^ +1 {2}answers with more than 5,000,000 bytes \(v1\): a$/m);
	assert.match(stdout, /^ +1 {2}answers without a list of one layer \(v1\): b$/m);
	assert.match(stdout, /^ +1 {2}the same in both$/m);
});

test("differences of more than 1,000 names are one kind", async () => {
	const names = Array.from({ length: 3_000 }, (_, number) => [`odd${number}`, 1]);
	old.lists.set("v1/docs", { a: feature({ ...featureNode("a", "en"), ...Object.fromEntries(names) }) });
	now.lists.set("v1/docs", { a: feature(featureNode("a", "en")) });
	const { stdout } = await prints(compare("a"), 1, /^ +1 {2}another difference \(v1\): a$/m);
	assert.ok(stdout.split("\n").length < 1_020);
});

test("a version that the new service does not serve is missed by all its viewers", async () => {
	const element = {
		layers: [{ id: "rcs.a.en", layerType: "ogcWms", url: "https://h/", name: "a", layerEntries: [] }],
	};
	old.lists.set("v2/docs", { a: element }).set("v1/docs", { a: feature(featureNode("a", "en")) });
	now.lists.set("v1/docs", { a: feature(featureNode("a", "en")) });
	await prints(compare("a"), 1, /^ +1 {2}the version is not served \(v2\): a$/m);
	now.lists.set("v2/docs", { a: element });
	await exits(compare("a"), 0);
});

test("a service of release 1.0 to 1.5 is read at its root", async () => {
	const nodes = { a: feature(featureNode("a", "en", {}, true)) };
	old.lists.set("docs", nodes);
	now.lists.set("v0.9/docs", nodes);
	await prints(compare("a"), 0, /^1 layer read at v0\.9, in both languages$/m);
});

test("the keys may be those of a dump, or of the repository in DATA_DIR", async () => {
	const nodes = { a: feature(featureNode("a", "en")) };
	for (const fake of [old, now]) fake.lists.set("v1/docs", nodes);
	const dump = { docs: [{ _id: "a" }, { _id: "_design/x" }, { _id: "no smallkey" }, { data: { key: "b" } }] };
	const { stdout } = await compare(JSON.stringify(dump));
	assert.match(stdout, /^2 layers read/);
	assert.match(stdout, /^ +1 {2}in neither: b$/m);
	const dataDir = join(folder, "data");
	const words = [old.server.origin, now.server.origin];
	const none = await exits(runScript("compare", words, { DATA_DIR: dataDir }), 2);
	assert.match(none.stderr, /^--keys: is needed: there is no repository at .*repository\.git$/m);
	const layers = join(folder, "dump.json");
	await writeFile(
		layers,
		JSON.stringify({
			docs: [{ _id: "a", type: "feature", data: { en: featureNode("a", "en"), fr: featureNode("a", "fr") } }],
		}),
	);
	await exits(runScript("import", [layers], { DATA_DIR: dataDir }), 0);
	await prints(runScript("compare", words, { DATA_DIR: dataDir }), 0, /^ +1 {2}the same in both$/m);
});

test("a comparison that cannot be made ends with exit code 2 and its reason", async () => {
	const table: [keys: string, reason: RegExp][] = [
		["a b/c", /keys: a smallkey must be 1 to 64 of .*, not "b\/c"$/m],
		["  \n", /keys: holds no smallkeys to compare$/m],
		["{", /ends in the middle/],
	];
	for (const [keys, reason] of table) {
		await warns(compare(keys), 2, reason);
	}
	assert.equal([...old.asked, ...now.asked], [], "no service is asked");
	await warns(compare("a"), 2, [
		/^http:\/\/127\.0\.0\.1:\d+: serves none of v0\.9, v1, v2 below this address$/m,
	]);
	const wrong = await runScript("compare", ["rcs.example", now.server.origin], { DATA_DIR: folder });
	assert.is(wrong.code, 2);
	assert.match(
		wrong.stderr,
		/'rcs\.example' is invalid for argument 'old'\. It must be an http or https address\./,
	);
	old.lists.set("v1/docs", {});
	const path = join(folder, "keys");
	const gone = await runScript("compare", [old.server.origin, "http://127.0.0.1:9", "--keys", path], {
		DATA_DIR: folder,
	});
	assert.is(gone.code, 2);
	assert.match(gone.stderr, /^http:\/\/127\.0\.0\.1:9\/v1\/docs\/en\/a: (?!fetch failed)/m);
});

test.run();
