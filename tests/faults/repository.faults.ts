import { existsSync } from "node:fs";
import { chmod, open, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";
import { loosen, objectFile } from "../store/loose-objects.ts";
import { World } from "./world.ts";

const test = freshSuite("the repository", async (use) => ({ world: use(await World.started()) }));

const noCommit = /main: must name a commit of the repository/;

async function damage(path: string) {
	const file = await open(path, "r+");
	const { size } = await file.stat();
	await file.write(Buffer.alloc(Math.max(8, size >> 1), 0xff), 0, undefined, size >> 2);
	await file.close();
}

/** Harms a file, which git keeps read-only. @returns what restores it */
async function harmFile(path: string, harm: (path: string) => Promise<void>): Promise<() => Promise<void>> {
	const whole = await readFile(path);
	await chmod(path, 0o644);
	await harm(path);
	return () => writeFile(path, whole);
}

async function harmObject({ repository }: World, name: string, harm = damage) {
	await loosen(repository);
	return harmFile(await objectFile(repository, name), harm);
}

async function cutPacks({ repository }: World): Promise<() => Promise<void>> {
	const folder = join(repository, "objects/pack");
	const packs = (await readdir(folder)).filter((name) => name.endsWith(".pack"));
	const cut = (path: string) => truncate(path, 40);
	const restores = await Promise.all(packs.map((name) => harmFile(join(folder, name), cut)));
	return async () => {
		for (const restore of restores) await restore();
	};
}

async function noteStart(world: World, fault: string, reason: RegExp, repair: () => Promise<void>) {
	await world.refusedStart(reason);
	await repair();
	await world.start();
	const reader = `files of the web server; then ${await world.readAll()}`;
	const publisher = `nothing; then ${await world.put("three")}`;
	await world.note("repository", fault, { reader, publisher });
}

for (const [fault, name, harm, which] of [
	["a corrupt loose object: a layer's file", "main:layers/on/one.json", damage, "that layer"],
	["a lost loose object: a folder of layers", "main:layers/on", rm, "a layer in it"],
] as const)
	test(fault, async ({ world }) => {
		await world.stop();
		const restore = await harmObject(world, name, harm);
		await world.start();
		const refusal = await world.put("one", "other");
		const others = await world.put("three");
		const reader = await world.readAll();
		await restore();
		const publisher = `of ${which} ${refusal}; of others ${others}; then ${await world.putAtLast("one")}`;
		await world.note("repository", fault, { reader, publisher });
	});

test("a cut pack at a start", async ({ world }) => {
	await world.stop();
	const restore = await cutPacks(world);
	const fault = "the pack of the last commit is cut off, at a start";
	await noteStart(world, fault, noCommit, restore);
});

test("a file of the layers is corrupt, and nothing is known of the files", async ({ world }) => {
	await world.stop();
	const restore = await harmObject(world, "main:layers/on/one.json");
	await rm(join(world.folder, "dist.served"));
	await world.start();
	const reader = await world.readAll();
	const publisher = `of others ${await world.put("three")}`;
	await eventually(async () => (await world.readiness()).startsWith("503"));
	await restore();
	await eventually(async () => (await world.readiness()).startsWith("200"));
	await world.note("repository", "a corrupt loose object, and no `DATA_DIR/dist.served`", {
		reader,
		publisher,
	});
});

test("a corrupt pack while it runs", async ({ world }) => {
	const restore = await cutPacks(world);
	// A running process knows the packs that it has opened: another one comes.
	for (const pid of world.server.gitProcesses("cat-file")) process.kill(pid, "SIGKILL");
	await world.noteRefusal("repository", "all packs cut off, while it runs", ["then", restore], "one");
});

for (const [what, text] of [
	["is garbage", "no commit\n"],
	["is empty", ""],
	["names a commit that is lost", `${"1".repeat(40)}\n`],
] as const)
	test(`a branch that ${what}`, async ({ world }) => {
		await world.stop();
		const file = join(world.repository, "refs/heads/main");
		const restore = await harmFile(file, () => writeFile(file, text));
		await noteStart(world, `the branch's file ${what}`, noCommit, async () => {
			assert.is(await readFile(file, "utf8"), text);
			await restore();
		});
	});

for (const [name, text] of [
	["HEAD", "\0\0\0"],
	["config", "[core\n"],
] as const)
	test(`${name} is garbage while it runs`, async ({ world }) => {
		await writeFile(join(world.repository, name), text);
		const refusal = await world.put("three");
		await eventually(async () => (await world.readiness()).startsWith("503 "));
		const readiness = await world.readiness();
		const reader = await world.readAll();
		await world.stop();
		await world.start();
		const publisher = `${refusal}; \`/readyz\` ${readiness}; after a restart: ${await world.put("four")}`;
		await world.note("repository", `\`${name}\` is garbage, while it runs`, { reader, publisher });
	});

test("a deleted repository", async ({ world }) => {
	await world.stop();
	const aside = `${world.repository}.away`;
	await rename(world.repository, aside);
	const reason = /repository\.git: has no layers, and \S+dist\.served has what was served from it/;
	await noteStart(world, "deleted, before a start", reason, async () => {
		assert.not(existsSync(world.repository));
		await rename(aside, world.repository);
	});
});

test.run();
