import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { closeAll, openLocal } from "../../service/composition.ts";
import { readConfiguration } from "../../service/settings.ts";
import { cleanEnvironment, root, runScript, ServerProcess } from "../helpers/process.ts";
import { suite } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";

const test = freshSuite("a service ends", async (use) => {
	const folder = use(await temporaryFolder()).path;
	const server = await ServerProcess.start({ DATA_DIR: folder });
	use(() => server.stop("SIGKILL"));
	return { folder, server };
});

test("on Ctrl-C it says what it finishes, after nothing but its welcome", async ({ server }) => {
	assert.ok(server.output.endsWith("/v0.9/doc/en/my-layer\n\n"), server.output);
	assert.is(await server.stop("SIGINT"), 0);
	assert.match(
		server.output,
		"\nEnding: what was accepted is answered and stored first. Once more ends it at once.\n",
	);
});

test("a closed log ends neither the service nor a write, and SIGHUP ends it gracefully", async (scene) => {
	const { server, folder } = scene;
	server.closeLog();
	const words = ["piped", "tests/fixtures/layers/to/toporama.json", "--url", server.url];
	for (let write = 0; write < 3; write += 1) {
		const { code, stderr } = await runScript("put", words, { DATA_DIR: folder });
		assert.is(code, 0, stderr);
	}
	assert.is((await fetch(`${server.url}/v0.9/doc/en/piped`)).status, 200);
	assert.is(await server.stop("SIGHUP"), 0);
	assert.match(server.output, "\nEnding: what was accepted is answered and stored first.");
});

test("a signal to npm start gets to the service, whatever shell npm has", async ({ folder }) => {
	const env = cleanEnvironment({ DATA_DIR: join(folder, "other"), PORT: "0", HARVEST: "off", SITE: "off" });
	const npm = spawn("npm", ["start"], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
	let output = "";
	for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (data) => (output += data));
	const closed = new Promise((resolve) => npm.once("close", resolve));
	await eventually(() => output.includes("Register a first layer"));
	npm.kill("SIGTERM");
	// Its output is closed only when the service has ended, too.
	await closed;
	assert.match(output, "\nEnding: what was accepted is answered and stored first.");
});

const parts = suite("the parts of a service");

parts("a part that fails to close keeps no other one open, and its error is thrown", async () => {
	const closed: string[] = [];
	const fail = (text: string) => async () => {
		throw new Error(text);
	};
	const closing = [() => closed.push("first"), fail("early"), () => closed.push("third"), fail("late")];
	const error = await closeAll(closing).catch((one: Error) => one.message);
	assert.is(error, "late");
	assert.equal(closed, ["third", "first"]);

	const { path, remove } = await temporaryFolder();
	const configuration = readConfiguration({ DATA_DIR: path, HARVEST: "off" });
	const service = await openLocal(configuration, new Map(), { seed: async () => [] });
	const { close } = service.store;
	service.store.close = () => close().then(fail("the store"));
	const failure = await service.close().catch((one: Error) => one.message);
	assert.is(failure, "the store");
	assert.ok(existsSync(join(path, "fragments")), "the snapshot is written nevertheless");
	await remove();
});

test.run();
parts.run();
