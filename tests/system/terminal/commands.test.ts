import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { commands } from "../../../system/terminal/commands.ts";
import { cleanEnvironment, type Ended, root, runScript } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("npx fragment-publisher");

const groups = Object.entries<Record<string, string>>(commands);
const summaries = new Map(groups.flatMap(([, lines]) => Object.entries(lines)));

/** Runs Node to its end. */
async function runNode(words: string[], env: Record<string, string> = {}): Promise<Ended> {
	const options = { cwd: root, env: cleanEnvironment(env) };
	return promisify(execFile)(process.execPath, words, options).then(
		({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
		({ code, stdout, stderr }) => ({ code, stdout, stderr }),
	);
}

test("--help and help list every command once, by its purpose, with what it does", async () => {
	const { code, stdout } = await runScript("--help", []);
	assert.is(code, 0);
	for (const [purpose, lines] of groups) {
		const [, group = ""] = stdout.split(`\nTo ${purpose}:\n`);
		const text = (group.split("\n\n")[0] ?? "").replace(/\s+/g, " ");
		assert.is(
			text,
			Object.entries(lines)
				.map(([name, summary]) => ` ${name} ${summary}`)
				.join(""),
		);
	}
	assert.is((await runScript("help", [])).stdout, stdout);
	assert.is((await runScript("help", ["put"])).stdout, (await runScript("put", ["--help"])).stdout);
});

test("an unknown command is refused with the nearest one named, and a missing command is refused", async () => {
	const unknown = await runScript("putt", ["--url", "x"]);
	assert.is(unknown.code, 2);
	assert.match(unknown.stderr, /^error: unknown command 'putt'\n\(Did you mean put\?\)\n/);
	assert.is((await runNode(["scripts/fragments.cjs"])).code, 2);
});

/** Settings that nothing could start with: help needs none. */
const wrong = { PORT: "none", SENDERS: "none" };

for (const [name, summary] of summaries) {
	test(`${name} --help prints its help, and does nothing else`, async () => {
		const { code, stdout, stderr } = await runScript(name, ["--help"], wrong);
		assert.is(code, 0);
		assert.ok(stdout.startsWith(`Usage: npx fragment-publisher ${name} `), stdout);
		assert.match(stdout.replace(/\s+/g, " ").toLowerCase(), ` ${summary.toLowerCase()}. `);
		assert.match(stdout, "-h, --help");
		assert.is(stderr, "");
	});

	test(`${name} names the nearest option to one that it does not know`, async () => {
		const { code, stdout, stderr } = await runScript(name, ["--hepl"]);
		assert.is(code, 2);
		assert.is(stdout, "");
		assert.is(
			stderr,
			`error: unknown option '--hepl'\n(Did you mean --help?)\nnpx fragment-publisher ${name} --help lists the options\n`,
		);
	});
}

/** The files of scripts/ that a command loads, by what V8 has covered. */
async function loadedBy(words: string[], folder: string): Promise<string[]> {
	assert.is((await runNode(["scripts/fragments.cjs", ...words], { NODE_V8_COVERAGE: folder })).code, 0);
	const loaded = new Set<string>();
	for (const name of await readdir(folder)) {
		const { result } = JSON.parse(await readFile(join(folder, name), "utf8")) as {
			result: { url: string }[];
		};
		for (const { url } of result)
			if (url.startsWith("file:")) loaded.add(fileURLToPath(url.replace(/\?.*/, "")));
	}
	return [...loaded].filter((path) => /^scripts\/[\w-]+\.ts$/.test(path.slice(root.length))).sort();
}

test("a command loads its own module alone, and --help none", async ({ folder }) => {
	const paths = (...names: string[]) => names.map((name) => join(root, "scripts", `${name}.ts`));
	assert.equal(await loadedBy(["--help"], join(folder, "help")), paths("fragments"));
	assert.equal(await loadedBy(["put", "--help"], join(folder, "put")), paths("fragments", "put"));
});

test("an old Node is named in one line, and nothing is run", async ({ folder }) => {
	const disguise = join(folder, "disguise.cjs");
	const versions = '{ ...process.versions, node: "18.20.4" }';
	await writeFile(disguise, `Object.defineProperty(process, "versions", { value: ${versions} });`);
	const { code, stdout, stderr } = await runNode(["--require", disguise, "scripts/fragments.cjs", "--help"]);
	assert.is(code, 2);
	assert.is(stdout, "");
	assert.is(stderr, "Node 20.11 or newer is needed, and this is 18.20.4: https://nodejs.org\n");
});

test("a start before npm ci says so in one line", async ({ folder }) => {
	await mkdir(join(folder, "scripts"));
	for (const name of ["package.json", "scripts/fragments.cjs"])
		await cp(join(root, name), join(folder, name));
	const { code, stdout, stderr } = await runNode([join(folder, "scripts/fragments.cjs"), "serve"]);
	assert.is(code, 2);
	assert.is(stdout, "");
	assert.is(stderr, "The package tsx is missing: run npm ci first\n");
});

test.run();
