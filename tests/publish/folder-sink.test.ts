import { execFile } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { openFolderSink } from "../../publish/folder-sink.ts";
import { joinFragments, type Slot } from "../../publish/rendered.ts";
import { Table } from "../../publish/table.ts";
import { textsOf } from "../../registry/problems.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { logTo } from "../store/git-store.ts";

const slots: Slot[] = [{ target: "v0.9", lang: "en" }];
const behind = ["the files of the web server in front are behind this registration for now"];

interface Scene {
	folder: string;
	table: Table;
	warnings: string[];
	files: ReturnType<typeof openFolderSink>;
}

const test = freshSuite<Scene>("the folder of rendered files", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const [table, warnings]: [Table, string[]] = [new Table(slots), []];
	const times = { waitMs: 2_000, retryMs: 20, maxRetryMs: 20 };
	const files = openFolderSink({ out: join(folder, "out"), slots, table, log: logTo(warnings), times });
	use(() => files.close());
	return { folder, table, warnings, files };
});

function pathOf({ folder }: Scene, smallkey: string): string {
	return join(folder, "out", "v0.9", "doc", "en", smallkey);
}

/** Gives layers a text in the table, and begins to write their files. */
async function change({ table, files }: Scene, text: string, ...smallkeys: string[]) {
	await table.change(new Map(smallkeys.map((smallkey) => [smallkey, joinFragments([text], 1)])));
	return { written: files.changed(smallkeys) };
}

async function warningsOf(...args: Parameters<typeof change>): Promise<string[]> {
	return textsOf(await (await change(...args)).written);
}

test("a publisher hears that a file could not be written, and it is written later", async (scene) => {
	await mkdir(join(pathOf(scene, "a"), "below"), { recursive: true });
	assert.equal(await warningsOf(scene, "1", "a", "b"), behind);
	assert.is(await readFile(pathOf(scene, "b"), "utf8"), "1");
	assert.match(scene.files.state() ?? "", /^the rendered files of 1 layer are behind: EISDIR/);
	await rm(pathOf(scene, "a"), { recursive: true });
	await eventually(() => scene.files.state() === null);
	assert.is(await readFile(pathOf(scene, "a"), "utf8"), "1");
	assert.equal(await warningsOf(scene, "2", "a"), []);
	assert.is(await readFile(pathOf(scene, "a"), "utf8"), "2");
});

test("while the disk hangs, a change waits only until its limit, and the files that wait stay few", async (scene) => {
	await warningsOf(scene, "0", "first");
	await scene.files.idle();
	// The next temporary file is a pipe without a reader: the thread waits for one.
	const pipe = join(scene.folder, `.out.${process.pid}.1.tmp`);
	await promisify(execFile)("mkfifo", [pipe]);
	assert.equal(await warningsOf(scene, "1", "a"), behind);
	const many = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
	const waiting = [];
	for (let round = 0; round < 30; round += 1)
		waiting.push((await change(scene, `${round}`, ...many)).written.then((found) => textsOf(found)));
	const warnings = await Promise.all(waiting);
	const most = scene.files.behind;
	await readFile(pipe);
	assert.ok(warnings.every(([warning]) => warning === behind[0]));
	assert.ok(most < 13_000, `${most} are behind`);
	await scene.files.idle();
	assert.is(scene.files.behind, 0);
	for (const smallkey of ["k0", "k999"]) assert.is(await readFile(pathOf(scene, smallkey), "utf8"), "29");
});

test.run();
