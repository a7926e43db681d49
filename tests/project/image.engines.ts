import { cpSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import glob from "fast-glob";
import ignore from "ignore";
import * as assert from "uvu/assert";
import { exits, root, runProgram, ServerProcess } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder, writeFiles } from "../helpers/world.ts";

const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const dockerfile = read("deploy/Dockerfile");
const ignored = ignore().add(read(".dockerignore"));

const steps = [...dockerfile.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name = "", words = ""]) => ({
	name,
	words,
}));

const stepsOf = (name: string) => steps.filter((step) => step.name === name).map(({ words }) => words);

const [healthCheck = ""] = stepsOf("HEALTHCHECK");
const [, ...healthCheckWords] = JSON.parse(healthCheck.replace(/^CMD /, "")) as string[];

/** Asks as the image does whether it is healthy. @returns the exit code */
async function check(PORT: string) {
	return (await runProgram(process.execPath, healthCheckWords, { PORT })).code;
}

function linkPackages(app: string) {
	const { packages } = JSON.parse(read(app, "package-lock.json"));
	for (const [path, { dev }] of Object.entries<{ dev?: boolean }>(packages))
		if (!dev && /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path))
			writeFiles(app, { [path]: { link: join(root, path) } });
}

function copy(names: readonly string[], app: string) {
	const patterns = names.map((name) => (name === "." ? "**" : name));
	const files = glob.sync(patterns, { dot: true, ignore: ["**/node_modules/**", ".git/**"] });
	const kept = ignored.filter(files);
	assert.ok(kept.length >= names.length, names.join());
	for (const file of kept) cpSync(file, join(app, file));
}

test("the image gets what the service needs, and no secret", () => {
	for (const name of ["package.json", ".npmrc", "scripts/fragments.cjs", "docs/publish.md"])
		assert.not.ok(ignored.ignores(name), name);
	for (const name of [
		".env",
		".git/config",
		".data/senders.json",
		"node_modules/tsx/package.json",
		"scripts/node_modules/x",
		"dist/v0.9/doc/en/a",
		"layers/23/23ax5t.json",
		"tests/helpers/local.ts",
		"tests/bench/run.ts",
	]) {
		assert.ok(ignored.ignores(name), name);
	}
});

test("it starts from Node 24, as a user who may write to its volume, and has no secret", () => {
	assert.equal(stepsOf("FROM"), ["node:24-slim"]);
	const names = steps.map(({ name }) => name);
	assert.ok(names.indexOf("USER") > 0 && names.indexOf("USER") < names.indexOf("CMD"));
	assert.equal(stepsOf("USER"), ["node"]);
	assert.equal(stepsOf("VOLUME"), ["/data"]);
	assert.match(dockerfile, "install -d -o node -g node /data");
	assert.not.match(dockerfile, /SENDERS|SECRET|TOKEN|KEY/);
});

test("its steps give a healthy service that writes to its volume only", async () => {
	await using folder = await temporaryFolder();
	const [app, data] = [join(folder.path, "app"), join(folder.path, "data")];
	const env: Record<string, string> = {};
	for (const { name, words } of steps) {
		if (name === "COPY") copy(words.split(" ").slice(0, -1), app);
		else if (name === "ENV")
			for (const [variable = "", value = ""] of words.split(" ").map((word) => word.split("=")))
				env[variable] = value;
		else if (words.startsWith("npm ci --omit=dev")) linkPackages(app);
		else if (words.startsWith("node "))
			await exits(runProgram(process.execPath, words.split(" ").slice(1), {}, app), 0);
	}
	assert.equal(env, { NODE_ENV: "production", HOST: "0.0.0.0", DATA_DIR: "/data" });
	// As for the user of the image, no cache can be made beside the sources.
	writeFiles(app, { "node_modules/.cache": "" });
	const listing = () => glob.sync("**", { cwd: app, dot: true, followSymbolicLinks: false }).sort();
	const before = listing();
	const [program, ...words] = JSON.parse(stepsOf("CMD")[0] as string) as string[];
	assert.is(program, "node");
	// On this machine it listens on one address.
	const settings = { ...env, HOST: "127.0.0.1", DATA_DIR: data, HARVEST: "on", SITE: "on" };
	const service = await ServerProcess.start(settings, app, words);
	const port = String(service.port);
	try {
		await Promise.race([
			eventually(async () => (await check(port)) === 0),
			service.ended.then((code) => {
				throw new Error(`the service ended with ${code}: ${service.output}`);
			}),
		]);
		await eventually(() => service.output.includes("Register a first layer"));
		assert.match(service.output, /^Serving 0 layers at /m);
		assert.is(statSync(join(data, "senders.json")).mode & 0o777, 0o600);
		const hook = join(data, "repository.git/hooks/fragment-publisher.mjs");
		assert.match(read(hook), /^\/\/ [0-9a-f]{64}\n/);
		// The catalogue is made after the start, with the guide from docs/.
		await eventually(async () => (await fetch(`${service.url}/guide/publish.html`)).ok);
	} finally {
		await service.stop();
	}
	assert.equal(listing(), before);
	assert.is(await check(port), 1);
});

test.run();
