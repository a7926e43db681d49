import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { prints, root, runTests } from "../process.ts";
import { folderSuite } from "../world.ts";
import { compileTests } from "./compile.mjs";
import { kept } from "./kept.mjs";

const test = folderSuite("test files, compiled");

/** Writes modules, name → text, into a folder; their paths. */
async function writeModules(folder: string, texts: Record<string, string>): Promise<string[]> {
	const written = Object.entries(texts).map(async ([name, text]) => {
		const path = join(folder, name);
		await writeFile(path, text);
		return path;
	});
	return Promise.all(written);
}

const head = 'import { test } from "uvu";\nimport * as assert from "uvu/assert";\n';

test("compiled tests share one module for each source, with the source's address", async ({ folder }) => {
	const url = JSON.stringify(pathToFileURL(join(folder, "own.ts")).href);
	const [one = "", two = ""] = await writeModules(folder, {
		"one.test.ts": `${head}import { Fault, source } from "./own.ts";
import { thrown } from "./other.ts";
test("a", async () => {
	assert.instance(thrown(), Fault);
	assert.is(thrown().constructor.name, "Fault");
	assert.is((await import("./own.ts")).Fault, Fault);
	assert.is(source, ${url});
	assert.ok(import.meta.url.endsWith("/one.test.ts"));
});
test.run();
`,
		"two.test.ts": `${head}import { source } from "./own.ts";
test("a", () => assert.is(source, ${url}));
test.run();
`,
		"own.ts": "export class Fault extends Error {}\nexport const source: string = import.meta.url;\n",
		"other.ts": 'import { Fault } from "./own.ts";\nexport const thrown = () => new Fault();\n',
	});
	await prints(runTests([one, two]), 0, /2 passed, 0 failed\n$/);
});

test("a fault names its line of the source, also where that cannot be compiled", async ({ folder }) => {
	const text = `${head}\nfunction fail(): never {\n\tthrow new Error("no");\n}\ntest("a", () => fail());\ntest.run();\n`;
	const [path = ""] = await writeModules(folder, { "fails.test.ts": text });
	await prints(runTests([path]), 1, "fails.test.ts:5:8)");
	await writeFile(path, "const = 1;\n");
	const error = await compileTests([path]).catch((reason: Error) => reason);
	assert.match(String(error), /fails\.test\.ts:1:\d+: ERROR: Expected identifier but found "="/);
});

test("the commands are compiled with them, and nothing stays", async ({ folder }) => {
	const compiled = await compileTests(await writeModules(folder, { "starts.test.ts": "export {};\n" }));
	const words = ["--enable-source-maps", compiled.start, "validate", "--help"];
	const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root });
	assert.match(stdout, /^Usage: npx fragment-publisher validate /);
	await compiled.remove();
	assert.not.ok(existsSync(compiled.start));
	assert.not.ok(existsSync(join(compiled.start, "..")));
});

test("a kept file is made once for its inputs, and read by all other processes", async ({ folder }) => {
	const made = { files: new Map([["a.js", new Uint8Array([1, 2])]]) };
	let calls = 0;
	async function bundle() {
		calls += 1;
		return made;
	}
	assert.equal(await kept(folder, bundle, ["a"]), made);
	const read = await kept(folder, bundle, ["a"]);
	const found = [...read.files].map(([name, bytes]) => [name, [...bytes]]);
	assert.equal(found, [["a.js", [1, 2]]]);
	assert.is(calls, 1);
	await kept(folder, bundle, ["b"]);
	assert.is(calls, 2);
});

test.run();
