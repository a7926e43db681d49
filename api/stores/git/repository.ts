import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runGit } from "../../git/run.ts";
import { type SyncPath, syncPath } from "../../git/sync.ts";

/** Settings of the repository: acknowledged commits stay, and nothing tidies up under the writer. */
const settings: [string, string][] = [
	["core.fsync", "committed"],
	["core.fsyncMethod", "fsync"],
	["gc.auto", "0"],
	["receive.autogc", "false"],
	["receive.denyDeletes", "true"],
	["receive.denyNonFastForwards", "true"],
	["receive.fsckObjects", "true"],
];

/** A lock of git is held for milliseconds; one that is this old, in milliseconds, is a killed writer's. */
const lockPatience = 2_000;

/** Makes a bare repository where there is none, sets it up, and clears what a killed writer left behind. */
export async function openRepository(repository: string, branch: string, sync = syncPath): Promise<void> {
	const isNew = !existsSync(join(repository, "HEAD"));
	await mkdir(repository, { recursive: true });
	await checkVersion(repository);
	await clearLeftovers(repository);
	await runGit(repository, ["init", "-q", "--bare", `--initial-branch=${branch}`, "."]);
	for (const [name, value] of settings) await runGit(repository, ["config", name, value]);
	if (isNew) await syncNew(repository, sync);
}

/** Puts a new repository on the disk, with the folders that lead to it. */
async function syncNew(repository: string, sync: SyncPath): Promise<void> {
	for (const name of ["HEAD", "config", "objects/pack", "objects", "refs/heads", "refs"]) {
		await sync(join(repository, name));
	}
	for (let folder = resolve(repository), child = ""; folder !== child; folder = dirname(folder)) {
		await sync(folder);
		child = folder;
	}
}

/** Number of packs in a repository. */
export async function countPacks(repository: string): Promise<number> {
	const names = await readdir(join(repository, "objects", "pack"));
	return names.filter((name) => name.endsWith(".pack")).length;
}

/** An older git would ignore `core.fsync` without a word. @throws {Error} */
async function checkVersion(repository: string): Promise<void> {
	const text = (await runGit(repository, ["--version"])).toString("latin1");
	const [, major = 0, minor = 0] = (/(?<!\d)(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
	if (major < 2 || (major === 2 && minor < 36))
		throw new Error(`git: must be 2.36 or newer, not ${text.trim()}`);
}

async function clearLeftovers(repository: string): Promise<void> {
	const refs = await readdir(join(repository, "refs"), { recursive: true }).catch(() => []);
	const locks = refs.filter((name) => name.endsWith(".lock")).map((name) => join("refs", name));
	for (const name of [...locks, "packed-refs.lock", "config.lock", "index.lock", "HEAD.lock"]) {
		await clearLock(join(repository, name));
	}
	for (const name of await readdir(repository)) {
		if (name.startsWith("fast_import_crash_")) await rm(join(repository, name), { force: true });
	}
	await clearPacks(join(repository, "objects", "pack"));
}

/** Waits for a lock to go, as long as somebody may still hold it. */
export async function clearLock(path: string): Promise<void> {
	for (;;) {
		const found = await stat(path).catch(() => null);
		if (!found) return;
		// The age by the file system's clock, which also wrote the time.
		if (Date.now() - found.mtimeMs > lockPatience) break;
		await sleep(100);
	}
	await rm(path, { force: true });
}

/** Half-written packs, and the marks that keep a finished one out of a repack until its refs are written. */
async function clearPacks(folder: string): Promise<void> {
	for (const name of await readdir(folder).catch(() => [])) {
		const path = join(folder, name);
		if (name.startsWith(".tmp-")) await rm(path, { force: true });
		const isMark = name.endsWith(".keep") && (await readFile(path, "utf8")).startsWith("fast-import");
		if (isMark || name.startsWith("tmp_")) await rm(path, { force: true });
	}
}
