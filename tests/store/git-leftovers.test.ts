import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { StoreBusy } from "../../store/store.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { gitIn, temporaryFolder } from "../helpers/world.ts";
import { committed, openEmpty, put } from "./git-store.ts";

const limits = { probeMs: 20, pollMs: 5, restMs: 0 };

/** The incomplete packs of a repository, and the reports of crashes. */
async function leftIn(folder: string): Promise<string[]> {
	const repository = join(folder, "repository.git");
	const names = [...(await readdir(repository)), ...(await readdir(join(repository, "objects/pack")))];
	return names.filter((name) => /^(?:tmp_|fast_import_crash_)/.test(name)).sort();
}

test("what refused writes left is removed while the service runs, and their reason is not busy", async () => {
	await using folder = await temporaryFolder();
	let isFull = false;
	const sync = async () => {
		if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
	};
	await using store = await openEmpty(folder.path, { sync, limits });
	await committed(put(store, "one"));
	isFull = true;
	const refused = await put(store, "two").catch((error: unknown) => error);
	assert.instance(refused, StoreBusy);
	assert.is((refused as StoreBusy).label, "there is no room on the disk");
	const packs = join(folder.path, "repository.git/objects/pack");
	await writeFile(join(folder.path, "repository.git/fast_import_crash_1"), "");
	for (const name of ["tmp_pack_old", "tmp_idx_old", "tmp_pack_new"]) await writeFile(join(packs, name), "");
	for (const name of ["tmp_pack_old", "tmp_idx_old"]) await utimes(join(packs, name), 1, 1);
	store.start();
	const isRefused = (name: string) => name.endsWith("_old") || name.startsWith("fast_import_crash_");
	await eventually(async () => !(await leftIn(folder.path)).some(isRefused));
	assert.ok((await leftIn(folder.path)).includes("tmp_pack_new"), "another git may still write it");
	assert.is(await store.read("two"), null, "nothing was stored");
	isFull = false;
	assert.ok(await committed(put(store, "three")));
});

test("the incomplete pack of an idle writer is not removed", async () => {
	await using folder = await temporaryFolder();
	await using store = await openEmpty(folder.path, { limits: { ...limits, probeMs: 0 } });
	await committed(put(store, "one"));
	const packs = join(folder.path, "repository.git/objects/pack");
	const names = (await leftIn(folder.path)).filter((name) => name.startsWith("tmp_pack_"));
	for (const name of names) await utimes(join(packs, name), 1, 1);
	store.start();
	const git = gitIn(join(folder.path, "repository.git"));
	// The service notices the second commit after it has checked, at the first one, whether changes can be made.
	for (const message of ["first", "second"]) {
		const commit = await git("commit-tree", "-m", message, "-p", "main", "main^{tree}");
		await git("update-ref", "refs/heads/main", commit);
		await eventually(() => store.tip === commit);
	}
	assert.ok(await committed(put(store, "two")));
});

test("a change that waits too long for a disk with room has that reason, and not busy", async () => {
	await using folder = await temporaryFolder();
	let release = () => undefined as unknown;
	let syncs = Number.NaN;
	const sync = async () => {
		syncs += 1;
		if (syncs === 1) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
		if (syncs === 2) await new Promise((resolve) => (release = () => resolve(undefined)));
	};
	await using late = await openEmpty(folder.path, { sync, limits: { ...limits, waitMs: 2_000 } });
	syncs = 0;
	const first = put(late, "one").catch(() => undefined);
	await eventually(() => syncs === 2);
	const waited = await put(late, "two").catch((error: unknown) => error);
	assert.is((waited as StoreBusy).label, "there is no room on the disk");
	release();
	await first;
});

test.run();
