import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { Clone } from "../helpers/clone.ts";
import { wms } from "../helpers/local.ts";
import { cleanEnvironment, pathWithNpx, root } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { commandsOf } from "../installed/page.ts";
import { noteFault, noteLoss, secret, World } from "./world.ts";

const page = "docs/operate.md";

/** The senders are in their file, as an operator has them. */
const fileOnly = { SENDERS: "" };

const test = freshSuite("loss and return", async (use) => {
	const elsewhere = use(await temporaryFolder()).path;
	const world = use(await World.of(null, { ...fileOnly, LAST_START: join(elsewhere, "last-start.json") }));
	await writeSenders(world.folder);
	await world.start();
	await using clone = await Clone.of(world.repository);
	const keys = Array.from({ length: 1_000 }, (_, index) => `layer-${index}`);
	await clone.commit(Object.fromEntries(keys.map((key) => [layerPath(key), wms(key)])));
	assert.ok(await clone.push());
	await eventually(async () => (await world.read("layer-999")) === "layer-999");
	for (const key of ["layer-0", "layer-999"]) world.acknowledged.set(key, key);
	assert.is(await world.put("one"), "201");
	// The start notes what it serves.
	await world.stop();
	await world.start();
	return { world, elsewhere };
});

function writeSenders(folder: string) {
	return writeFile(join(folder, "senders.json"), JSON.stringify({ faults: secret }), { mode: 0o600 });
}

async function follow(commands: string, variables: Record<string, string>) {
	const env = cleanEnvironment({ GIT_CONFIG_GLOBAL: "/dev/null", ...variables, PATH: pathWithNpx() });
	await promisify(execFile)("bash", ["-euc", commands], { env, cwd: root });
}

async function millisecondsOf(world: World, task: () => Promise<void>): Promise<number> {
	const began = performance.now();
	await task();
	assert.is(await world.readAll(), "200");
	assert.is(await world.put("after"), "201");
	return performance.now() - began;
}

test("kill -9 of everything", async ({ world }) => {
	await world.server.kill(true);
	const milliseconds = await millisecondsOf(world, () => world.start());
	noteLoss({ loss: "`kill -9` of all processes; a start", lost: "nothing", milliseconds });
});

test("the disk is lost, and the backup is restored", async ({ world, elsewhere }) => {
	const script = commandsOf(page, "## Backup and restore");
	const at = script.indexOf("git clone");
	const variables = { DATA_DIR: world.folder, BACKUP: join(elsewhere, "backup") };
	await follow(script.slice(0, at), variables);
	assert.is(await world.put("two"), "201");
	await world.server.kill(true);
	// What a killed process had open goes away with it.
	await mkdir(join(elsewhere, "lost"));
	for (const name of await readdir(world.folder))
		await rename(join(world.folder, name), join(elsewhere, "lost", name));
	await world.refusedStart(
		/has no layers, and \S+last-start\.json says what the last start served, before later changes: \S+: 1001 layers at commit/,
	);
	assert.equal(await readdir(world.folder), []);
	const night = await follow(script.slice(0, at), variables).catch((error: { code: number }) => error);
	assert.is(night?.code, 1, "the next backup");
	// What came after the backup is lost, and nothing else.
	world.acknowledged.set("two", null);
	const milliseconds = await millisecondsOf(world, async () => {
		await follow(script.slice(at), variables);
		await world.start();
	});
	const publisher = "nothing; the next backup is refused; then 201";
	const reader = "nothing; then what the backup has";
	noteFault({ section: "disk", fault: "lost, or not mounted, at a start", reader, publisher });
	const loss = `\`DATA_DIR\` is lost; the backup is restored ([operate](operate.md#backup-and-restore))`;
	noteLoss({ loss, lost: "what came after the last backup", milliseconds });
	await world.check();
});

test("the machine is lost, and its standby takes over", async ({ world, elsewhere }) => {
	const [once = "", fetchLine = ""] = commandsOf(page, "A standby on a clone").split(/\n(?=git)/);
	const folder = join(elsewhere, "standby");
	await mkdir(folder);
	const variables = { PRIMARY: world.folder, STANDBY: folder };
	await follow(once, variables);
	const standby = await World.of(folder, { SENDERS: "{}", HARVEST: "off" });
	await standby.start();
	let taken: World | null = null;
	try {
		assert.is(await world.put("two"), "201");
		await follow(fetchLine, variables);
		await eventually(async () => (await standby.read("two")) === "two");
		assert.is(await world.put("three"), "201");
		await world.server.kill(true);
		taken = await World.of(folder, fileOnly);
		for (const [key, layer] of world.acknowledged) taken.acknowledged.set(key, layer);
		taken.acknowledged.set("three", null);
		const milliseconds = await millisecondsOf(taken, async () => {
			await standby.stop();
			await follow(`git -C "$STANDBY/repository.git" config --remove-section remote.origin`, variables);
			await copyFile(join(world.folder, "senders.json"), join(folder, "senders.json"));
			await taken?.start();
		});
		const loss = "the machine is lost; its standby takes over ([operate](operate.md#more-than-one-process))";
		noteLoss({ loss, lost: "what the standby has not fetched", milliseconds });
		await taken.check();
	} finally {
		await standby.end();
		await taken?.end();
	}
});

test.run();
