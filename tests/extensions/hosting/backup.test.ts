import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { Local, noon, wms } from "../../helpers/local.ts";
import { cleanEnvironment, exits, prints, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { commandsOf } from "../../installed/page.ts";
import { git } from "../../store/git-store.ts";

let local: Local;
let backup: string;
let senders: string;

const test = freshSuite("npx fragment-publisher backup", async (use) => {
	backup = join(use(await temporaryFolder()).path, "backup");
	local = use(await Local.open({ files: { [layerPath("first")]: wms("first") } }));
	senders = join(local.folder, "senders.json");
	await writeFile(senders, '{"jstest":"test_-k"}', { mode: 0o644 });
});

function backUp(folder = local.folder, to = backup) {
	return runScript("backup", [to], { DATA_DIR: folder }, { now: () => new Date(noon) });
}

async function damage(folder: string, name: string, change: (bytes: Buffer) => Buffer) {
	const path = join(folder, "repository.git/objects/pack", name);
	const bytes = await readFile(path);
	await rm(path);
	await writeFile(path, change(bytes));
}

const packsOf = (folder: string) => readdir(join(folder, "repository.git/objects/pack"));

const stateOf = async () => [
	await git(backup, "for-each-ref"),
	await readdir(backup),
	await readFile(join(backup, "senders.json"), "utf8"),
];

async function assertRefused(text: string | RegExp, code = 1, folder = local.folder) {
	const before = await stateOf();
	const { stdout } = await warns(backUp(folder), code, text);
	assert.equal([stdout, await stateOf()], ["", before]);
}

test("the first backup copies everything, for its owner only, and later ones what is new", async () => {
	const writes = [1, 2, 3].map((count) => local.put(`meanwhile${count}`, wms("meanwhile")));
	await exits(backUp(local.folder, `${backup}.meanwhile`), 0);
	for (const { status } of await Promise.all(writes)) assert.is(status, 201);
	const text = `has the layers at commit ${local.store.tip.slice(0, 12)}, and the senders; all was`;
	const first = await prints(backUp(), 0, text);
	assert.is((await stat(backup)).mode & 0o777, 0o700);
	await local.put("second", wms("second"));
	await writeFile(senders, '{"other":"secret"}');
	const kept = join(backup, "senders.json.2026-03-04T120000.000Z");
	const later = await exits(backUp(), 0);
	assert.is(await git(backup, "rev-parse", "main"), local.store.tip);
	assert.is(await readFile(join(backup, "senders.json"), "utf8"), '{"other":"secret"}');
	assert.is(await readFile(kept, "utf8"), '{"jstest":"test_-k"}');
	for (const path of [kept, join(backup, "senders.json")]) assert.is((await stat(path)).mode & 0o777, 0o600);
	assert.not.match(later.stdout + first.stdout, "test_-k");
});

test("a new or damaged source, or one without senders, leaves the backup as it is", async () => {
	await exits(backUp(), 0);
	await using other = await Local.open();
	await writeFile(join(other.folder, "senders.json"), '{"publisher":"new"}');
	await assertRefused(/the backup has commits that the source does not have/, 1, other.folder);
	await local.put("second", wms("second"));
	await writeFile(senders, "{");
	await assertRefused("senders.json", 2);
	await warns(backUp(local.folder, ""), 2, "an argument is empty");
	await rm(senders);
	await assertRefused(`${senders}: is not there, and the backup in ${backup} has it`);
	await writeFile(senders, '{"jstest":"test_-k"}');
	await local.stop();
	for (const name of (await packsOf(local.folder)).filter((name) => name.endsWith(".pack")))
		await damage(local.folder, name, (bytes) => bytes.fill(7, 20));
	await assertRefused(`${backup}: the backup failed: `);
});

test("a later backup misses what is lost or damaged of all earlier ones", async () => {
	await exits(backUp(), 0);
	const before = await packsOf(backup);
	await local.put("second", wms("second"));
	await exits(backUp(), 0);
	const [index = "", pack = ""] = (await packsOf(backup)).filter((name) => !before.includes(name)).sort();
	await local.put("third", wms("third"));
	await exits(backUp(), 0);
	const copy = `${backup}.copy`;
	await cp(backup, copy, { recursive: true });
	await rm(join(copy, "repository.git/objects/pack", pack));
	await exits(backUp(local.folder, copy), 1);
	// Git itself reads the last byte of an index only to check the file.
	await damage(backup, index, (bytes) => bytes.fill(bytes.at(-1) === 7 ? 8 : 7, bytes.length - 1));
	await assertRefused(`${backup}: the backup failed: `);
	await writeFile(join(backup, "repository.git/HEAD"), "");
	await warns(backUp(), 1, "is damaged: move it away, and back up again");
});

// In tests/faults a standby takes over.
test("a standby never follows a service that lost layers", async () => {
	const standby = `${backup}.standby`;
	await mkdir(standby);
	const env = cleanEnvironment({ PRIMARY: local.folder, STANDBY: standby });
	const follow = (commands = "") => promisify(execFile)("bash", ["-euc", commands], { env });
	const [once, fetchLine] = commandsOf("docs/operate.md", "A standby on a clone").split(/\n(?=git)/);
	await follow(once);
	await local.put("followed", wms("followed"));
	await follow(fetchLine);
	assert.is(await git(standby, "rev-parse", "main"), local.store.tip);
	// The service begins empty.
	await using other = await Local.open();
	await git(standby, "config", "remote.origin.url", other.repository);
	const refusal = await follow(fetchLine).then(() => "", String);
	assert.match(refusal, "[rejected]");
	assert.is(await git(standby, "rev-parse", "main"), local.store.tip);
});

test.run();
