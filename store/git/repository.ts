import { existsSync } from "node:fs";
import { access, constants, mkdir, open, readdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { GitFailure, runGit } from "../../git/run.ts";
import type { SyncPath } from "../../git/sync.ts";
import type { StoreBase } from "./base.ts";
import { branchName } from "./branch.ts";
import { diskReasonOf } from "./health.ts";
import { clearLocks, listLocks } from "./locks.ts";
import { clearPacks } from "./packs.ts";
import { applySettings } from "./settings.ts";

/**
 * Installs the hook that judges pushes into a repository.
 * @returns false if the hook cannot run there
 * @throws {Error} if the hook cannot be written
 */
export type Guard = (repository: string) => Promise<boolean>;

/**
 * Makes a bare repository if there is none, sets it up, and removes files that a killed writer left. An existing
 * repository can be opened on a full or read-only disk, too.
 * @param guard without it, git itself refuses every forced push and every deletion
 * @throws {Error} if the repository cannot be made or used
 */
export async function openRepository(base: StoreBase, guard?: Guard): Promise<void> {
	const { repository, sync, log } = base;
	const isNew = !existsSync(join(repository, "HEAD"));
	await checkVersion();
	try {
		await mkdir(repository, { recursive: true });
		await checkRights(repository);
		await clearLeftovers(base);
		await runGit(repository, ["init", "-q", "--bare", `--initial-branch=${branchName}`, "."]);
		await applySettings(repository, (await guard?.(repository)) ?? false);
		if (isNew) await syncNew(repository, sync);
	} catch (error) {
		const reason = diskReasonOf(error) ?? (await diskReasonAt(repository));
		if (reason === null) throw error;
		if (isNew) throw new Error(`DATA_DIR: ${reason}, and ${repository} has to be made there`);
		log.warn(`${repository} is used without an update of its settings and hook: ${reason}`);
	}
}

/** @throws {Error} if the repository belongs to another user, such as root after restoring a backup */
async function checkRights(repository: string): Promise<void> {
	const code = await access(repository, constants.W_OK).then(
		() => null,
		(error: NodeJS.ErrnoException) => error.code,
	);
	if (code !== "EACCES") return;
	throw new Error(
		`${repository}: must belong to the user of the service; "chown -R USER ${dirname(repository)}" makes it so`,
	);
}

/** Why a folder cannot be written; null if it can. Git does not always name the reason. */
async function diskReasonAt(folder: string): Promise<string | null> {
	return writeProbe(join(folder, "probe")).then(() => null, diskReasonOf);
}

/** Syncs a new repository to the disk, with all folders on its path. */
async function syncNew(repository: string, sync: SyncPath): Promise<void> {
	for (const name of ["HEAD", "config", "objects/pack", "objects", "refs/heads", "refs"]) {
		await sync(join(repository, name));
	}
	for (let folder = resolve(repository), child = ""; folder !== child; folder = dirname(folder)) {
		await sync(folder);
		child = folder;
	}
}

/** Checks git's version: an older one would silently ignore `core.fsync`. @throws {Error} */
async function checkVersion(): Promise<void> {
	const output = await runGit(".", ["--version"]).catch((error: Error) => {
		throw new Error(`git: must be 2.36 or newer, and in PATH: ${error.message}`);
	});
	const text = output.toString("latin1");
	const [, major = 0, minor = 0] = (/(?<!\d)(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
	if (major < 2 || (major === 2 && minor < 36))
		throw new Error(`git: must be 2.36 or newer, not ${text.trim()}`);
}

async function clearLeftovers({ repository, limits, log }: StoreBase): Promise<void> {
	const locks = await clearLocks(repository, await listLocks(repository), limits.lockMs);
	if (locks.length > 0)
		log.warn(`${repository}: removed locks that a killed process left: ${locks.sort().join(", ")}`);
	for (const name of await readdir(repository)) {
		if (name.startsWith("fast_import_crash_")) await rm(join(repository, name), { force: true });
	}
	await clearPacks(repository);
}

/** Bytes that are written to check whether there is room on the disk. */
const probeBytes = 256 * 1024;

/** Writes a file to check whether there is room, and removes it. @throws {Error} if it cannot be written and synced */
export async function writeProbe(path: string): Promise<void> {
	const file = await open(path, "w", 0o600);
	try {
		// Not `write`, which may write only a part, such as when the disk becomes full.
		await file.writeFile(Buffer.alloc(probeBytes));
		await file.sync();
	} finally {
		await file.close();
		await rm(path, { force: true });
	}
}

/** Runs a task of a start. @throws {Error} with advice if git cannot read the repository */
export async function startTask<T>(repository: string, task: () => Promise<T>): Promise<T> {
	try {
		return await task();
	} catch (error) {
		if (!(error instanceof GitFailure)) throw error;
		const text = [
			`${repository}: cannot be read, and nothing was changed: "git -C ${repository} fsck" names what is damaged.`,
			`Put the repository back from a backup or a clone ("git clone --bare <clone> ${repository}")`,
		].join(" ");
		throw new Error(text, { cause: error });
	}
}
