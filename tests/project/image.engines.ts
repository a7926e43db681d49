import { type ChildProcess, execFile, spawn } from "node:child_process";
import { appendFile, cp, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import glob from "fast-glob";
import ignore from "ignore";
import * as assert from "uvu/assert";
import { freePort } from "../conformance/engines.ts";
import { cleanEnvironment, root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";

const dockerfile = await readFile(join(root, "deploy/Dockerfile"), "utf8");
const ignored = ignore().add(await readFile(join(root, ".dockerignore"), "utf8"));

/** The instructions of the file in their order, each with its words. */
const steps = [...dockerfile.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name = "", words = ""]) => ({
	name,
	words,
}));

function stepsOf(name: string): string[] {
	return steps.filter((step) => step.name === name).map(({ words }) => words);
}

const [healthCheck = ""] = stepsOf("HEALTHCHECK");
const healthCheckWords = JSON.parse(healthCheck.replace(/^CMD /, "")) as string[];

function check(env: Record<string, string>): Promise<number> {
	return promisify(execFile)(process.execPath, healthCheckWords.slice(1), {
		env: cleanEnvironment(env),
	}).then(
		() => 0,
		({ code }) => code,
	);
}

async function linkPackages(app: string): Promise<void> {
	const lock = JSON.parse(await readFile(join(app, "package-lock.json"), "utf8")) as {
		packages: Record<string, { dev?: boolean }>;
	};
	for (const [path, { dev }] of Object.entries(lock.packages)) {
		if (dev || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue;
		await mkdir(dirname(join(app, path)), { recursive: true });
		await symlink(join(root, path), join(app, path));
	}
}

async function copy(names: readonly string[], app: string): Promise<void> {
	const patterns = names.map((name) => (name === "." ? "**" : name));
	const files = await glob(patterns, { cwd: root, dot: true, ignore: ["**/node_modules/**", ".git/**"] });
	const kept = ignored.filter(files);
	assert.ok(kept.length >= names.length, names.join());
	for (const file of kept) await cp(join(root, file), join(app, file));
}

test("what enters the image is what the service needs, and nothing that is secret, large or not needed", () => {
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

test("it starts from Node 24, and runs as a user who may write to its volume; no secret is in it", () => {
	assert.equal(stepsOf("FROM"), ["node:24-slim"]);
	const names = steps.map(({ name }) => name);
	assert.ok(names.indexOf("USER") > 0 && names.indexOf("USER") < names.indexOf("CMD"));
	assert.equal(stepsOf("USER"), ["node"]);
	assert.equal(stepsOf("VOLUME"), ["/data"]);
	assert.match(dockerfile, "install -d -o node -g node /data");
	assert.not.match(dockerfile, /SENDERS|SECRET|TOKEN|KEY/);
});

test("its steps, in a plain folder, give a service that is healthy, empty and writes to its volume only", async () => {
	const { path, remove } = await temporaryFolder();
	const [app, data] = [join(path, "app"), join(path, "data")];
	const env: Record<string, string> = {};
	await mkdir(app);
	for (const { name, words } of steps) {
		if (name === "COPY") await copy(words.split(" ").slice(0, -1), app);
		else if (name === "ENV")
			for (const word of words.split(" ")) env[word.split("=")[0] as string] = word.split("=")[1] as string;
		else if (words.startsWith("npm ci --omit=dev")) await linkPackages(app);
		else if (words.startsWith("node "))
			await promisify(execFile)(process.execPath, words.split(" ").slice(1), { cwd: app });
	}
	const built = join(app, "store/hook/dist/fragment-publisher.mjs");
	await appendFile(built, "// the one of the image\n");
	assert.equal(env, { NODE_ENV: "production", HOST: "0.0.0.0", DATA_DIR: "/data" });
	// The user of the image cannot write beside the sources: here no folder can be made where the cache would be.
	await writeFile(join(app, "node_modules/.cache"), "");
	const listing = async () => (await glob("**", { cwd: app, dot: true, followSymbolicLinks: false })).sort();
	const before = await listing();
	const PORT = String(await freePort());
	const [program, ...words] = JSON.parse(stepsOf("CMD")[0] as string) as string[];
	assert.is(program, "node");
	// In a container the service listens on every address of its own network; on this machine on one.
	const settings = { ...env, HOST: "127.0.0.1", DATA_DIR: data, PORT };
	const service: ChildProcess = spawn(process.execPath, words, { cwd: app, env: cleanEnvironment(settings) });
	const ended = new Promise((resolve) => service.once("close", resolve));
	let output = "";
	for (const stream of [service.stdout, service.stderr]) stream?.on("data", (text) => (output += text));
	try {
		await eventually(async () => service.exitCode !== null || (await check({ PORT })) === 0);
		await eventually(() => service.exitCode !== null || output.includes("Register a first layer"));
		assert.is(service.exitCode, null, output);
		assert.match(output, /^Serving 0 layers at /m);
		assert.is((await stat(join(data, "senders.json"))).mode & 0o777, 0o600);
		const hook = join(data, "repository.git/hooks/fragment-publisher.mjs");
		assert.is(
			await readFile(hook, "utf8"),
			await readFile(built, "utf8"),
			"the hook is not built at a start",
		);
		// The catalogue is made after the start, with the guide from docs/.
		await eventually(async () => (await fetch(`http://127.0.0.1:${PORT}/guide/publish.html`)).ok);
	} finally {
		service.kill("SIGTERM");
		await ended;
	}
	assert.equal(await listing(), before);
	assert.is(await check({ PORT }), 1);
	await remove();
});

test.run();
