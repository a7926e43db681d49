import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { Clone } from "../helpers/clone.ts";
import { wms } from "../helpers/local.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, runUnless } from "../helpers/world.ts";
import { SmallDisk } from "./disk.ts";
import { noteFault, World } from "./world.ts";

const test = freshSuite("a full disk", async (use) => {
	const disk = use((await SmallDisk.mount()) as SmallDisk);
	return { disk, world: use(await World.started(disk.path)) };
});

const ways = [
	["full", (disk: SmallDisk) => disk.fill()],
	["without an inode left", (disk: SmallDisk) => disk.useInodes()],
] as const;

for (const [what, use] of ways) {
	test(`${what} during a PUT`, async ({ disk, world }) => {
		await use(disk);
		const refusal = await world.put("three");
		const reader = await world.readAll();
		assert.match(await world.readiness(), /^503 /);
		await disk.free();
		const last = await world.putAtLast("three");
		const publisher = `${refusal}; once there is room: ${last}`;
		await world.note("disk", `${what} during a PUT`, { reader, publisher });
	});

	test(`${what} at a start`, async ({ disk, world }) => {
		await world.stop();
		await use(disk);
		await world.start();
		const reader = await world.readAll();
		const refusal = await world.put("three");
		await disk.free();
		const last = await world.putAtLast("three");
		const publisher = `${refusal}; once there is room: ${last}`;
		await world.note("disk", `${what} at a start`, { reader, publisher });
	});
}

test("full during a push", async ({ disk, world }) => {
	const clone = await Clone.of(world.repository);
	await clone.commit({ "layers/pu/pushed.json": wms("pushed") });
	await disk.fill();
	const refusal = await clone.push().then(String);
	const reader = await world.readAll();
	assert.is(await world.read("pushed"), "404");
	await disk.free();
	const last = await clone.push().then(String);
	world.acknowledged.set("pushed", "pushed");
	await eventually(async () => (await world.read("pushed")) === "pushed");
	const publisher = `the push is ${words(refusal)}; once there is room, it is ${words(last)}`;
	noteFault({ section: "disk", fault: "full during a push", reader, publisher });
	await clone.remove();
	await world.check();
});

test("full during a repack", async ({ disk, world }) => {
	// Two packs of bytes that no repack makes smaller, and as many as are gathered once nothing changes.
	for (const branch of ["first", "second"]) {
		await using clone = await Clone.of(world.repository);
		await clone.commit({ [branch]: randomBytes(2 << 20).toString("base64") });
		assert.ok(await clone.push("origin", `HEAD:refs/heads/${branch}`));
	}
	for (let turn = 0; turn < 60; turn += 1) await world.put("three", `turn ${turn}`);
	await disk.fill();
	await eventually(() => /"error":"GitFailure: git repack/.test(world.server.output));
	const refusal = await world.put("four");
	const reader = await world.readAll();
	await disk.free();
	const last = await world.putAtLast("four");
	const publisher = `${refusal}; once there is room: ${last}`;
	await world.note("disk", "full during a repack", { reader, publisher });
});

test("full at the first start", async ({ disk, world }) => {
	await world.stop();
	for (const name of await readdir(world.folder)) await rm(join(world.folder, name), { recursive: true });
	await disk.fill();
	await world.refusedStart(/there is no room on the disk, and \S+ has to be made there/);
	await disk.free();
	await world.start();
	const nothing = { reader: "nothing", publisher: "nothing" };
	noteFault({ section: "disk", fault: "full at the first start", ...nothing });
});

test("read-only at a start", async ({ disk, world }) => {
	await world.stop();
	await disk.setReadOnly(true);
	await world.start();
	const reader = await world.readAll();
	const refusal = await world.put("three");
	await disk.setReadOnly(false);
	const last = await world.putAtLast("three");
	const publisher = `${refusal}; once it may be written: ${last}`;
	await world.note("disk", "read-only at a start", { reader, publisher });
});

const words = (taken: string): string => (taken === "true" ? "accepted" : "refused");

const mayMount = await SmallDisk.mount();
await mayMount?.[Symbol.asyncDispose]();
runUnless(mayMount ? null : "full disks: this machine may not mount a small one", test);
