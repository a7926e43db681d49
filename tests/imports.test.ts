import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "./process.ts";

/** What a source file imports: project files as paths from the root, everything else as named. */
async function importsOf(file: string): Promise<string[]> {
	const text = await readFile(resolve(root, file), "utf8");
	const names = [
		...text.matchAll(
			/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms,
		),
	];
	return names.map((match) => {
		const name = (match[1] ?? match[2] ?? match[3]) as string;
		return name.startsWith(".") ? relative(root, resolve(root, dirname(file), name)) : name;
	});
}

const files = (
	await glob(["api/**/*.ts", "harvest/**/*.ts", "schemas/*.ts", "scripts/**/*.ts"], { cwd: root })
).sort();
const imports = new Map<string, string[]>();
for (const file of files) imports.set(file, await importsOf(file));

/** Files in api/ that may use Node: the adapter and the store that have it in their names. */
function mayUseNode(file: string): boolean {
	return (
		file === "api/adapters/node.ts" || file === "api/stores/git.ts" || file.startsWith("api/stores/git/")
	);
}

test("there is something to check", () => {
	assert.ok(files.includes("api/app.ts") && files.includes("scripts/serve.ts"));
	assert.ok(imports.get("api/stores/git.ts")?.includes("api/stores/git/cat-file.ts"));
	assert.ok(imports.get("api/stores/git/run.ts")?.includes("node:child_process"));
});

test("api/ is web standard only, but for its two rooms on Node", async () => {
	for (const file of files.filter((name) => name.startsWith("api/") && !mayUseNode(name))) {
		assert.equal(
			imports.get(file)?.filter((name) => name.startsWith("node:")),
			[],
			file,
		);
		const code = (await readFile(resolve(root, file), "utf8")).replace(/\/\*.*?\*\/|\/\/.*$/gms, "");
		assert.not.match(code, /\bprocess\.|\bDate\.now\(|\bBuffer\b/, file);
		// An adapter makes the clock and hands it on.
		if (!file.startsWith("api/adapters/")) assert.not.match(code, /new Date\(\)/, file);
	}
});

test("api/ imports api/ and schemas/ only, never a script", () => {
	for (const file of files.filter((name) => name.startsWith("api/"))) {
		const foreign = imports
			.get(file)
			?.filter((name) => /^(?:scripts|harvest|tests|bench|deploy)\//.test(name));
		assert.equal(foreign, [], file);
	}
});

test("handlers know the Store interface, never a store; pure modules know neither", () => {
	const pure = [
		"json",
		"smallkey",
		"registration",
		"description",
		"fragment",
		"signature",
		"read",
		"senders",
		"catalogue",
	];
	for (const name of ["app", "register", ...pure]) {
		const names = imports.get(`api/${name}.ts`) ?? [];
		assert.equal(
			names.filter((path) => /^api\/(?:stores|adapters)\//.test(path)),
			[],
			name,
		);
	}
	for (const name of pure) {
		const names = imports.get(`api/${name}.ts`) ?? [];
		assert.equal(
			names.filter((path) => /^api\/(?:app|register|store)\.ts$/.test(path)),
			[],
			name,
		);
	}
});

test("stores know no handler and no adapter", () => {
	for (const file of files.filter((name) => name.startsWith("api/stores/"))) {
		const upward = imports
			.get(file)
			?.filter((name) => /^api\/(?:adapters\/|app\.ts|register\.ts)/.test(name));
		assert.equal(upward, [], file);
	}
});

test("only the server and what runs the worker import an adapter", () => {
	const users = files.filter((file) => imports.get(file)?.some((name) => name.startsWith("api/adapters/")));
	assert.equal(
		users.filter((file) => file !== "scripts/serve.ts" && !file.startsWith("api/adapters/")),
		[],
	);
});

test("harvest/ imports no script and no handler", () => {
	for (const file of files.filter((name) => name.startsWith("harvest/"))) {
		const upward = imports
			.get(file)
			?.filter((name) => /^(?:scripts|tests)\/|^api\/(?:adapters\/|app|register)/.test(name));
		assert.equal(upward, [], file);
	}
});

test.run();
