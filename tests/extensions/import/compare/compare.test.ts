import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { exits, prints, runScript, warns } from "../../../helpers/process.ts";
import { type Answering, answering, freshSuite, temporaryFolder } from "../../../helpers/world.ts";
import { featureNode } from "../documents.ts";

interface Fake {
	server: Answering;
	/** Path of lists → smallkey → node, or the status of the answer, which is no list: `v1/docs`. */
	lists: Map<string, Record<string, object | null | number>>;
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

async function startFake() {
	const fake: Omit<Fake, "server"> = { lists: new Map(), asked: [] };
	const server = await answering((request, response) => {
		const path = request.url ?? "";
		fake.asked.push(path);
		const [, list = "", smallkey = ""] = /^\/(.*docs)\/(?:en|fr)\/(.*)$/.exec(path) ?? [];
		const nodes = fake.lists.get(list);
		if (!nodes) return void response.writeHead(404, { Connection: "close" }).end();
		const node = nodes[smallkey] ?? null;
		const isFailure = typeof node === "number";
		if (node === 0) return void response.destroy();
		response.writeHead(isFailure ? node : 200, { Connection: "close" });
		// v2 answers an empty list for a single unknown key.
		const elements = list === "v2/docs" && node === null ? [] : [node];
		response.end(JSON.stringify(isFailure ? {} : elements));
	});
	return { ...fake, server };
}

const feature = (more: object = {}) => ({ layers: { feature: [{ ...featureNode("a", "en"), ...more }] } });

/** @param keys with spaces between them */
async function compare(keys: string) {
	const path = join(folder, "dump.json");
	await writeFile(path, JSON.stringify({ docs: keys.split(" ").map((_id) => ({ _id })) }));
	const services = [old.server.origin, `${now.server.origin}/`];
	return runScript("compare", [...services, "--keys", path]);
}

test("differences are counted by kind and class; exit code 1 is for what a viewer sees", async () => {
	const nodes = { a: feature(), b: feature({ geometryType: "esriGeometryPoint" }), gone: feature() };
	const large = feature({ nameField: "x".repeat(3_000_000) });
	const others = { c: feature({ nameField: "OTHER" }), broken: 500, cut: 0, down: feature(), large };
	old.lists.set("v1/docs", { ...nodes, ...others });
	const served = { a: feature(), b: feature(), c: feature(), broken: feature() };
	now.lists.set("v1/docs", { ...served, down: 500, fresh: feature() });
	const { stdout } = await exits(compare("a b c gone broken cut down fresh large never b/c"), 1);
	assert.equal(stdout.split("\n"), [
		"9 layers compared at v1, in both languages, 1 without a difference; served by neither: 1; not smallkeys: 1",
		"",
		"Viewer-relevant: a viewer would draw or ask these layers otherwise",
		"       1  missing in the new service (v1): gone",
		'       1  nameField (v1): c ("OTHER" → "NAME")',
		"       1  the new service answers 500 (v1): down",
		"       1  the older service answers 500 (v1): broken",
		"       1  the older service answers with more than 3,000,000 bytes (v1): large",
		"       1  the older service cannot be reached (v1): cut",
		"",
		"Cosmetic: no viewer sees the difference, or it is better",
		'       1  geometryType (v1): b ("esriGeometryPoint" → nothing)',
		"       1  only in the new service (v1): fresh",
		"",
	]);
	await exits(compare("a b never fresh"), 0);
});

test("every version that a service has is read, at its root too", async () => {
	const nodes = { a: feature(), b: feature(), c: feature() };
	for (const { lists } of [old, now]) lists.set("v1/docs", nodes).set("v2/docs", {});
	await prints(
		compare("a b c"),
		0,
		"3 layers compared at v1, v2, in both languages, 3 without a difference\n",
	);
	const node = { id: "rcs.a.en", layerType: "ogcWms", url: "https://h/", name: "a", layerEntries: [] };
	old.lists.set("v2/docs", { a: { layers: [node] } });
	now.lists.delete("v2/docs");
	await prints(compare("a"), 1, /^ +1 {2}the new service has no such version \(v2\): a$/m);
	for (const { lists } of [old, now]) lists.clear();
	old.lists.set("docs", { a: { layers: { feature: [featureNode("a", "en", {}, true)] } } });
	now.lists.set("v0.9/docs", old.lists.get("docs") ?? {});
	await prints(compare("a"), 0, /^1 layer compared at v0\.9, in both languages, 1 without/m);
});

test("a service that answers with garbage ends the comparison, which says why", async () => {
	const keys = Array.from({ length: 400 }, (_, index) => `k${index}`);
	const nodes = Object.fromEntries(keys.map((key, index) => [key, index < 60 ? feature() : 500]));
	for (const [served, last] of [
		[nodes, "answers 500"],
		[Object.fromEntries(keys.map((key) => [key, 200])), "answers without a list of one layer"],
	] as const) {
		now.lists.set("v1/docs", Object.fromEntries(keys.map((key) => [key, feature()])));
		old.lists.set("v1/docs", served);
		old.asked.length = 0;
		const text = new RegExp(
			`^http\\S+/v1/docs: 40 layers in a row cannot be read, the last one: ${last}`,
			"m",
		);
		await warns(compare(keys.join(" ")), 2, text);
		assert.ok(old.asked.length < 400, `${old.asked.length} requests`);
	}
});

test("without a key, or a version of the older service, it ends with 2", async () => {
	const services = [old.server.origin, now.server.origin];
	await warns(runScript("compare", services), 2, /^--keys: is needed/);
	await warns(compare("_design/x b/c"), 2, /dump\.json: holds no smallkeys to compare$/m);
	assert.equal(old.asked, []);
	await warns(
		compare("a"),
		2,
		/^http:\/\/127\.0\.0\.1:\d+: serves none of v0\.9, v1, v2 below this address$/m,
	);
	old.lists.set("v1/docs", {});
	now.lists.set("v1/docs", { a: feature() });
	await warns(compare("a b"), 2, /^http\S+: serves none of the 2 layers of \S+dump\.json$/m);
});

test.run();
