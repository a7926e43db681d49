import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";

async function importsOf(file: string): Promise<string[]> {
	const text = await readFile(resolve(root, file), "utf8");
	const names = text.matchAll(
		/^(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms,
	);
	return [...names].map((match) => {
		const name = (match[1] ?? match[2] ?? match[3]) as string;
		return name.startsWith(".") ? relative(root, resolve(root, dirname(file), name)) : name;
	});
}

const ladder = ["registry", "store", "publish", "api", "site", "scripts", "extensions"];

async function readRooms(): Promise<Map<string, string[]>> {
	const text = await readFile(resolve(root, "docs/architecture.md"), "utf8");
	const lines = text.matchAll(/^ {4}([a-z][\w/]*) {2,}\S.*\n(?: {6,}→ ([\w/ ]+)\n)?/gm);
	return new Map([...lines].map(([, room = "", names = ""]) => [room, names.split(" ").filter(Boolean)]));
}

const rooms = await readRooms();
const files = (await glob(`{${ladder.join(",")}}/**/*.ts`, { cwd: root })).sort();
const imports = new Map<string, string[]>();
for (const file of files) imports.set(file, await importsOf(file));

function roomOf(file: string): string {
	const folder = dirname(file);
	return rooms.has(folder) || !folder.includes("/") ? folder : roomOf(folder);
}

/** The imports of files between two groups of them, as `<from> → <to>`, sorted. */
function arrows(groupOf: (file: string) => string | undefined): string[] {
	const result = new Set<string>();
	for (const [file, names] of imports)
		for (const name of names.filter((path) => /\.(?:ts|json)$/.test(path) && path !== "package.json")) {
			const [from, to] = [groupOf(file), groupOf(name)];
			if (from && to && from !== to) result.add(`${from} → ${to}`);
		}
	return [...result].sort();
}

test("the rooms are those of the drawing, and no folder with code is in none", async () => {
	const code = await glob("*/**/*.ts", { cwd: root, ignore: ["**/node_modules/**"] });
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

test("a file imports its own room and those of its arrow, and each arrow has an import", () => {
	const drawn = [...rooms].flatMap(([room, names]) => names.map((name) => `${room} → ${name}`)).sort();
	assert.equal(
		arrows(roomOf).filter((arrow) => !arrow.startsWith("extensions")),
		drawn,
	);
});

test("a room imports only rooms below it, and extensions are known to their list and to entries alone", () => {
	const up = arrows((file) => file.split("/")[0]).filter((arrow) => {
		const [from = "", to = ""] = arrow.split(" → ");
		return ladder.indexOf(to) > ladder.indexOf(from);
	});
	assert.equal(up, ["scripts → extensions"]);
	const users = [...imports].flatMap(([file, names]) => {
		const isCore = !file.startsWith("extensions/");
		return names.flatMap((name) => (isCore && name.startsWith("extensions/") ? `${file} → ${name}` : []));
	});
	assert.equal(
		users,
		["catalogue", "main"].map((entry) => `scripts/${entry}.ts → extensions/index.ts`),
	);
	const between = arrows((file) => /^extensions\/(\w+)\//.exec(file)?.[1]).filter(
		(arrow) => !arrow.endsWith(" → harvest"),
	);
	assert.equal(between, []);
});

test("the package and the image have the rooms and the guide", async () => {
	const { files: packed } = JSON.parse(await readFile(resolve(root, "package.json"), "utf8"));
	assert.equal(packed, [...[...ladder, "docs"].sort(), "SECURITY.md"]);
	const ignored = await readFile(resolve(root, ".dockerignore"), "utf8");
	assert.equal(
		[...ignored.matchAll(/^!([a-z]+|SECURITY\.md)$/gm)].map(([, name]) => name),
		packed,
	);
	for (const name of await glob("extensions/*", { cwd: root, onlyDirectories: true }))
		for (const file of ["index.ts", "README.md"])
			assert.ok((await glob(`${name}/${file}`, { cwd: root })).length === 1, `${name}/${file}`);
});

/** Files that reach themselves by imports; found by Tarjan's strongly connected components. */
function circles(): string[][] {
	const order = new Map<string, number>();
	const low = new Map<string, number>();
	const stack: string[] = [];
	const result: string[][] = [];
	const visit = (file: string) => {
		order.set(file, order.size);
		low.set(file, order.get(file) as number);
		stack.push(file);
		for (const next of (imports.get(file) ?? []).filter((name) => imports.has(name))) {
			if (!order.has(next)) visit(next);
			const reached = stack.includes(next) ? (low.get(next) as number) : Number.POSITIVE_INFINITY;
			low.set(file, Math.min(low.get(file) as number, reached));
		}
		if (low.get(file) !== order.get(file)) return;
		const circle = stack.splice(stack.indexOf(file));
		if (circle.length > 1) result.push(circle.sort());
	};
	for (const file of files) if (!order.has(file)) visit(file);
	return result;
}

test("no files import each other in a circle, types included", () => {
	assert.equal(circles(), []);
});

const isWeb = (file: string) =>
	/^(?:registry|store\/github|api\/worker|site\/(?:page|search|map|draft|static|text|service))\/|^(?:api|store)\/[\w-]+\.ts$/.test(
		file,
	) && !/^site\/(?:static\/\w+\.test)/.test(file);

test("what runs in a worker or a browser uses web standards only", async () => {
	for (const file of files.filter(isWeb)) {
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
