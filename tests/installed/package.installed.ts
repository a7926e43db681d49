import { type ChildProcess, execFile, spawn } from "node:child_process";
import { copyFile, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { cleanEnvironment, type Ended, root } from "../helpers/process.ts";
import { suite } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";

const run = promisify(execFile);

interface Scene {
	/** A working directory that has nothing to do with the place of the package. */
	folder: string;
	/** The program of the package. */
	program: string;
	remove: () => Promise<void>;
}

const test = suite<Scene>("the package that npm pack makes, outside a checkout");

/** What `npm install` of the package leaves behind, without the registry: its dependencies are those of the checkout. */
async function install(folder: string): Promise<string> {
	await mkdir(folder);
	const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], {
		cwd: root,
		env: cleanEnvironment({}),
	});
	const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
	const modules = join(folder, "node_modules");
	const own = join(modules, "fragment-publisher");
	await mkdir(own, { recursive: true });
	await run("tar", ["-xzf", join(folder, filename), "-C", own, "--strip-components=1"]);
	const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
		packages: Record<string, { dev?: boolean; optional?: boolean }>;
	};
	for (const [path, { dev }] of Object.entries(lock.packages)) {
		if (dev || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue;
		await mkdir(dirname(join(folder, path)), { recursive: true });
		await symlink(join(root, path), join(folder, path));
	}
	const { bin } = JSON.parse(await readFile(join(own, "package.json"), "utf8")) as {
		bin: { fragments: string };
	};
	return join(own, bin.fragments);
}

test.before(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.folder = join(path, "work");
	scene.remove = remove;
	scene.program = await install(join(path, "installed"));
	await mkdir(scene.folder);
	await copyFile(join(root, "docs/example-layer.json"), join(scene.folder, "layer.json"));
});
test.after(({ remove }) => remove());

async function fragments({ folder, program }: Scene, ...words: string[]): Promise<Ended> {
	return run(process.execPath, [program, ...words], { cwd: folder, env: cleanEnvironment({}) }).then(
		({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
		({ code, stdout, stderr }) => ({ code, stdout, stderr }),
	);
}

test("it validates a file of the working directory", async (scene) => {
	const { code, stdout, stderr } = await fragments(scene, "validate", "layer.json");
	assert.is(code, 0, stderr);
	assert.is(stdout, "1 file, 0 problems\n");
	const none = await fragments(scene, "validate");
	assert.is(none.code, 2, "it has no layers of its own");
});

test("it serves, signs, puts, removes and builds, with its data in the working directory", async (scene) => {
	const { folder, program } = scene;
	const env = cleanEnvironment({ PORT: "0", HARVEST: "off" });
	const service: ChildProcess = spawn(process.execPath, [program, "serve"], { cwd: folder, env });
	const ended = new Promise((resolve) => service.once("close", resolve));
	let output = "";
	for (const stream of [service.stdout, service.stderr]) stream?.on("data", (data) => (output += data));
	try {
		await eventually(() => service.exitCode !== null || output.includes("Register a first layer"));
		const [, url = ""] = /^Serving 0 layers at (\S+)$/m.exec(output) ?? [];
		assert.is.not(url, "", output);
		const [, example = ""] = /put my-layer (\S+) --url/.exec(output) ?? [];
		assert.is(example, "../installed/node_modules/fragment-publisher/docs/example-layer.json");

		const signed = await fragments(scene, "sign", "own", "layer.json", "--url", url);
		assert.match(signed.stdout, /^Authorization: /m, signed.stderr);
		const put = await fragments(scene, "put", "own", example, "--url", url);
		assert.is(put.code, 0, put.stderr);
		assert.match(await (await fetch(`${url}/v0.9/doc/en/own`)).text(), '"id":"rcs.own.en"');
		// The catalogue is made beside the first answers, from the sources and documents of the package.
		await eventually(async () => (await fetch(`${url}/`)).status !== 503);
		assert.is((await fetch(`${url}/`)).status, 200, output);
		assert.is((await fetch(`${url}/guide/`)).status, 200, output);

		const built = await fragments(scene, "build", "--repo", ".data/repository.git", "--out", "built");
		assert.is(built.code, 0, built.stderr);
		assert.match(await readFile(join(folder, "built/v0.9/doc/en/own"), "utf8"), '"id":"rcs.own.en"');

		const removed = await fragments(scene, "remove", "own", "--url", url);
		assert.is(removed.code, 0, removed.stderr);
		assert.is((await fetch(`${url}/v0.9/doc/en/own`)).status, 404);
	} finally {
		service.kill("SIGTERM");
		await ended;
		await rm(join(folder, ".data"), { recursive: true, force: true });
	}
});

test.run();
