import { readFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { createWriteLimit } from "../../api/limits.ts";
import { parseSenders } from "../../api/senders.ts";
import { closeAll, openLocal } from "../../api/service/composition.ts";
import type { Extension } from "../../api/service/extensions.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { targets } from "../../registry/targets/table.ts";
import { createSite } from "../../site/extension.ts";
import { readSite } from "../../site/process/site-settings.ts";
import { manual, secrets } from "../helpers/handlers.ts";
import { listen } from "../helpers/listen.ts";
import { exits, root, runScript, warns } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { answering, temporaryFolder, writeFiles } from "../helpers/world.ts";

const core = [createSite({ worker: new URL("../../scripts/catalogue.ts", import.meta.url) })];

const runCore = ([name = "", ...words]: string[], env: Record<string, string>) =>
	runScript(name, words, env, {}, core);

/** Nothing is looked at or tried again in the background. */
const quiet = { pollMs: 3_600_000 };

async function startCore(dataDir: string, extensions: readonly Extension[]) {
	const configuration = readConfiguration({ DATA_DIR: dataDir }, readSite);
	const senders = JSON.stringify({ jstest: secrets.jstest });
	const service = await openLocal(configuration, parseSenders(senders, ""), {
		extensions,
		seed: async () => [],
		storeLimits: quiet,
	});
	const { context, file } = service;
	const limitWrites = createWriteLimit(configuration.writesPerMinute);
	const { origin, end } = await listen({ context: { ...context, limitWrites }, file });
	const dispose = async () => {
		await end();
		await service.close();
	};
	return { url: origin, senders, [Symbol.asyncDispose]: dispose };
}

test("without extensions a service takes a PUT, serves every target, builds and shows its catalogue", async () => {
	await using folder = await temporaryFolder();
	const dataDir = join(folder.path, "data");
	await using service = await startCore(dataDir, core);
	const { url, senders } = service;
	const get = (path: string) => fetch(url + path);
	writeFiles(folder.path, { "wms.json": manual, "more/aa/aa.json": manual });
	const [layer, more] = [join(folder.path, "wms.json"), join(folder.path, "more")];
	const send = ["--url", url, "--sender", "jstest"];
	for (const words of [
		["put", "limits", layer, ...send],
		["put", "aa", join(more, "aa/aa.json"), ...send],
		["validate", join(more, "aa/aa.json")],
	])
		await exits(runCore(words, { SENDERS: senders }), 0);
	for (const { doc } of targets) assert.is((await get(`/${doc}/en/limits`)).status, 200, doc);
	assert.is(((await (await get("/v0.9/docs/en/limits,aa,none")).json()) as object[]).length, 3);
	const status = (await (await get("/status/limits")).json()) as { harvest: object };
	assert.equal(status.harvest, { state: "none" });
	await eventually(async () => (await get("/en/layer/aa")).status === 200);
	assert.match(await (await get("/list/")).text(), "en/layer/limits");
	assert.is((await get("/index/index.json")).status, 200);
	assert.is((await get("/collections")).status, 404);
	const out = join(folder.path, "dist");
	await exits(runCore(["build", "--layers", more, "--out", out], { DATA_DIR: dataDir }), 0);
	assert.match(await readFile(join(out, "v0.9/doc/en/aa"), "utf8"), "limits");
	assert.match(await readFile(join(out, "en/index.html"), "utf8"), "<html");
	// A command of an extension is not known.
	await exits(runCore(["harvest"], {}), 2);
});

test("a start that fails says why, even if a part cannot be closed", async () => {
	await using folder = await temporaryFolder();
	const fail = (reason: string) => () => {
		throw new Error(reason);
	};
	const extensions: Extension[] = [
		{ name: "first", start: async () => ({ close: fail("it cannot be closed") }) },
		{ name: "second", start: fail("it cannot be started") },
	];
	assert.is(await startCore(folder.path, extensions).then(String, String), "Error: it cannot be started");
	const closed: string[] = [];
	const parts = ["first", "last"].map((name) => () => {
		closed.push(name);
		throw new Error(name);
	});
	assert.is(await closeAll(parts).then(String, String), "Error: last");
	assert.equal(closed, ["last", "first"]);
	await using holder = await answering();
	const env = { DATA_DIR: folder.path, PORT: String(holder.port) };
	await warns(runScript("serve", [], env, {}, extensions.slice(0, 1)), 2, [
		/^PORT, HOST/m,
		"senders.json: was not there, and is new",
	]);
});

async function filesCalled(task: () => Promise<unknown>): Promise<string[]> {
	const session = new Session();
	session.connect();
	try {
		await session.post("Profiler.enable");
		await session.post("Profiler.startPreciseCoverage", { callCount: true });
		await session.post("Profiler.takePreciseCoverage");
		await task();
		const { result } = await session.post("Profiler.takePreciseCoverage");
		const called = result.filter(
			({ url, functions }) =>
				url.startsWith("file:") && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
		);
		const names = called.map(({ url }) => relative(root, fileURLToPath(url)));
		return names.filter((name) => /^(?:registry|store|publish|api)\//.test(name)).sort();
	} finally {
		session.disconnect();
	}
}

test("one PUT passes the files that docs/architecture.md names, at most 40", async () => {
	await using folder = await temporaryFolder();
	await using service = await startCore(folder.path, []);
	const put = async (smallkey: string) => {
		const path = `/register/${smallkey}`;
		const body = manual.replaceAll("http:", "https:").replace("toporama_en", "toporama_fr");
		const answer = await fetch(service.url + path, await signed(path, body));
		const { published, warnings } = (await answer.json()) as { published: boolean; warnings: string[] };
		assert.equal([answer.status, published, warnings], [201, true, []]);
	};
	await put("first");
	const called = await filesCalled(() => put("second"));
	const page = await readFile("docs/architecture.md", "utf8");
	const [, part = ""] = /### One PUT, file by file\n([\s\S]*?)\n## /.exec(page) ?? [];
	assert.equal([...part.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name).sort(), called);
	assert.ok(called.length <= 40, `${called.length}`);
});

test.run();
