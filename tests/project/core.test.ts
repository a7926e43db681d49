import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { createNodeServer } from "../../api/node/serve.ts";
import { parseSenders } from "../../api/senders.ts";
import { openLocal } from "../../api/service/composition.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { run } from "../../scripts/main.ts";
import { createSite } from "../../site/extension.ts";
import { readSite } from "../../site/process/site-settings.ts";
import { manual, secrets } from "../helpers/handlers.ts";
import { cleanEnvironment } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder, writeFiles } from "../helpers/world.ts";

const core = [createSite({ worker: new URL("../../scripts/catalogue.ts", import.meta.url) })];

async function runCore(words: string[], env: Record<string, string>): Promise<[code: number, text: string]> {
	let text = "";
	const write = (line: string) => {
		text += `${line}\n`;
	};
	const io = {
		...{ print: write, warn: write, now: () => new Date(), ask: async () => null },
		interrupted: () => new AbortController().signal,
	};
	return [await run(words, cleanEnvironment(env), io, core), text];
}

test("without extensions a service takes a signed PUT, serves every target, builds and shows its catalogue", async () => {
	await using folder = await temporaryFolder();
	const dataDir = join(folder.path, "data");
	const configuration = readConfiguration({ DATA_DIR: dataDir }, readSite);
	const senders = JSON.stringify({ jstest: secrets.jstest });
	const service = await openLocal(configuration, parseSenders(senders, ""), {
		extensions: core,
		seed: async () => [],
	});
	const { context, file } = service;
	const served = createNodeServer({
		...{ context, file, log: () => undefined, allReads: false, count: () => undefined },
	});
	await new Promise<void>((resolve) => served.server.listen(0, "127.0.0.1", resolve));
	const address = served.server.address();
	const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
	const get = (path: string) => fetch(url + path);
	try {
		writeFiles(folder.path, { "wms.json": manual, "more/aa/aa.json": manual });
		const [layer, more] = [join(folder.path, "wms.json"), join(folder.path, "more")];
		const send = ["--url", url, "--sender", "jstest"];
		const [code, receipt] = await runCore(["put", "limits", layer, ...send], { SENDERS: senders });
		assert.is(code, 0, receipt);
		for (const words of [
			["register", more, ...send],
			["validate", join(more, "aa/aa.json")],
		]) {
			const [ended, text] = await runCore(words, { SENDERS: senders });
			assert.is(ended, 0, text);
		}
		for (const path of [
			"/v0.9/doc/en/limits",
			"/v1/doc/fr/limits",
			"/v2/doc/en/limits",
			"/ramp4/en/limits",
			"/terria/en/limits",
		])
			assert.is((await get(path)).status, 200, path);
		assert.is(((await (await get("/v0.9/docs/en/limits,aa,none")).json()) as object[]).length, 3);
		const status = (await (await get("/status/limits")).json()) as { harvest: object };
		assert.equal(status.harvest, { state: "none" });
		await eventually(async () => (await get("/en/layer/aa")).status === 200);
		assert.match(await (await get("/list/")).text(), "en/layer/limits");
		assert.is((await get("/index/index.json")).status, 200);
		assert.is((await get("/collections")).status, 404);
		const out = join(folder.path, "dist");
		assert.is((await runCore(["build", "--layers", more, "--out", out], { DATA_DIR: dataDir }))[0], 0);
		assert.match(await readFile(join(out, "v0.9/doc/en/aa"), "utf8"), "limits");
		assert.match(await readFile(join(out, "en/index.html"), "utf8"), "<html");
		assert.is((await runCore(["harvest"], {}))[0], 2, "a command of an extension is not known");
	} finally {
		await served.end();
		await service.close();
	}
});

test.run();
