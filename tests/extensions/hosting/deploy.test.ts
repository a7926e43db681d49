import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { makeContext, readSettings } from "../../../api/worker/worker.ts";
import { deploymentEnvironment, readSecretFiles } from "../../../extensions/hosting/commands/deploy.ts";
import { runScript, warns } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("npx fragment-publisher deploy");

test("wrong secrets are refused before anything is begun, and none is printed", async ({ folder }) => {
	const path = join(folder, "file");
	for (const [name, text, reason] of [
		["SENDERS", '{"a": "one secret", "b": "one secret"}', "file: senders a and b must not share a secret"],
		["GITHUB_APP_PRIVATE_KEY", "one secret", "file: is not the private key of an App in PEM"],
		["GITHUB_TOKEN", "one secret".repeat(600), "file: has 6000 bytes, and a worker's secret takes 5000"],
		["GITHUB_TOKEN", "\n", "file: is empty"],
	] as const) {
		await writeFile(path, text);
		const { stdout, stderr } = await warns(runScript("deploy", ["--secret", `${name}=${path}`]), 2, reason);
		assert.not.match(stderr, "one secret");
		assert.is(stdout, "");
	}
	const unknown = await runScript("deploy", ["--secret", `AWS_SECRET=${path}`]);
	assert.match(unknown.stderr, "It must be NAME=FILE, NAME one of SENDERS, GITHUB_TOKEN");
	const nameless = await runScript("deploy", ["--objects"]);
	assert.match(nameless.stderr, "OBJECTS_BUCKET: must be set, to the bucket's name");
});

test("senders too large for one secret are split, and the worker joins them again", async ({ folder }) => {
	const path = join(folder, "senders.json");
	const names = Array.from({ length: 200 }, (_, index) => `publisher-${index}`);
	const senders = Object.fromEntries(
		names.map((id) => [id, { key: `the secret of the é sender ${id}`, name: "Énergie 🗺" }]),
	);
	await writeFile(path, JSON.stringify(senders, null, 2));
	const secrets = await readSecretFiles([{ name: "SENDERS", path }]);
	assert.ok(secrets.size > 4, `${secrets.size} parts`);
	for (const [name, text] of secrets) assert.ok(Buffer.byteLength(text) <= 5_000, name);
	const read = (bindings: object) =>
		makeContext({ ...bindings }, readSettings({ ...bindings }), { error: () => undefined }).settings.senders;
	const whole = read({ SENDERS: JSON.stringify(senders) });
	assert.is(whole.size, 200);
	assert.equal([...read(Object.fromEntries(secrets))], [...whole]);
	// The parts of an earlier deployment do not count.
	await writeFile(path, JSON.stringify({ one: "the only one's secret" }));
	const later = await readSecretFiles([{ name: "SENDERS", path }]);
	assert.equal([...read(Object.fromEntries([...secrets, ...later])).keys()], ["one"]);
});

test("wrangler gets the variables that a deployment needs, and no other secret", () => {
	const needed = { PATH: "/bin", HOME: "/home/a", CLOUDFLARE_API_TOKEN: "token", HTTPS_PROXY: "http://p:1" };
	const secrets = { SENDERS: '{"a":"secret"}', GITHUB_TOKEN: "secret", AWS_SECRET_ACCESS_KEY: "secret" };
	const others = { ...secrets, NODE_OPTIONS: "--require=./secret.js", npm_config_secret: "secret" };
	assert.equal(deploymentEnvironment({ ...others, ...needed }), needed);
});

test.run();
