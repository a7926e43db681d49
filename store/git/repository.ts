import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readTextIfThere } from "../files/files.ts";
import { servedBranch } from "../naming.ts";
import type { StoreBase } from "./base.ts";
import type { CatFile } from "./commands/cat-file.ts";
import { GitFailure, gitText, runGit } from "./commands/run.ts";
import { diskReasonOf } from "./health.ts";

/** Puts the hook in place. */
export type Guard = (repository: string) => Promise<void>;

/** Opens an existing repository on a full or read-only disk, too. */
export async function openRepository(base: StoreBase, guard: Guard | undefined): Promise<void> {
	const { repository, log } = base;
	const isNew = !existsSync(join(repository, "HEAD"));
	await checkVersion();
	try {
		await mkdir(repository, { recursive: true });
		await clearLeftovers(repository);
		for (const name of ["config.lock", "packed-refs.lock"]) await rm(join(repository, name), { force: true });
		const isOther = isNew || (await repairFiles(base));
		// It writes the config, which fails on a full disk.
		if (isOther) await runGit(repository, ["init", "-q", "--bare", `--initial-branch=${servedBranch}`, "."]);
		await guard?.(repository);
		await applySettings(repository);
		if (isNew) await syncNew(base);
	} catch (error) {
		const reason = diskReasonOf(error);
		if (reason === null) throw error;
		if (isNew) throw new Error(`DATA_DIR: ${reason}, and ${repository} has to be made there`);
		log.warn(`${repository} is used without an update of its settings and hook: ${reason}`);
	}
}

/**
 * Removes what killed git processes left: crash reports, incomplete packs, and the `.keep` files that exclude
 * a pack from repacks. No other git of the service may write meanwhile.
 */
async function clearLeftovers(repository: string): Promise<void> {
	const packs = join(repository, "objects", "pack");
	const remove = (path: string) => rm(path, { force: true });
	for (const name of await readdir(repository))
		if (name.startsWith("fast_import_crash_")) await remove(join(repository, name));
	for (const name of await readdir(packs).catch(() => [])) {
		const path = join(packs, name);
		const isKeep = name.endsWith(".keep") && (await readTextIfThere(path))?.startsWith("fast-import");
		if (isKeep || /^(?:tmp_|\.tmp-)/.test(name)) await remove(path);
	}
}

/**
 * Without these two files git recognizes no repository.
 * @returns whether one was damaged, for `git init` to write
 */
async function repairFiles({ repository, log }: StoreBase): Promise<boolean> {
	let isDamaged = false;
	for (const [name, pattern] of [
		["HEAD", /^(?:ref: refs\/\S+|[0-9a-f]{40,64})\s*$/],
		["config", /^[ \t]*repositoryformatversion[ \t]*=/im],
	] as const) {
		const path = join(repository, name);
		if (pattern.test((await readTextIfThere(path)) ?? "")) continue;
		if (existsSync(path)) await rename(path, `${path}.damaged`);
		log.warn(`${path}: was damaged, and is written again; ${path}.damaged keeps what it was`);
		isDamaged = true;
	}
	return isDamaged;
}

async function syncNew({ repository, sync }: StoreBase): Promise<void> {
	for (const name of ["HEAD", "config", "objects/pack", "objects", "refs/heads", "refs"])
		await sync(join(repository, name));
	for (let folder = resolve(repository), child = ""; folder !== child; folder = dirname(folder)) {
		await sync(folder);
		child = folder;
	}
}

/** An older git would silently ignore `core.fsync`. */
async function checkVersion(): Promise<void> {
	const text = await gitText(".", ["--version"]).catch((error: Error) => {
		throw new Error(`git: must be 2.36 or newer, and in PATH: ${error.message}`);
	});
	const [major = 0, minor = 0] = (/(?<!\d)\d+\.\d+/.exec(text)?.[0] ?? "").split(".").map(Number);
	if (major < 2 || (major === 2 && minor < 36)) throw new Error(`git: must be 2.36 or newer, not ${text}`);
}

