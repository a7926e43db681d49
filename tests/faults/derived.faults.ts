import { rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";
import { World } from "./world.ts";

const test = freshSuite("what is derived", async (use) => ({ world: use(await World.started()) }));

const dist = ({ folder }: World) => join(folder, "dist");
const served = (world: World) => `${dist(world)}.served`;
const removeDist = (world: World) => rm(dist(world), { recursive: true });
const cutServed = async (world: World) => truncate(served(world), (await stat(served(world))).size - 20);

const file = "; the file soon after the start";
const files = "; the files soon after the start";

for (const [fault, harm, reader, isKilled = false] of [
	["`DATA_DIR/dist.served` is cut off", cutServed, ""],
	["`DATA_DIR/dist.served` is empty", (world) => writeFile(served(world), ""), ""],
	["a rendered file is empty, after an end", (world) => truncate(world.fileOf("one"), 0), file],
	["a rendered file is cut off, after a kill", (world) => truncate(world.fileOf("one"), 30), file, true],
	["`DATA_DIR/dist` is deleted before a start", removeDist, files],
] satisfies [string, (world: World) => Promise<void>, string, boolean?][])
	test(fault, async ({ world }) => {
		await (isKilled ? world.server.kill(true) : world.stop());
		await harm(world);
		await world.start();
		const status = await world.readAll();
		if (reader !== "") await world.untilWritten();
		await world.note("derived", fault, { reader: status + reader });
	});

test("`DATA_DIR/dist` is deleted while it runs", async ({ world }) => {
	await removeDist(world);
	const publisher = await world.put("three");
	await world.untilWritten();
	const reader = `${await world.readAll()}; the files with the next change`;
	await world.note("derived", "`DATA_DIR/dist` is deleted while it runs", { reader, publisher });
});

test("`DATA_DIR/dist` cannot be written", async ({ world }) => {
	await rename(dist(world), join(world.folder, "aside"));
	await writeFile(dist(world), "in the way");
	const publisher = `${await world.put("three")}, ${world.warned.length > 0 ? "with" : "without"} a warning`;
	const reader = `${await world.readAll()}; the files are behind`;
	assert.match(await world.readiness(), "503 ");
	await rm(dist(world));
	await world.untilWritten("three");
	await eventually(() => world.server.output.includes("are current again"));
	await world.note("derived", "`DATA_DIR/dist` cannot be written, while it runs", { reader, publisher });
});

test.run();
