import { copyFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { targetNames } from "../../../registry/targets/table.ts";
import { writeHostingFiles } from "../../../site/build/files.ts";
import { pageHeaders } from "../../../site/http/site-headers.ts";
import { versionLine } from "../../../store/files/version.ts";
import { ask, errorsOf, write } from "../../conformance/client.ts";
import { senders, wms } from "../../conformance/engine.ts";
import { buildDist, startWorkers, workers } from "../../conformance/engines.ts";
import { manual } from "../../helpers/local.ts";
import { descendantsWith, exits, runScript, runScriptProcess, warns } from "../../helpers/process.ts";
import { answering, folderSuite, runUnless, sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { addressOf, assertPageHeaders, contentOf, pages, writePages } from "./pages.ts";

interface Scene {
	folder: string;
	dist: string;
	engine: Awaited<ReturnType<typeof startWorkers>>;
}

const base = "/rcs";
const keys = ["layer-7", "layer-8"];

/** npx fragment-publisher workers without a store, below a prefix, as on Cloudflare's paid plan. */
const test = sharedSuite<Scene>("npx fragment-publisher workers", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const layers = new Map(keys.map((key) => [key, wms(key)]));
	const dist = await buildDist(layers.set("a+b=c", wms("plus")), folder);
	await writePages(dist);
	await writeHostingFiles(dist, false, targetNames, true);
	const TMPDIR = join(folder, "tmp");
	await mkdir(TMPDIR);
	const env = { BASE_PATH: base, SITE: "on", DOCS_MAX_KEYS: "900", SENDERS: JSON.stringify(senders) };
	return { folder, dist, engine: await startWorkers(dist, [], { ...env, TMPDIR }) };
});

/** The folders that runs of the engine have made. */
async function runFolders(folder: string): Promise<string[]> {
	return (await readdir(join(folder, "tmp"))).filter((name) => name.startsWith("workers-"));
}

test("healthz and every read are below BASE_PATH", async ({ engine }) => {
	const get = (path: string) => ask(engine.origin, "GET", path);
	assert.is((await get(`${base}/healthz`)).text, `ok ${versionLine()}\n`);
	for (const key of ["layer-7", "a+b=c", "a%2Bb%3Dc"]) {
		const answer = await get(`${base}/v0.9/doc/en/${key}`);
		assert.is(answer.status, 200, key);
		assert.is(answer.headers["content-type"], "application/json; charset=utf-8");
	}
	assert.is((await get(`${base}/v0.9/doc/de/layer-7`)).status, 400);
	assert.is((await get(`${base}/v0.9/doc/en/none`)).status, 404);
	assert.is((await get("/healthz")).status, 404);
	assert.is((await get("/v0.9/docs/en/layer-7")).status, 404);
});

test("files of the catalogue have the same headers below BASE_PATH, from the worker", async ({ engine }) => {
	for (const path of pages) {
		const expected: Record<string, string | undefined> = pageHeaders(path, true);
		for (const prefix of ["", base]) {
			// A page is asked for as its folder; what stands below no prefix is the files under their own names.
			const target = prefix === "" ? `/${path}` : `${prefix}${addressOf(path)}?q=1`;
			const answer = await ask(engine.origin, "GET", target);
			assert.equal([answer.status, answer.text], [200, contentOf(path)], prefix + path);
			assertPageHeaders(path, answer.headers, prefix + path);
			const type = (text = "") => text.split(";")[0]?.replace("application/xml", "application/atom+xml");
			assert.is(type(answer.headers["content-type"]), type(expected["Content-Type"]), prefix + path);
		}
	}
	const moved = await ask(engine.origin, "GET", `${base}/en?q=1`);
	assert.equal([moved.status, moved.headers.location], [301, `${base}/en/?q=1`]);
	for (const path of ["/index/none.json", "/_headers", "/list.json.gz"])
		assert.is((await ask(engine.origin, "GET", base + path)).status, 404, path);
});

test("without a store a write is verified, and then refused for that reason", async ({ engine }) => {
	const target = `${base}/register/new`;
	const unsigned = await write(engine.origin, "PUT", target, { body: manual, secret: "another" });
	assert.is(unsigned.status, 401);
	const elsewhere = await write(engine.origin, "PUT", target, { body: manual, path: "/register/new" });
	assert.is(elsewhere.status, 401, "the prefix is part of the signed path");
	for (const [method, body] of [
		["PUT", manual],
		["DELETE", ""],
	] as const) {
		const answer = await write(engine.origin, method, target, { body });
		assert.is(answer.status, 503);
		assert.match(errorsOf(answer)[0] ?? "", /GITHUB_REPOSITORY/);
		assert.match(answer.headers["retry-after"] ?? "", /^\d+$/);
	}
	assert.is(
		(await write(engine.origin, "PUT", target, { body: "{}" })).status,
		400,
		"checks come in their order",
	);
});

test("variables are in a file that only its owner reads, and in no output", async ({ engine, folder }) => {
	const [run = ""] = await runFolders(folder);
	const { mode } = await stat(join(folder, "tmp", run, ".dev.vars"));
	assert.is(mode & 0o777, 0o600);
	for (const secret of [senders.jstest, senders.narrow.key]) assert.not.ok(engine.log().includes(secret));
});

test("with --objects pictures are in the local bucket, byte for byte", async ({ dist, folder }) => {
	const picture = Buffer.from([0x52, 0x49, 0x46, 0x46, 0xff, 0xfe, 0x80, 0]);
	const place = join(folder, "with-picture");
	await mkdir(join(place, "v0.9/doc/en"), { recursive: true });
	await mkdir(join(place, "assets/pictures/ab"), { recursive: true });
	await copyFile(join(dist, "v0.9/doc/en/layer-7"), join(place, "v0.9/doc/en/layer-7"));
	await writeFile(join(place, "assets/pictures/ab/0123456789.webp"), picture);
	const engine = await startWorkers(place, ["--objects"], { SITE: "on" });
	try {
		const answer = await fetch(`${engine.origin}/assets/pictures/ab/0123456789.webp`);
		assert.equal([answer.status, answer.headers.get("Content-Type")], [200, "image/webp"]);
		assert.equal(Buffer.from(await answer.arrayBuffer()), picture);
	} finally {
		await engine.stop();
	}
});

test("the engine's processes have a temporary folder of the run", async ({ folder }) => {
	const engines = descendantsWith(process.pid, "workerd", "serve");
	assert.ok(engines.length > 0);
	for (const pid of engines)
		assert.match(await readFile(`/proc/${pid}/environ`, "utf8"), `\0TMPDIR=${join(folder, "tmp/workers-")}`);
});

test("SIGTERM ends the engine with it, and removes its folder", async ({ engine, folder }) => {
	await engine.stop();
	assert.equal(await runFolders(folder), []);
	const gone = await fetch(`${engine.origin}${base}/healthz`).then(
		() => false,
		() => true,
	);
	assert.ok(gone, "nothing listens any more");
});

test("a bad variable, a taken port or a wrong build is reported before the start", async ({ folder }) => {
	const env = { DATA_DIR: join(folder, "data"), PORT: "0" };
	await warns(runScript("workers", [], { ...env, DOCS_MAX_KEYS: "many" }), 2, /^DOCS_MAX_KEYS: /);
	await using taken = await answering();
	const busy = await exits(runScript("workers", [], { ...env, PORT: String(taken.port) }), 2);
	assert.match(busy.stderr, /^PORT: cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
	await warns(runScript("workers", ["--layers", join(folder, "none")], env), 2, /none: is not a folder/);
	const quotes = await runScript("workers", ["--dist", join(folder, "dist")], {
		...env,
		METADATA_URL: "http://x/{0}'`",
	});
	assert.is(quotes.code, 2);
	assert.match(quotes.stderr, /METADATA_URL: must not hold both/);
});

/** With wrangler itself, which is asked for nothing but its dry run. */
const dryRun = folderSuite("npx fragment-publisher deploy");

dryRun("a dry run goes through wrangler, for assets and for a bucket", async ({ folder }) => {
	const dist = await buildDist(new Map([["one", wms("one")]]), folder);
	const assets = await exits(runScriptProcess("deploy", ["--dist", dist, "--dry-run"]), 0);
	for (const text of ["env.ASSETS", "--dry-run: exiting now"]) assert.match(assets.stdout, text);
	const path = join(folder, "senders.json");
	await writeFile(path, JSON.stringify({ publisher: "a secret of a trial" }));
	const words = ["--layers", join(folder, "layers"), "--dry-run", "--objects", "--secret", `SENDERS=${path}`];
	const objects = await exits(runScriptProcess("deploy", words, { OBJECTS_BUCKET: "maps-fragments" }), 0);
	assert.match(objects.stdout, "env.OBJECTS (maps-fragments)");
	assert.not.match(objects.stdout, "env.ASSETS");
	assert.not.match(objects.stdout + objects.stderr, "a secret of");
	assert.match(objects.stderr, "senders.json: the sender publisher of a trial may change every layer");
});

runUnless(workers.missing, test, dryRun);
