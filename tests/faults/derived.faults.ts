import { rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";
import { World } from "./world.ts";

const test = freshSuite("what is derived", async (use) => ({ world: use(await World.started()) }));

for (const [what, break_] of [
	[
		"`DATA_DIR/dist.served` is cut off",
		(path: string) => stat(path).then(({ size }) => truncate(path, size - 20)),
	],
	["`DATA_DIR/dist.served` is empty", (path: string) => writeFile(path, "")],
] as const) {
	test(what, async ({ world }) => {
		await world.stop();
		await break_(join(world.folder, "dist.served"));
		await world.start();
		const reader = await world.readAll();
		await world.note("derived", what, { reader, publisher: await world.put("three") });
	});
}

for (const [fault, isKilled, length] of [
	["a rendered file is empty, after an end", false, 0],
	["a rendered file is cut off, after a kill", true, 30],
] as const) {
	test(fault, async ({ world }) => {
		if (isKilled) await world.server.kill(true);
		else await world.stop();
		await truncate(world.fileOf("one"), length);
		await world.start();
		const reader = `${await world.readAll()}; the file soon after the start`;
		await world.untilWritten();
		await world.note("derived", fault, { reader, publisher: await world.put("three") });
	});
}

test("`DATA_DIR/dist` is deleted before a start", async ({ world }) => {
	await world.stop();
	await rm(join(world.folder, "dist"), { recursive: true });
	await world.start();
	await world.untilWritten();
	const reader = `${await world.readAll()}; the files soon after the start`;
	const fault = "`DATA_DIR/dist` is deleted before a start";
	await world.note("derived", fault, { reader, publisher: await world.put("three") });
});

test("`DATA_DIR/dist` is deleted while it runs", async ({ world }) => {
	await rm(join(world.folder, "dist"), { recursive: true });
	const answer = await world.put("three");
	await world.untilWritten();
	const reader = `${await world.readAll()}; the files with the next change`;
	const fault = "`DATA_DIR/dist` is deleted while it runs";
	await world.note("derived", fault, { reader, publisher: answer });
});

test("`DATA_DIR/dist` cannot be written", async ({ world }) => {
	await rename(join(world.folder, "dist"), join(world.folder, "aside"));
	await writeFile(join(world.folder, "dist"), "in the way");
	const answer = `${await world.put("three")}, ${world.warned.length > 0 ? "with a warning" : "without a warning"}`;
	const reader = `${await world.readAll()}; the files are behind`;
	assert.match(await world.readiness(), "503 ");
	await rm(join(world.folder, "dist"));
	await world.untilWritten("three");
	await eventually(() => world.server.output.includes("are current again"));
	const fault = "`DATA_DIR/dist` cannot be written, while it runs";
	await world.note("derived", fault, { reader, publisher: answer });
});

test.run();
