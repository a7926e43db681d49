import { execFile } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { Index } from "../../catalogue/chunks.ts";
import { catalogueOptions, senderNamesOf } from "../../catalogue/options.ts";
import { readerOf } from "../../catalogue/output.ts";
import { updateCatalogue } from "../../catalogue/update.ts";
import { chunksFolder, manifestPath, parseManifest } from "../../registry/entries.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { readConfiguration } from "../../service/settings.ts";
import { Clone } from "../helpers/clone.ts";
import { listen } from "../helpers/listen.ts";
import { Local, manual, wms } from "../helpers/local.ts";
import {
	cleanEnvironment,
	descendantsWith,
	forbidPriorities,
	root,
	signalIfThere,
} from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { sharedSuite, words } from "../helpers/world.ts";

const test = sharedSuite("the catalogue of the running service", async (use) => {
	const files = { "layers/23/23ax5t.json": manual };
	const local = use(await Local.open({ files, variables: { SITE: "on", BASE_PATH: "/rcs" } }));
	const clone = use(await Clone.of(local.repository));
	await inStep(local);
	return { local, clone };
});

async function inStep(local: Local): Promise<void> {
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
}

function put(local: Local, smallkey: string, body = manual): Promise<Response> {
	return local.write({ target: `/rcs/register/${smallkey}`, body });
}

async function layersIn(local: Local): Promise<number> {
	return (JSON.parse(await readFile(join(local.out, "index/index.json"), "utf8")) as { layers: number })
		.layers;
}

/** Path → content of the catalogue's files in a folder. */
async function filesOf(out: string): Promise<Map<string, string>> {
	const entries = await readdir(out, { recursive: true, withFileTypes: true });
	const files = new Map<string, string>();
	for (const entry of entries.filter((one) => one.isFile())) {
		const path = join(entry.parentPath ?? entry.path, entry.name).slice(out.length + 1);
		if (!targetNames.some((name) => path.startsWith(`${name}/`)))
			files.set(path, await readFile(join(out, path), "latin1"));
	}
	return files;
}

/** That the files are those of a whole build of the same commit. */
async function assertWhole(local: Local): Promise<void> {
	const configuration = readConfiguration({ BASE_PATH: "/rcs" });
	const senderNames = senderNamesOf(local.context.settings.senders);
	const options = catalogueOptions(configuration, { senderNames, canSend: true, isCompressed: true });
	const out = join(local.folder, "whole");
	await rm(out, { recursive: true, force: true });
	const layers = { repository: local.repository, commit: local.store.tip };
	await updateCatalogue(layers, out, options);
	const [given, expected] = [await filesOf(local.out), await filesOf(out)];
	// The chunks before the last change stay for who has read the manifest before.
	const named = parseManifest(expected.get(manifestPath) ?? "")?.chunks ?? [];
	for (const path of given.keys())
		if (path.startsWith(`${chunksFolder}/`) && !named.includes(path.replace(/\.(?:gz|br)$/, "")))
			given.delete(path);
	assert.equal([...given.keys()].sort(), [...expected.keys()].sort());
	for (const [path, text] of expected) if (!path.endsWith(".gz")) assert.is(given.get(path), text, path);
}

const catalogueWorkers = () => descendantsWith(process.pid, "catalogue-worker");

test("a PUT and a removal are in the index, the changes, the feed and the plain list", async ({ local }) => {
	for (const smallkey of ["abc", "abd", "abe"]) assert.is((await put(local, smallkey)).status, 201);
	assert.is((await local.write({ method: "DELETE", target: "/rcs/register/abd" })).status, 204);
	await inStep(local);
	assert.is(await layersIn(local), 3);
	const feed = await readFile(join(local.out, "changes/feed.xml"), "utf8");
	assert.match(feed, "<title>abd: removed · retirée</title>");
	const entry = new Index(readerOf(local.out)).find(["abc"])[0];
	assert.is(entry?.sender, "Office of Maps · Bureau des cartes");
	for (const [path, text] of await filesOf(local.out))
		if (path.startsWith("index/")) assert.not.match(text, "jstest", path);
});

test("a push of so many layers that the range is from nothing is in the catalogue, too", async (scene) => {
	const { local, clone } = scene;
	await clone.git("pull", "-q");
	const keys = Array.from({ length: 1_200 }, (_, index) => `p${index.toString(36)}x`);
	await clone.commit(
		Object.fromEntries(keys.map((key) => [`layers/${key.slice(0, 2)}/${key}.json`, wms(key)])),
	);
	const before = local.store.tip;
	assert.ok(await clone.push());
	await eventually(() => local.store.tip !== before);
	assert.is((await put(local, "after")).status, 201);
	await inStep(local);
	assert.is(await layersIn(local), 1_204);
});