/** git-config(1) */
const settings = [
	["core.fsync", "committed"],
	["core.fsyncmethod", "fsync"],
	["gc.auto", "0"],
	["maintenance.auto", "false"],
	["receive.autogc", "false"],
	// The hook refuses these for the service's branches.
	["receive.denydeletes", "false"],
	["receive.denynonfastforwards", "false"],
	["receive.fsckobjects", "true"],
	// 100,000 layers take about 40 MB.
	["receive.maxinputsize", "268435456"],
	// Larger files are neither unpacked in memory nor stored as deltas.
	["core.bigfilethreshold", "8388608"],
	// The configuration of a pusher on this machine could name another folder.
	["core.hookspath", "hooks"],
	// A push stays one pack: the folders of loose objects are not synced.
	["receive.unpacklimit", "1"],
	// Only branches are pushed or fetched, even without the hook: a pushed refs/replace/* would change what
	// every git reads.
	["transfer.hiderefs", "refs", "!refs/heads"],
];

async function applySettings(repository: string): Promise<void> {
	const present = (await gitText(repository, ["config", "--local", "--list", "-z"])).split("\0");
	for (const [name = "", ...values] of settings) {
		const records = present.filter((record) => record.startsWith(`${name}\n`));
		if (String(records) === String(values.map((value) => `${name}\n${value}`))) continue;
		for (const [index, value] of values.entries())
			await runGit(repository, ["config", index === 0 ? "--replace-all" : "--add", name, value]);
	}
}

export async function startTask<T>(repository: string, task: () => Promise<T>): Promise<T> {
	return task().catch((error: unknown) => {
		if (!(error instanceof GitFailure)) throw error;
		const wayBack = `Nothing was changed. Put the repository back from a backup or a clone ("git clone --bare <clone> ${repository}"): "git -C ${repository} fsck" names what is damaged, and the commits that no branch has`;
		throw new Error(`${error.message}. ${wayBack}`, { cause: error });
	});
}

/** From its own file or `packed-refs` (gitrepository-layout(5)). */
export async function readRef(repository: string): Promise<string | null> {
	const read = (name: string) =>
		readFile(join(repository, name), "utf8").catch((error: NodeJS.ErrnoException) => {
			// Git may leave a folder of a removed branch with a slash in its name.
			if (error.code === "ENOENT" || error.code === "EISDIR") return null;
			throw error;
		});
	const ref = `refs/heads/${servedBranch}`;
	const text = await read(ref);
	if (text !== null) return text;
	const packed = (await read("packed-refs"))?.split("\n").find((line) => line.endsWith(` ${ref}`));
	return packed?.slice(0, packed.indexOf(" ")) ?? null;
}

const maintenanceMs = 600_000;

/**
 * Each group and each push leaves a pack. With a commit graph the last commit of a layer is found in 0.01 s
 * instead of 0.1 to 0.8 s (40,000 commits).
 */
export class Maintenance {
	readonly #ending = new AbortController();
	#running: Promise<void> | null = null;

	constructor(
		readonly base: StoreBase,
		readonly catFile: CatFile,
	) {}

	/** Does nothing while there are few packs. */
	async start(): Promise<void> {
		const { repository, limits, log } = this.base;
		const packs = (await readdir(join(repository, "objects/pack"))).filter((name) => name.endsWith(".pack"));
		if (this.#running || packs.length < limits.maxPacks) return;
		// Not during a repack: its files look like those of a killed one.
		await clearLeftovers(repository).catch(log.error);
		this.#running = this.#maintain();
	}

	async close(): Promise<void> {
		this.#ending.abort();
		await this.#running;
	}

	async #maintain(): Promise<void> {
		const { signal } = this.#ending;
		const git = (...args: string[]) => runGit(this.base.repository, args, { limitMs: maintenanceMs, signal });
		try {
			await git("repack", "-q", "-d", "-l", "--geometric=2", "--threads=1");
			await git("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress");
			await this.catFile.renew();
		} catch (error) {
			if (!signal.aborted) this.base.log.error(error);
		}
		this.#running = null;
	}
}
