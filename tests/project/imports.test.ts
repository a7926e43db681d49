import { readFile } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "../process.ts";

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

const sources = ["registry", "api", "harvest", "schemas", "scripts", "site"].map((room) => `${room}/**/*.ts`);
const files = (await glob(sources, { cwd: root })).sort();
const imports = new Map<string, string[]>();
for (const file of files) imports.set(file, await importsOf(file));

/** The table of docs/architecture.md: each room, and the rooms that its files may import beside their own. */
async function readRooms(): Promise<Map<string, string[]>> {
	const text = await readFile(resolve(root, "docs/architecture.md"), "utf8");
	const rows = text.matchAll(/^\| `([\w/-]+)\/` \| [^|]* \|([^|]*)\|/gm);
	return new Map(
		[...rows].map(([, room = "", allowed = ""]) => [
			room,
			[...allowed.matchAll(/`([\w/-]+)\/`/g)].map((match) => match[1] as string),
		]),
	);
}

const rooms = await readRooms();

test("there is something to check", () => {
	assert.ok(files.length > 100);
	assert.ok(imports.get("api/stores/git.ts")?.includes("api/git/cat-file.ts"));
	assert.ok(imports.get("api/git/run.ts")?.includes("node:child_process"));
	assert.ok(rooms.size > 10);
});

test("every folder is a room of docs/architecture.md, and every room there is a folder", () => {
	const folders = new Set(files.map((file) => dirname(file)));
	assert.equal([...rooms.keys()].sort(), [...folders].sort());
});

test("no room has a name that says nothing", async () => {
	const folders = await glob("{registry,api,harvest,schemas,scripts,site,tests,bench}/**/", {
		cwd: root,
		onlyDirectories: true,
		ignore: ["**/node_modules/**"],
	});
	const vague = folders.filter((folder) =>
		/(?:^|\/)(?:lib|utils?|shared|common|helpers?|misc)$/.test(folder),
	);
	assert.equal(vague, []);
});

test("a file imports its own room, and the rooms that docs/architecture.md allows", () => {
	const wrong: string[] = [];
	for (const [file, names] of imports) {
		const room = dirname(file);
		const allowed = rooms.get(room) ?? [];
		for (const name of names.filter((one) => /\.(?:ts|json)$/.test(one))) {
			const other = dirname(name);
			if (other !== room && !allowed.includes(other)) wrong.push(`${file} imports ${name}`);
		}
	}
	assert.equal(wrong, []);
});

/** Files that reach themselves by imports; found by Tarjan's strongly connected components. */
function circles(): string[][] {
	const order = new Map<string, number>();
	const low = new Map<string, number>();
	const stack: string[] = [];
	const found: string[][] = [];
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
		if (circle.length > 1) found.push(circle.sort());
	};
	for (const file of files) if (!order.has(file)) visit(file);
	return found;
}

test("no circle of imports, types included", () => {
	assert.equal(circles(), []);
});

/** Whether a room may use Node: those of git's processes, the adapter of Node, harvesting, and the scripts. */
function mayUseNode(file: string): boolean {
	if (!file.startsWith("api/")) return !/^(?:registry|schemas|site)\//.test(file);
	const onNode = ["api/git/", "api/stores/git/", "api/adapters/node/"];
	return (
		onNode.some((room) => file.startsWith(room)) ||
		["api/stores/git.ts", "api/adapters/node.ts"].includes(file)
	);
}

test("registry/, schemas/ and api/ are web standard only, but for the rooms of git and Node", async () => {
	for (const file of files.filter((name) => !mayUseNode(name))) {
		const node = imports.get(file)?.filter((name) => name.startsWith("node:"));
		assert.equal(node, [], file);
		const code = (await readFile(resolve(root, file), "utf8")).replace(/\/\*.*?\*\/|\/\/.*$/gms, "");
		assert.not.match(code, /\bprocess\.|\bDate\.now\(|\bBuffer\b/, file);
		// An adapter makes the clock and hands it on, and so does the script of a page.
		if (!file.startsWith("api/adapters/") && file !== "site/page/main.ts")
			assert.not.match(code, /new Date\(\)/, file);
	}
});

test.run();
