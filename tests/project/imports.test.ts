import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { test } from "../helpers/suite.ts";

const read = (file: string) => readFileSync(file, "utf8");

function importsOf(file: string) {
	const names = read(file).matchAll(
		/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms,
	);
	return [...names].map((match) => {
		const name = (match[1] ?? match[2] ?? match[3]) as string;
		return name.startsWith(".") ? join(dirname(file), name) : name;
	});
}

const ladder = ["registry", "store", "publish", "api", "site", "scripts", "extensions"];

const drawing = read("docs/architecture.md").matchAll(
	/^ {4}([a-z][\w/]*) {2,}\S.*\n(?: {6,}→ ([\w/ ]+)\n)?/gm,
);
const rooms = new Map(
	[...drawing].map(([, room = "", names = ""]) => [room, names.split(" ").filter(Boolean)]),
);
const files = glob.sync(`{${ladder.join(",")}}/**/*.ts`).sort();
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function roomOf(file: string): string {
	const folder = dirname(file);
	return rooms.has(folder) || !folder.includes("/") ? folder : roomOf(folder);
}

function arrows(groupOf: (file: string) => string | undefined): string[] {
	const result = new Set<string>();
	for (const [file, names] of imports)
		for (const name of names.filter((path) => /\.(?:ts|json)$/.test(path) && path !== "package.json")) {
			const [from, to] = [groupOf(file), groupOf(name)];
			if (from && to && from !== to) result.add(`${from} → ${to}`);
		}
	return [...result].sort();
}

test("the rooms are those of the drawing, and no folder with code is in none", () => {
	const code = glob.sync("*/**/*.ts", { ignore: ["**/node_modules/**"] });
	const folders = new Set(code.map((file) => file.split("/")[0] as string));
	assert.equal(
		[...folders].sort(),
		[...ladder, "deploy", "tests"].filter((name) => folders.has(name)).sort(),
	);
	for (const room of rooms.keys())
		assert.ok(
			files.some((file) => file.startsWith(`${room}/`)),
			room,
		);
	for (const room of ladder) assert.ok(room === "extensions" || rooms.has(room), room);
});

test("a file imports its room and those of its arrow; each arrow has an import", () => {
	const drawn = [...rooms].flatMap(([room, names]) => names.map((name) => `${room} → ${name}`)).sort();
	assert.equal(
		arrows(roomOf).filter((arrow) => !arrow.startsWith("extensions")),
		drawn,
	);
});

test("a room imports only rooms below it, and only entries import extensions", () => {
	const up = arrows((file) => file.split("/")[0]).filter((arrow) => {
		const [from = "", to = ""] = arrow.split(" → ");
		return ladder.indexOf(to) > ladder.indexOf(from);
	});
	assert.equal(up, ["scripts → extensions"]);
	const users = [...imports].flatMap(([file, names]) => {
		const isCore = !file.startsWith("extensions/");
		return names.flatMap((name) => (isCore && name.startsWith("extensions/") ? `${file} → ${name}` : []));
	});
	assert.equal(users, [
		"scripts/catalogue.ts → extensions/index.ts",
		"scripts/main.ts → extensions/index.ts",
		"scripts/worker.ts → extensions/worker.ts",
	]);
	const between = arrows((file) => /^extensions\/(\w+)\//.exec(file)?.[1]).filter(
		(arrow) => !arrow.endsWith(" → harvest"),
	);
	assert.equal(between, []);
});

test("the package and the image have the rooms and the guide", () => {
	const { files: packed } = JSON.parse(read("package.json"));
	assert.equal(packed, [...[...ladder, "docs"].sort(), "SECURITY.md"]);
	const ignored = read(".dockerignore");
	assert.equal(
		[...ignored.matchAll(/^!([a-z]+|SECURITY\.md)$/gm)].map(([, name]) => name),
		packed,
	);
	for (const name of glob.sync("extensions/*", { onlyDirectories: true }))
		for (const file of ["index.ts", "README.md"])
			assert.ok(glob.sync(`${name}/${file}`).length === 1, `${name}/${file}`);
});

test("no files import each other in a circle, types included", () => {
	const rest = new Map(imports);
	const isImported = (file: string) => [...rest.values()].some((names) => names.includes(file));
	// The circles are left without the files that import none of the rest, or that none of the rest imports.
	for (let count = 0; count !== rest.size; ) {
		count = rest.size;
		for (const [file, names] of rest)
			if (!names.some((name) => rest.has(name)) || !isImported(file)) rest.delete(file);
	}
	assert.equal([...rest.keys()], []);
});

const isWeb = (file: string) =>
	/^(?:registry|store\/github|api\/worker|site\/(?:page|search|map|draft|static|text|service))\/|^(?:api|store)\/[\w-]+\.ts$/.test(
		file,
	);

test("what runs in a worker or a browser uses web standards only", () => {
	for (const file of files.filter(isWeb)) {
		const node = imports.get(file)?.filter((name) => name.startsWith("node:"));
		assert.equal(node, [], file);
		const code = read(file).replace(/\/\*.*?\*\/|\/\/.*$/gms, "");
		assert.not.match(code, /\bprocess\.|\bDate\.now\(|\bBuffer\b/, file);
		// An adapter makes the clock and hands it on, and so does the script of a page.
		if (!file.startsWith("api/worker/") && file !== "site/page/page.ts")
			assert.not.match(code, /new Date\(\)/, file);
	}
});

test.run();
