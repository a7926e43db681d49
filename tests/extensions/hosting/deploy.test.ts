import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { makeContext } from "../../../api/worker/bindings.ts";
import { waitForAddress } from "../../../extensions/hosting/commands/deploy.ts";
import { deploymentEnvironment, readSecretFiles } from "../../../extensions/hosting/deployment.ts";
import { runScript, warns } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("npx fragment-publisher deploy");

/** Of publish.yml: GitHub makes empty texts of them. */
async function unsetSecrets(): Promise<Record<string, string>> {
	const text = await readFile(".github/workflows/publish.yml", "utf8");
	const names = Array.from(text.matchAll(/^ +([A-Z_]+): \$\{\{ secrets\./gm), ([, name]) => name as string);
	assert.ok(names.includes("CLOUDFLARE_API_TOKEN"));
	return Object.fromEntries(names.map((name) => [name, ""]));
}

test("more files than the plan takes are an error that names the way out", async ({ folder }) => {
	const dist = join(folder, "dist");
	await mkdir(join(dist, "v0.9/doc/en"), { recursive: true });
	for (let index = 0; index <= 20_000; index += 1) await writeFile(join(dist, `v0.9/doc/en/k${index}`), "");
	const { stdout, stderr } = await warns(runScript("deploy", ["--dist", dist, "--dry-run"]), 2, [
		/dist: has 20,001 files, and Cloudflare's free plan takes 20,000 in one deployment/,
		/--plan paid.* 100,000/,
		/deploy\/fill-bucket.sh dist, then npx fragment-publisher deploy --objects/,
	]);
	assert.is(stdout, "", "nothing was begun");
	const asWorkflow = await runScript("deploy", ["--dist", dist, "--dry-run"], await unsetSecrets());
	assert.is(asWorkflow.stderr, stderr, "with no variable set in the repository");
});

test("wrong secrets are refused before anything is begun, and none is printed", async ({ folder }) => {
	const path = join(folder, "file");
	const wrong: [string, string, string][] = [
		["SENDERS", '{"a": "one secret", "b": "one secret"}', "file: senders a and b must not share a secret"],
		["GITHUB_APP_PRIVATE_KEY", "one secret", "file: is not the private key of an App in PEM"],
		["GITHUB_TOKEN", "one secret".repeat(600), "file: has 6000 bytes, and a worker's secret takes 5000"],
		["GITHUB_TOKEN", "\n", "file: is empty"],
	];
	for (const [name, text, reason] of wrong) {
		await writeFile(path, text);
		const { stdout, stderr } = await warns(runScript("deploy", ["--secret", `${name}=${path}`]), 2, reason);
		assert.not.match(stderr, "one secret");
		assert.is(stdout, "", "nothing was begun");
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
	const secrets = await readSecretFiles([{ name: "SENDERS", path }], () => undefined);
	assert.ok(secrets.size > 4, `${secrets.size} parts`);
	for (const [name, text] of secrets) assert.ok(Buffer.byteLength(text) <= 5_000, name);
	const read = (bindings: object) =>
		makeContext({ ...bindings }, { error: () => undefined }).settings.senders;
	const whole = read({ SENDERS: JSON.stringify(senders) });
	assert.is(whole.size, 200);
	assert.equal([...read(Object.fromEntries(secrets))], [...whole]);
	// The parts of an earlier deployment do not count.
	await writeFile(path, JSON.stringify({ one: "the only one's secret" }));
	const later = await readSecretFiles([{ name: "SENDERS", path }], () => undefined);
	assert.equal([...read(Object.fromEntries([...secrets, ...later])).keys()], ["one"]);
});

test("wrangler gets the variables that a deployment needs, and no other secret", () => {
	const needed = { PATH: "/bin", HOME: "/home/a", CLOUDFLARE_API_TOKEN: "token", HTTPS_PROXY: "http://p:1" };
	const secrets = { SENDERS: '{"a":"secret"}', GITHUB_TOKEN: "secret", AWS_SECRET_ACCESS_KEY: "secret" };
	const others = { ...secrets, NODE_OPTIONS: "--require=./secret.js", npm_config_secret: "secret" };
	assert.equal(deploymentEnvironment({ ...others, ...needed }), needed);
});

test("an engine that does not start is ended, also where it ignores that, and what it said is in the error", async () => {
	const [printed, warned] = [[] as string[], [] as string[]];
	const io = { print: (line: string) => printed.push(line), warn: (line: string) => warned.push(line) };
	const start = async (code: string, limits?: { startMs: number; endMs: number }) => {
		const engine = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "pipe"] });
		await once(engine.stdout, "readable");
		return waitForAddress(engine, io, limits).catch(({ message }: Error) => message);
	};
	const hangs =
		'process.on("SIGTERM", () => {}); console.error("wrong"); console.log("odd"); setInterval(() => {}, 1_000)';
	assert.is(
		await start(hangs, { startMs: 100, endMs: 50 }),
		"odd\nthe engine did not start: not within 0.1 s",
	);
	assert.is(
		await start('console.log("no port"); process.exit(3)'),
		"no port\nthe engine did not start: it ended with 3",
	);
	const ready = 'console.log("{\\"log\\":1}"); console.log("Ready on http://127.0.0.1:1")';
	assert.is(await start(ready), "http://127.0.0.1:1");
	assert.equal([printed, warned], [['{"log":1}'], ["wrong"]]);
});

test.run();