test("deleted files of the catalogue are made again, and a killed process is replaced", async ({ local }) => {
	const before = catalogueWorkers();
	await rm(join(local.out, "index"), { recursive: true });
	await rm(join(local.out, "en/index.html"));
	const isThere = () =>
		layersIn(local).then(
			(count) => count === 1_204,
			() => false,
		);
	await eventually(isThere);
	await inStep(local);
	// The process that has made everything anew ends, and the next one takes its place.
	let next: number[] = [];
	await eventually(() => {
		next = catalogueWorkers().filter((pid) => !before.includes(pid));
		return next.length > 0;
	});
	for (const pid of next) signalIfThere(pid, "SIGKILL");
	assert.is((await put(local, "again")).status, 201);
	await eventually(async () => (await layersIn(local)) === 1_205);
	await assertWhole(local);
	assert.equal(local.reported, []);
});

test("the catalogue is served below the base path, with the headers of each kind, compressed, and not written to", async (scene) => {
	const { local } = scene;
	const { origin, end } = await listen(local);
	const get = (path: string, init: RequestInit = {}) =>
		fetch(`${origin}${path}`, { redirect: "manual", ...init });
	try {
		const page = await get("/rcs/");
		assert.is(page.status, 200);
		assert.is(page.headers.get("content-type"), "text/html; charset=utf-8");
		assert.is(page.headers.get("cache-control"), "no-cache");
		assert.match(
			page.headers.get("content-security-policy") ?? "",
			/script-src 'self';.*frame-ancestors 'none'/,
		);
		assert.not.match(page.headers.get("content-security-policy") ?? "", /unsafe|\*/);
		for (const path of [
			"/rcs/index/index.json",
			"/rcs/changes/index.json",
			"/rcs/changes/feed.xml",
			"/rcs/schemas/openapi.json",
		]) {
			const found = await get(path);
			assert.is(found.status, 200, path);
			assert.is(found.headers.get("access-control-allow-origin"), "*", path);
			const kept = path === "/rcs/index/index.json" ? "no-cache" : "max-age=60";
			assert.match(found.headers.get("cache-control") ?? "", kept, path);
			assert.is(
				found.headers.get("content-encoding"),
				(await found.text()).length > 1_000 ? "gzip" : null,
				path,
			);
			const etag = found.headers.get("etag") ?? "";
			assert.is((await get(path, { headers: { "If-None-Match": etag } })).status, 304, path);
			assert.is((await get(path, { method: "HEAD" })).status, 200, path);
			assert.is(
				(await get(path, { headers: { "Accept-Encoding": "gzip;q=0" } })).headers.get("content-encoding"),
				null,
			);
		}
		for (const [path, type, text] of [
			["en/changes/", "text/html; charset=utf-8", '<span class="kind">Added</span>'],
			["fr/health/", "text/html; charset=utf-8", "État des couches"],
			["fr/publisher/office-of-maps-bureau-des-cartes", "text/html; charset=utf-8", "<h1>Office of Maps"],
			["publisher/office-of-maps-bureau-des-cartes.csv", "text/csv; charset=utf-8", "title_fr"],
			["publisher/office-of-maps-bureau-des-cartes.json", "application/json; charset=utf-8", "title_fr"],
			["publisher/office-of-maps-bureau-des-cartes.xml", "application/atom+xml; charset=utf-8", "<entry>"],
			["changes/layer/abc.xml", "application/atom+xml; charset=utf-8", "<entry>"],
		] as const) {
			const found = await get(`/rcs/${path}`);
			assert.is(found.status, 200, path);
			assert.is(found.headers.get("content-type"), type, path);
			assert.match(await found.text(), text, path);
			const etag = found.headers.get("etag") ?? "";
			assert.is((await get(`/rcs/${path}`, { headers: { "If-None-Match": etag } })).status, 304, path);
		}
		assert.is((await get("/rcs/fr/changes")).headers.get("location"), "/rcs/fr/changes/");
		const [script = ""] = /assets\/main-\w+\.js/.exec(await (await get("/rcs/en/")).text()) ?? [];
		const asset = await get(`/rcs/${script}`, { headers: { "Accept-Encoding": "gzip, br" } });
		assert.is(asset.headers.get("cache-control"), "public, max-age=31536000, immutable");
		assert.is(asset.headers.get("content-encoding"), "br");
		assert.is((await get("/rcs/fr?layer=abc")).headers.get("location"), "/rcs/fr/?layer=abc");
		assert.is((await get("/rcs")).headers.get("location"), "/rcs/");
		for (const path of words(`
			/ /rcs/index/none.json /rcs/index/../../senders.json /rcs/assets/.hidden /rcs/dist.catalogue
			/rcs/_headers /rcs/en/layer/none /rcs/en/publisher/none /rcs/publisher/none.csv
			/rcs/changes/layer/none.xml /rcs/collections/layers/items/none
		`))
			assert.is((await get(path)).status, 404, path);
		// Not in a file: made of the entries when they are asked for.
		for (const [path, part] of [
			["/rcs/en/layer/abc", '<link rel="canonical" href="../../en/layer/abc">'],
			["/rcs/fr/layer/abc?x", ">Office of Maps · Bureau des cartes</a></dd>"],
			["/rcs/list/fr/", '<a href="../../fr/layer/abc">'],
			["/rcs/collections/layers/items?ids=abc", '"numberMatched":1'],
			["/rcs/ogc/collections/layers/items/abc", '"id":"abc"'],
		] as const) {
			const found = await get(path);
			assert.is(found.status, 200, path);
			assert.ok((await found.text()).includes(part), path);
		}
		const missing = await get("/rcs/foo/bar");
		assert.is(missing.status, 404);
		assert.match(await missing.text(), '<a href="../fr/">Vers les couches cartographiques</a>');
		assert.is(await (await get("/rcs/v0.9/doc/en/none")).text(), "", "what viewers read has no page");
		assert.is((await get("/rcs/en/", { method: "POST" })).status, 405);
		assert.is((await get("/rcs/en/", { method: "PUT" })).status, 404);
	} finally {
		await end();
	}
});

