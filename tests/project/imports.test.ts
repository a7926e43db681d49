import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

/** What a source file imports: project files as paths from the root, everything else as named. Types count, too. */
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

/** The drawing of docs/architecture.md: each room, and the rooms that its arrow names. */
async function readRooms(): Promise<Map<string, string[]>> {
	const text = await readFile(resolve(root, "docs/architecture.md"), "utf8");
	const lines = text.matchAll(/^ {4}([a-z][\w/]*) {2,}\S.*\n(?: {6,}→ ([\w/ ]+)\n)?/gm);
	return new Map([...lines].map(([, room = "", names = ""]) => [room, names.split(" ").filter(Boolean)]));
}

const rooms = await readRooms();
const sources = [...rooms.keys()].filter((room) => !room.includes("/"));
const files = (
	await glob(
		sources.map((room) => `${room}/**/*.ts`),
		{ cwd: root },
	)
).sort();
const imports = new Map<string, string[]>();
for (const file of files) imports.set(file, await importsOf(file));

/** The room of a file: the nearest folder above it that has a line of its own. */
function roomOf(file: string): string {
	const folder = dirname(file);
	return rooms.has(folder) || folder === "." ? folder : roomOf(folder);
}

test("every folder with code is in a room, and every room is a folder", async () => {
	const code = await glob("*/**/*.ts", { cwd: root, ignore: ["**/node_modules/**"] });
	const beside = ["tests", "deploy"];
	const folders = new Set(code.map((file) => file.split("/")[0] as string));
	assert.ok(files.length > 100);
	assert.equal([...folders].filter((name) => !beside.includes(name)).sort(), sources.sort());
	for (const room of rooms.keys())
		assert.ok(
			files.some((file) => dirname(file) === room || file.startsWith(`${room}/`)),
			room,
		);
});

test("no room has a vague name such as utils or common", async () => {
	const folders = await glob("*/**/", {
		cwd: root,
		onlyDirectories: true,
		ignore: ["**/node_modules/**", "tests/helpers"],
	});
	const vague = folders.filter((folder) =>
		/(?:^|\/)(?:lib|utils?|shared|common|helpers?|misc)$/.test(folder),
	);
	assert.equal(vague, []);
});

test("a file imports its own room and those of its arrow, and each arrow has an import", () => {
	const used = new Map([...rooms.keys()].map((room) => [room, new Set<string>()]));
	// The bench uses the tests' fixtures.
	for (const [file, names] of imports)
		for (const name of names.filter((one) => /^(?!tests\/|package\.json$).*\.(?:ts|json)$/.test(one)))
			used.get(roomOf(file))?.add(roomOf(name));
	for (const [room, names] of rooms)
		assert.equal([...(used.get(room) ?? [])].filter((name) => name !== room).sort(), [...names].sort(), room);
});

/** Folders before single files. */
const byKind = (one: string, other: string) =>
	Number(one.includes(".")) - Number(other.includes(".")) || one.localeCompare(other);

test("the root has at most fifteen folders, and the package and the image have the rooms", async () => {
	const folders = await glob("*/", { cwd: root, onlyDirectories: true, ignore: ["node_modules", "dist"] });
	assert.ok(folders.length <= 15, folders.join(" "));
	const { files: packed } = JSON.parse(await readFile(resolve(root, "package.json"), "utf8"));
	assert.equal(packed, [...sources.sort(), "docs", "SECURITY.md"].sort(byKind));
	const ignored = await readFile(resolve(root, ".dockerignore"), "utf8");
	const copied = [...ignored.matchAll(/^!([a-z]+|SECURITY\.md)$/gm)].map(([, name]) => name);
	assert.equal(copied, packed);
});

test("no files import each other in a circle, types included", () => {
	let rest = new Set(files);
	for (let size = -1; size !== rest.size; ) {
		size = rest.size;
		rest = new Set([...rest].filter((file) => imports.get(file)?.some((name) => rest.has(name))));
	}
	assert.equal([...rest], []);
});

/** Whether a file may use Node: everything may but what also runs in a worker or a browser. */
function mayUseNode(file: string): boolean {
	if (/^api\/node\//.test(file)) return true;
	return !/^(?:registry|site|api|store\/github)\/|^store\/[\w-]+\.ts$/.test(file);
}

test("what runs in a worker or a browser uses web standards only", async () => {
	for (const file of files.filter((name) => !mayUseNode(name))) {
		const node = imports.get(file)?.filter((name) => name.startsWith("node:"));
		assert.equal(node, [], file);
		const code = (await readFile(resolve(root, file), "utf8")).replace(/\/\*.*?\*\/|\/\/.*$/gms, "");
		assert.not.match(code, /\bprocess\.|\bDate\.now\(|\bBuffer\b/, file);
		// An adapter makes the clock and hands it on, and so does the script of a page.
		if (!file.startsWith("api/worker/") && file !== "site/page/page.ts")
			assert.not.match(code, /new Date\(\)/, file);
	}
});

test.run();
