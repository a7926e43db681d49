import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { signalIfThere } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";
import { otherGit, signalledImport } from "../store/other-git.ts";
import { World } from "./world.ts";

const test = freshSuite("processes", async (use) => ({ world: use(await World.started()) }));

async function signalImport(world: World, name: "KILL" | "STOP") {
	await world.stop();
	const script = signalledImport(join(world.folder, "signalled"), name);
	world.env.PATH = `${otherGit(world.folder, script)}:${process.env.PATH}`;
	await world.start();
}

async function signalReader(world: World, name: "KILL" | "STOP") {
	await eventually(() => world.server.gitProcesses("cat-file").length > 0);
	for (const pid of world.server.gitProcesses("cat-file")) signalIfThere(pid, `SIG${name}`);
}

for (const [command, send] of [
	["fast-import", signalImport],
	["cat-file", signalReader],
] as const) {
	for (const [signal, what] of [
		["KILL", "is killed"],
		["STOP", "is stopped and hangs"],
	] as const)
		test(`git ${command} ${what}`, async ({ world }) => {
			await send(world, signal);
			const then = async () => undefined;
			await world.noteRefusal("processes", `\`git ${command}\` ${what}`, ["then", then]);
		});
}

const headUnlocked = (world: World) => eventually(() => world.server.output.includes("HEAD.lock: removed"));

test("locks of killed processes", async ({ world }) => {
	await world.server.kill(true);
	for (const name of ["HEAD", "refs/heads/main", "packed-refs", "config"])
		await writeFile(join(world.repository, `${name}.lock`), "");
	await world.start();
	const [reader, publisher] = [await world.readAll(), await world.put("three")];
	await headUnlocked(world);
	await world.note("processes", "locks of killed processes, at a start", { reader, publisher });
});

test("a lock of a killed process while it runs", async ({ world }) => {
	await writeFile(join(world.repository, "HEAD.lock"), "");
	const publisher = await world.put("three");
	await headUnlocked(world);
	await world.note("processes", "a lock of a killed process, while it runs", { publisher });
});

for (const [fault, script] of [
	["git is missing", null],
	["git is too old", 'echo "git version 2.35.9"'],
] as const) {
	test(fault, async ({ world }) => {
		await world.stop();
		world.env.PATH = script === null ? world.folder : otherGit(world.folder, script);
		await world.refusedStart(/git: must be 2\.36 or newer/);
		delete world.env.PATH;
		await world.start();
		const [reader, publisher] = ["files of the web server", "nothing"];
		await world.note("processes", `${fault}, at a start`, { reader, publisher });
	});
}

/** Notes that a repack begins, and does not let it end: one of few layers is too short to be seen. */
function slowRepack(mark: string) {
	return `case " $* " in
*" repack "*) : > '${mark}'; "$git" "$@"; sleep 600;;
*) exec "$git" "$@";;
esac`;
}

test("kill -9 during a repack", async ({ world }) => {
	const mark = join(world.folder, "repacking");
	await world.stop();
	world.env.PATH = `${otherGit(world.folder, slowRepack(mark))}:${process.env.PATH}`;
	await world.start();
	for (let round = 0; round < 2; round += 1) {
		for (let change = 0; change < 60; change += 1) await world.put(`k${round}`, `change ${change}`);
		await eventually(() => existsSync(mark));
		await world.server.kill(true);
		await rm(mark);
		await world.start();
		assert.is(await world.readAll(), "200");
	}
	delete world.env.PATH;
	await world.server.kill(true);
	await world.start();
	await world.note("processes", "kill -9 of all processes during a repack");
});

test.run();