test("the catalogue's process serves several changes, and is replaced once it uses much memory", async (scene) => {
	const { local } = scene;
	/** The processes, once the one that the next change finds has been started. */
	const afterPut = async (smallkey: string) => {
		assert.is((await put(local, smallkey)).status, 201);
		await inStep(local);
		await eventually(() => catalogueWorkers().length === 1);
		return catalogueWorkers();
	};
	const first = await afterPut("small1");
	assert.equal(await afterPut("small2"), first);
	await local.stop();
	local.catalogueLimits = { maxIdleBytes: 1 };
	await local.start();
	const [large] = await afterPut("large1");
	assert.is((await put(local, "large2")).status, 201);
	await eventually(() => catalogueWorkers().length === 1 && catalogueWorkers()[0] !== large);
	await inStep(local);
	assert.is(await layersIn(local), 1_209);
	local.catalogueLimits = {};
	await local.restart();
});

test("the catalogue's process works at the same priority where a lower one cannot be set", async (scene) => {
	const { local } = scene;
	const priorities = () => catalogueWorkers().map((pid) => getPriority(pid));
	await eventually(() => catalogueWorkers().length === 1);
	assert.equal(priorities(), [Math.min(getPriority() + 10, 19)]);
	await local.stop();
	const restore = forbidPriorities();
	try {
		await local.start();
		assert.is((await put(local, "priority")).status, 201);
		await inStep(local);
		await eventually(() => catalogueWorkers().length === 1);
		assert.equal(priorities(), [getPriority()]);
		assert.equal(local.reported, []);
	} finally {
		restore();
	}
});

test("after a restart the catalogue is updated, and with SITE=off nothing of it is left", async (scene) => {
	const { local } = scene;
	await local.stop();
	assert.equal(catalogueWorkers(), []);
	await local.start();
	assert.is((await put(local, "later")).status, 201);
	await inStep(local);
	assert.is(await layersIn(local), 1_211);
	await local.stop();
	local.variables.SITE = "off";
	await local.start();
	assert.equal((await readdir(local.out)).sort(), [...targetNames].sort());
	assert.is(local.pages, null);
});

test("a process that cannot be started is a warning, and is started later", async ({ local }) => {
	await local.stop();
	local.variables.SITE = "on";
	const { execPath } = process;
	process.execPath = "/nowhere/node";
	const failed = () => local.warnings.filter((text) => /cannot be updated: spawn .*ENOENT/.test(text));
	try {
		await local.start();
		await eventually(() => failed().length === 1);
		await local.restart();
		await eventually(() => failed().length === 2);
		assert.is((await put(local, "unstarted")).status, 201);
	} finally {
		process.execPath = execPath;
	}
	await inStep(local);
	assert.ok(local.warnings.includes("the catalogue is current again"));
});

const withoutFiles = `
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { openCatalogue } from "./service/catalogue-process.ts";
const said = [];
const log = { info() {}, warn: (text) => said.push(text), error: (error) => said.push(error) };
const open = [];
let attempts = 0;
// Called just before a process is started.
const options = () => {
	attempts += 1;
	try {
		for (;;) open.push(openSync("/dev/null", "r"));
	} catch {}
	return {};
};
const catalogue = openCatalogue({ repository: "none", out: "none", options, log, limits: { retryMs: 50 } });
catalogue.changed("none");
while (said.length === 0 || attempts < 3) await sleep(10);
for (const file of open) closeSync(file);
console.log(...said);
await catalogue.close();
console.log("closed");
`;

test("too many open files are a warning, and do not end the service", async () => {
	const node = [process.execPath, "--import", "tsx", "--input-type=module", "--eval", withoutFiles];
	const words = ["-c", 'ulimit -n 120 && exec "$@"', "sh", ...node];
	const { stdout } = await promisify(execFile)("sh", words, { cwd: root, env: cleanEnvironment({}) });
	assert.match(stdout, /^the catalogue cannot be updated: spawn .* EMFILE\nclosed\n$/);
});

test.run();
