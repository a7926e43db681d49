import { existsSync } from "node:fs";
import { chmod, open, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { runGit } from "../../store/git/commands/run.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";
import { loosen, objectFile, writeGraph } from "../store/loose-objects.ts";
import { World } from "./world.ts";

const test = freshSuite("the repository", async (use) => ({ world: use(await World.started()) }));

/** Writes other bytes into the middle of a file, which git keeps read-only. */
async function damage(path: string): Promise<void> {
	await chmod(path, 0o644);
	const file = await open(path, "r+");
	const { size } = await file.stat();
	await file.write(Buffer.alloc(Math.max(8, size >> 1), 0xff), 0, undefined, size >> 2);
	await file.close();
}

const objects: [fault: string, name: string, harm: (path: string) => Promise<void>, which: string][] = [
	["a corrupt loose object: a layer's file", "main:layers/on/one.json", damage, "that layer"],
	["a lost loose object: a folder of layers", "main:layers/on", rm, "a layer in it"],
];

for (const [fault, name, harm, which] of objects)
	test(fault, async ({ world }) => {
		await world.stop();
		await loosen(world.repository);
		const path = await objectFile(world.repository, name);
		const whole = await readFile(path);
		await harm(path);
		await world.start();
		const refusal = await world.put("one", "other");
		const others = await world.put("three");
		const reader = await world.readAll();
		await writeFile(path, whole);
		const last = await world.putAtLast("one");
		const publisher = `of ${which} ${refusal}; of others ${others}; then ${last}`;
		await world.note("repository", fault, { reader, publisher });
	});

async function damagePack(repository: string): Promise<{ pack: string; whole: Buffer }> {
	await runGit(repository, ["repack", "-adq"]);
	const folder = join(repository, "objects/pack");
	const pack = join(folder, (await readdir(folder)).find((name) => name.endsWith(".pack")) as string);
	const whole = await readFile(pack);
	await chmod(pack, 0o644);
	await truncate(pack, 40);
	return { pack, whole };
}

test("a cut pack at a start", async ({ world }) => {
	await world.stop();
	const { pack, whole } = await damagePack(world.repository);
	await world.refusedStart(/main: must name a commit of the repository/);
	await writeFile(pack, whole);
	await world.start();
	const publisher = `nothing; then ${await world.put("three")}`;
	const reader = `files of the web server; then ${await world.readAll()}`;
	const fault = "the pack of the last commit is cut off, at a start";
	await world.note("repository", fault, { reader, publisher });
});

test("a file of the layers is corrupt, and nothing is known of the files", async ({ world }) => {
	await world.stop();
	await loosen(world.repository);
	const path = await objectFile(world.repository, "main:layers/on/one.json");
	const whole = await readFile(path);
	await damage(path);
	await rm(join(world.folder, "dist.served"));
	await world.start();
	const reader = await world.readAll();
	const publisher = `of others ${await world.put("three")}`;
	await eventually(async () => (await world.readiness()).startsWith("503"));
	await writeFile(path, whole);
	await eventually(async () => (await world.readiness()).startsWith("200"));
	const fault = "a corrupt loose object, and no `DATA_DIR/dist.served`";
	await world.note("repository", fault, { reader, publisher });
});

test("a corrupt pack while it runs", async ({ world }) => {
	const folder = join(world.repository, "objects/pack");
	await world.stop();
	await writeGraph(world.repository);
	await world.start();
	const wholes = new Map<string, Buffer>();
	for (const name of (await readdir(folder)).filter((one) => one.endsWith(".pack"))) {
		wholes.set(name, await readFile(join(folder, name)));
		await chmod(join(folder, name), 0o644);
		await truncate(join(folder, name), 40);
	}
	// A running process knows the packs that it has opened: another one comes.
	for (const pid of world.server.gitProcesses("cat-file")) process.kill(pid, "SIGKILL");
	const refusal = await world.put("one", "other");
	const reader = await world.readAll();
	for (const [name, bytes] of wholes) await writeFile(join(folder, name), bytes);
	const last = await world.putAtLast("one");
	const publisher = `${refusal}; then ${last}`;
	await world.note("repository", "all packs cut off, while it runs", { reader, publisher });
});

for (const [what, text] of [
	["is garbage", "no commit\n"],
	["is empty", ""],
	["names a commit that is lost", `${"1".repeat(40)}\n`],
]) {
	test(`a branch that ${what}`, async ({ world }) => {
		await world.stop();
		const file = join(world.repository, "refs/heads/main");
		const good = await readFile(file, "utf8");
		await writeFile(file, text as string);
		await world.refusedStart(/main: must name a commit of the repository/);
		assert.is(await readFile(file, "utf8"), text);
		await writeFile(file, good);
		await world.start();
		const reader = `files of the web server; then ${await world.readAll()}`;
		const publisher = `nothing; then ${await world.put("three")}`;
		await world.note("repository", `the branch's file ${what}`, { reader, publisher });
	});
}

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
	await rename(world.repository, `${world.repository}.away`);
	await world.refusedStart(/repository\.git: has no layers, and \S+dist\.served has what was served from it/);
	assert.not(existsSync(world.repository));
	await rename(`${world.repository}.away`, world.repository);
	await world.start();
	const reader = `files of the web server; then ${await world.readAll()}`;
	const publisher = `nothing; then ${await world.put("three")}`;
	await world.note("repository", "deleted, before a start", { reader, publisher });
});

test.run();
