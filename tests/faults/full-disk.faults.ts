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

const once = (world: World, disk: SmallDisk): [string, () => Promise<void>] => [
	"once there is room:",
	async () => {
		assert.match(await world.readiness(), /^503 /);
		await disk.free();
	},
];

for (const [what, use] of ways) {
	test(`${what} during a PUT`, async ({ disk, world }) => {
		await use(disk);
		await world.noteRefusal("disk", `${what} during a PUT`, once(world, disk));
	});

	test(`${what} at a start`, async ({ disk, world }) => {
		await world.stop();
		await use(disk);
		await world.start();
		await world.noteRefusal("disk", `${what} at a start`, once(world, disk));
	});
}

test("full during a push", async ({ disk, world }) => {
	await using clone = await Clone.of(world.repository);
	await clone.commit({ "layers/pu/pushed.json": wms("pushed") });
	await disk.fill();
	const push = async () => ((await clone.push()) ? "accepted" : "refused");
	const refusal = await push();
	const reader = await world.readAll();
	assert.is(await world.read("pushed"), "404");
	await disk.free();
	const last = await push();
	world.acknowledged.set("pushed", "pushed");
	await eventually(async () => (await world.read("pushed")) === "pushed");
	const publisher = `the push is ${refusal}; once there is room, it is ${last}`;
	await world.note("disk", "full during a push", { reader, publisher });
});

test("full during a repack", async ({ disk, world }) => {
	// Two packs of bytes that no repack makes smaller, and nearly as many as are gathered.
	for (const branch of ["first", "second"]) {
		await using clone = await Clone.of(world.repository);
		await clone.commit({ [branch]: randomBytes(2 << 20).toString("base64") });
		assert.ok(await clone.push("origin", `HEAD:refs/heads/${branch}`));
	}
	for (let turn = 0; turn < 49; turn += 1) await world.put("three", `turn ${turn}`);
	await disk.fill();
	await world.put("three", "the last");
	await eventually(() => /"error":"GitFailure: git repack/.test(world.server.output));
	await world.noteRefusal("disk", "full during a repack", once(world, disk));
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
	const then = () => disk.setReadOnly(false);
	await world.noteRefusal("disk", "read-only at a start", ["once it may be written:", then]);
});

const mayMount = await SmallDisk.mount();
await mayMount?.[Symbol.asyncDispose]();
runUnless(mayMount ? null : "full disks: this machine may not mount a small one", test);
