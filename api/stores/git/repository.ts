import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { runGit } from "../../git/run.ts";
import type { SyncPath } from "../../git/sync.ts";
import { clearLocks, listLocks } from "./locks.ts";
import { applySettings } from "./settings.ts";

/**
 * Puts the hook into a repository that judges what is pushed; false where it cannot run there.
 * @throws {Error} where it cannot be written
 */
export type Guard = (repository: string) => Promise<boolean>;

/**
 * Makes a bare repository where there is none, sets it up, and clears what a killed writer left behind.
 * @param guard without one, git itself refuses every forced push and every deletion
 */
export async function openRepository(
	repository: string,
	branch: string,
	sync: SyncPath,
	lockMs: number,
	guard: Guard = async () => false,
): Promise<void> {
	const isNew = !existsSync(join(repository, "HEAD"));
	await mkdir(repository, { recursive: true });
	await checkVersion(repository);
	await clearLeftovers(repository, lockMs);
	await runGit(repository, ["init", "-q", "--bare", `--initial-branch=${branch}`, "."]);
	await applySettings(repository, await guard(repository));
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
	const output = await runGit(repository, ["--version"]).catch((error: Error) => {
		throw new Error(`git: must be 2.36 or newer, and in PATH: ${error.message}`);
	});
	const text = output.toString("latin1");
	const [, major = 0, minor = 0] = (/(?<!\d)(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
	if (major < 2 || (major === 2 && minor < 36))
		throw new Error(`git: must be 2.36 or newer, not ${text.trim()}`);
}

async function clearLeftovers(repository: string, lockMs: number): Promise<void> {
	await clearLocks(repository, await listLocks(repository), lockMs);
	for (const name of await readdir(repository)) {
		if (name.startsWith("fast_import_crash_")) await rm(join(repository, name), { force: true });
	}
	await clearPacks(join(repository, "objects", "pack"));
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
