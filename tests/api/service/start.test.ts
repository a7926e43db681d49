import { type ChildProcess, spawn } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { copyLayers, secrets, wms } from "../../helpers/local.ts";
import { cleanEnvironment, descendantsWith, exits, root, runScript } from "../../helpers/process.ts";
import { serve } from "../../helpers/serving.ts";
import { signed } from "../../helpers/signed.ts";
import { eventually } from "../../helpers/wait.ts";
import { folderSuite, sharedSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";

interface Scene {
	folder: string;
	npm: ChildProcess;
	output: () => string;
	closed: Promise<unknown>;
	url: string;
}

const test = sharedSuite<Scene>("npm start", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	await writeFile(join(folder, "foreign.txt"), "not ours");
	const settings = { DATA_DIR: folder, SENDERS: JSON.stringify({ jstest: secrets.jstest }) };
	const env = cleanEnvironment({ ...settings, PORT: "0", HARVEST: "off", SITE: "off" });
	const npm = spawn("npm", ["start"], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
	use(() => npm.kill("SIGKILL"));
	let output = "";
	for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (data) => (output += data));
	const closed = new Promise((resolve) => npm.once("close", resolve));
	await eventually(() => npm.exitCode !== null || output.includes("Register a first layer"));
	const url = /^Serving 0 layers at (\S+)$/m.exec(output)?.[1];
	assert.ok(url, output);
	return { folder, npm, output: () => output, closed, url };
});

async function put({ url }: Scene, smallkey: string): Promise<number> {
	const path = `/register/${smallkey}`;
	return (await fetch(url + path, await signed(path, wms(smallkey)))).status;
}

test("a signed PUT is answered with 201, and the layer is read back and in a file", async (scene) => {
	const { url, folder } = scene;
	assert.is((await fetch(`${url}/v0.9/doc/en/roads`)).status, 404);
	assert.is(await put(scene, "roads"), 201);
	const fragment = await (await fetch(`${url}/v0.9/doc/en/roads`)).text();
	assert.match(fragment, '"rcs.roads.en"');
	assert.is(await readFile(join(folder, "dist/v0.9/doc/en/roads"), "utf8"), fragment);
	const docs = await (await fetch(`${url}/v0.9/docs/en/roads,none`)).json();
	assert.equal(docs, [JSON.parse(fragment), { error_code: 404, smallkey: "none" }]);
	assert.is(await readFile(join(folder, "foreign.txt"), "utf8"), "not ours");
});

test("the log has each write and refusal; no secret is in it or a child", async ({ npm, url, output }) => {
	await fetch(`${url}/v0.9/doc/en/absent?secret=1`);
	const lines = () => (output().match(/^\{.*$/gm) ?? []).map((line) => JSON.parse(line));
	const lineOf = (path: string) => lines().find((line) => line.path === path);
	await eventually(() => lineOf("/v0.9/doc/en/absent") !== undefined);
	const { time, milliseconds, id, ...line } = lineOf("/register/roads");
	assert.equal(line, { method: "PUT", path: "/register/roads", status: 201, sender: "jstest" });
	assert.not.ok(lines().some(({ method, status }) => method === "GET" && status === 200));
	assert.not.match(output(), secrets.jstest);
	assert.not.match(output(), "secret=1");
	let children: number[] = [];
	// After a repack the git that reads is started again by the next question.
	await eventually(async () => {
		await fetch(`${url}/status/roads`);
		children = descendantsWith(npm.pid as number, "git ");
		return children.length > 0;
	});
	for (const pid of children) {
		const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
		assert.not.match(environment, secrets.jstest);
	}
});

test("a closed log ends neither the service nor a write; SIGTERM ends it in order, whatever shell npm has", async (scene) => {
	scene.npm.stdout?.destroy();
	for (const smallkey of ["first", "second", "third"]) assert.is(await put(scene, smallkey), 201);
	scene.npm.kill("SIGTERM");
	// Its output is closed only when the service has ended, too.
	await scene.closed;
	assert.match(scene.output(), "\nEnding: what was accepted is answered and stored first.");
});

const trial = folderSuite("a start");

trial("a trial starts with the checkout's examples, production with none", async ({ folder: path }) => {
	await copyLayers(path);
	const files = await glob("layers/*/*.json", { cwd: path, ignore: ["**/*.service.json"] });
	const keys = files.map((file) => basename(file, ".json"));
	process.chdir(path);
	using _ = { [Symbol.dispose]: () => process.chdir(root) };
	await using trial = await serve({ SITE: "off" });
	const answer = await fetch(`${trial.url}/v0.9/docs/fr/${[...keys, "none"].join()}`);
	const layers = (await answer.json()) as { layers?: object }[];
	assert.equal(layers.pop(), { error_code: 404, smallkey: "none" });
	assert.is(layers.filter(({ layers }) => layers !== undefined).length, keys.length);
	assert.match(trial.output(), `Serving ${keys.length} layers at `);
	const [, folder = ""] = /it back, in (.*):\n\n {2}DATA_DIR=\S+\.data npx /.exec(trial.output()) ?? [];
	assert.is(join(folder, "/"), root);
	writeFiles(path, { "data/senders.json": '{"1":"imported"}' });
	const DATA_DIR = join(path, "data");
	await using production = await serve({ SITE: "off", NODE_ENV: "production", DATA_DIR });
	assert.match(production.output(), "Serving 0 layers at ");
	assert.not.match(production.output(), "--sender 1");
});

trial("a first start makes a sender with a random secret in a file of mode 0600", async ({ folder }) => {
	const data = join(folder, "it's data");
	await using server = await serve({ DATA_DIR: data, SITE: "off" });
	const path = join(data, "senders.json");
	assert.is((await stat(path)).mode & 0o777, 0o600);
	const [[id, { key: secret }] = ["", { key: "" }]] = Object.entries<{ key: string }>(
		JSON.parse(await readFile(path, "utf8")),
	);
	assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
	assert.match(server.output(), `${path}, created now with the sender ${id}`);
	assert.not.match(server.output(), secret);
	const words = ["docs/example-layer.json", "--url", server.url, "--sender", id];
	const command = `'\\''s data' npx fragment-publisher put my-layer ${words.join(" ")} && curl `;
	assert.match(server.output(), command);
	assert.match(server.output(), `npx fragment-publisher sender show ${id} --secret`);
	await exits(runScript("put", ["my-layer", ...words], { DATA_DIR: data }), 0);
	assert.is((await fetch(`${server.url}/v0.9/doc/en/my-layer`)).status, 200);
});

trial("SENDERS={} serves, and says that no one can publish", async ({ folder }) => {
	await using standby = await serve({ DATA_DIR: folder, SENDERS: "{}", SITE: "off" });
	assert.match(standby.output(), "\nSenders: none in SENDERS, so no one can publish\n");
	assert.not.match(standby.output(), "fragment-publisher put");
	assert.not((await readdir(folder)).includes("senders.json"));
});

test.run();
trial.run();
