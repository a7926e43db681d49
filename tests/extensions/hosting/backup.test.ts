import { cp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../../registry/smallkey.ts";
import { Local, noon, wms } from "../../helpers/local.ts";
import { type Ended, prints, runScript } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { git } from "../../store/git-store.ts";
import { loosen } from "../../store/loose-objects.ts";

const test = freshSuite("npx fragment-publisher backup", async (use) => {
	const backup = join(use(await temporaryFolder()).path, "backup");
	const local = use(await Local.open({ files: { [layerPath("first")]: wms("first") } }));
	await writeFile(join(local.folder, "senders.json"), '{"jstest":"test_-k"}', { mode: 0o644 });
	return { backup, local };
});

function backUp(folder: string, backup: string, hours = 0): Promise<Ended> {
	const now = () => new Date(noon + hours * 3_600_000);
	return runScript("backup", [backup], { DATA_DIR: folder }, { now });
}

const packsOf = (backup: string) => join(backup, "repository.git/objects/pack");

/** A service at rest repacks, and git's packs are others while they are copied. */
async function copyStopped(local: Local, from: string, to: string): Promise<void> {
	await local.stop();
	await cp(from, to, { recursive: true });
	await local.start();
}

async function stateOf(backup: string): Promise<string> {
	const refs = await git(backup, "for-each-ref");
	return [refs, await readdir(backup), await readFile(join(backup, "senders.json"), "utf8")].join("\n");
}

test("the first backup copies everything, with modes for its owner only, and later ones what is new", async (scene) => {
	const { local, backup } = scene;
	const writes = [1, 2, 3].map((count) => local.put(`meanwhile${count}`, wms("meanwhile")));
	await prints(backUp(local.folder, `${backup}.meanwhile`), 0);
	for (const { status } of await Promise.all(writes)) assert.is(status, 201);
	const first = await backUp(local.folder, backup);
	assert.equal([first.code, first.stderr], [0, ""]);
	assert.match(
		first.stdout,
		`has 4 layers at commit ${local.store.tip.slice(0, 12)}, and the senders; all was`,
	);
	assert.is((await stat(backup)).mode & 0o777, 0o700);
	assert.is((await stat(join(backup, "senders.json"))).mode & 0o777, 0o600);
	await local.put("second", wms("second"));
	await writeFile(join(local.folder, "senders.json"), '{"other":"secret"}');
	const later = await backUp(local.folder, backup, 1);
	assert.equal([later.code, later.stderr], [0, ""]);
	assert.is(await git(backup, "rev-parse", "main"), local.store.tip);
	assert.is(await readFile(join(backup, "senders.json"), "utf8"), '{"other":"secret"}');
	const kept = join(backup, "senders.json.2026-03-04T130000.000Z");
	assert.is(await readFile(kept, "utf8"), '{"jstest":"test_-k"}');
	assert.is((await stat(kept)).mode & 0o777, 0o600);
	assert.match(later.stdout, kept);
	assert.not.match(later.stdout + first.stdout, "test_-k");
});

test("a source that was lost and began again, or is an older copy, leaves the backup as it is", async (scene) => {
	const { local, backup } = scene;
	const older = `${backup}.older`;
	await copyStopped(local, local.folder, older);
	await local.put("second", wms("second"));
	assert.is((await backUp(local.folder, backup)).code, 0);
	const before = await stateOf(backup);
	await using other = await Local.open();
	await writeFile(join(other.folder, "senders.json"), '{"publisher":"new"}');
	for (const lost of [other.folder, older]) {
		const { code, stdout, stderr } = await backUp(lost, backup, 1);
		assert.equal([code, stdout], [1, ""]);
		assert.match(stderr, /the backup has commits that \S+ does not have/);
		assert.is(await stateOf(backup), before);
	}
});

test("a damaged source, or one whose senders file is gone, leaves the backup as it is", async (scene) => {
	const { local, backup } = scene;
	await backUp(local.folder, backup);
	const before = await stateOf(backup);
	await local.put("second", wms("second"));
	const senders = join(local.folder, "senders.json");
	await writeFile(senders, "{");
	assert.is((await backUp(local.folder, backup)).code, 2);
	await rm(senders);
	const gone = await backUp(local.folder, backup);
	assert.is(gone.code, 1);
	assert.match(gone.stderr, `${senders}: is not there, and the backup in ${backup} has it`);
	assert.is(await stateOf(backup), before);
	await writeFile(senders, '{"jstest":"test_-k"}');
	const copy = `${backup}.damaged`;
	await copyStopped(local, local.folder, copy);
	for (const name of await readdir(packsOf(copy)))
		if (name.endsWith(".pack")) {
			const path = join(packsOf(copy), name);
			const bytes = await readFile(path);
			await rm(path);
			await writeFile(path, bytes.fill(7, 20));
		}
	const damaged = await backUp(copy, backup);
	assert.is(damaged.code, 1);
	assert.match(damaged.stderr, `${backup}: the backup failed: `);
	assert.is(await stateOf(backup), before);
});

async function backUpTwice({ local, backup }: { local: Local; backup: string }): Promise<string[]> {
	await backUp(local.folder, backup);
	const before = await readdir(packsOf(backup));
	await local.put("second", wms("second"));
	assert.is((await backUp(local.folder, backup)).code, 0);
	return (await readdir(packsOf(backup))).filter((name) => !before.includes(name));
}

test("a later backup reads the packs of all earlier ones back", async (scene) => {
	const { local, backup } = scene;
	const [index = ""] = (await backUpTwice(scene)).filter((name) => name.endsWith(".idx"));
	const path = join(packsOf(backup), index);
	const bytes = await readFile(path);
	await rm(path);
	// Git itself reads this byte only to check the file.
	await writeFile(path, bytes.fill(bytes.at(-1) === 7 ? 8 : 7, bytes.length - 1));
	for (let run = 0; run < 2; run += 1) {
		const damaged = await backUp(local.folder, backup);
		assert.is(damaged.code, 1);
		assert.match(damaged.stderr, `${backup}: the backup failed: `);
	}
});

test("a later backup misses a pack that is lost", async (scene) => {
	const { local, backup } = scene;
	const packs = await backUpTwice(scene);
	await local.put("third", wms("third"));
	assert.is((await backUp(local.folder, backup)).code, 0);
	for (const name of packs) await rm(join(packsOf(backup), name));
	const { code, stdout } = await backUp(local.folder, backup);
	assert.equal([code, stdout], [1, ""]);
});

test("a repository that was copied there by hand is checked whole, and then a backup as any other", async (scene) => {
	const { local, backup } = scene;
	const repository = join(backup, "repository.git");
	await copyStopped(local, local.repository, repository);
	await loosen(repository);
	const copy = `${backup}.damaged`;
	await cp(backup, copy, { recursive: true });
	assert.is((await backUp(local.folder, backup)).code, 0);
	assert.match(await git(backup, "count-objects", "-v"), /^count: 0\n/);
	assert.is(await git(backup, "config", "gc.auto"), "0");
	const blob = await git(copy, "rev-parse", `main:${layerPath("first")}`);
	await rm(join(copy, "repository.git/objects", blob.slice(0, 2), blob.slice(2)));
	assert.is((await backUp(local.folder, copy)).code, 1);
});

test.run();
