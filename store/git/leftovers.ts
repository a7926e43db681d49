import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a lock is checked, in milliseconds. */
const checkEveryMs = 50;

/** Locks of other files than single refs. */
const generalLocks = ["HEAD.lock", "packed-refs.lock", "config.lock", "index.lock"];

/**
 * Removes git's locks that a killed process left, and waits for locks that are held. A lock was left if the same file
 * stays unchanged for `maxHeldMs`. Its modification time does not help, because the system's clock may have been changed.
 * @param maxHeldMs longer than git ever holds a lock, in milliseconds
 * @returns the removed ones, as sorted paths in the repository: `HEAD.lock`
 */
export async function clearLocks(repository: string, maxHeldMs: number): Promise<string[]> {
	const refs = await readdir(join(repository, "refs"), { recursive: true }).catch(() => []);
	const ofRefs = refs.filter((name) => name.endsWith(".lock")).map((name) => join("refs", name));
	const removed = [...ofRefs, ...generalLocks].map(async (name) =>
		(await clearLock(join(repository, name), maxHeldMs)) ? [name] : [],
	);
	return (await Promise.all(removed)).flat().sort();
}

/** Waits until a lock is released or written, or removes it. @returns whether it was removed */
async function clearLock(path: string, maxHeldMs: number): Promise<boolean> {
	const first = await changeTimeOf(path);
	for (let waitedMs = 0; waitedMs < maxHeldMs && first !== null; waitedMs += checkEveryMs) {
		await sleep(Math.min(checkEveryMs, maxHeldMs));
		if ((await changeTimeOf(path)) !== first) return false;
	}
	if (first !== null) await rm(path, { force: true });
	return first !== null;
}

/** When a file was made, written or renamed, in nanoseconds; null if there is none. */
async function changeTimeOf(path: string): Promise<bigint | null> {
	return (await stat(path, { bigint: true }).catch(() => null))?.ctimeNs ?? null;
}

/**
 * Removes what git left where it was killed or had no room: reports of crashes, incomplete packs, and the `.keep` files
 * that exclude a pack of fast-import from repacks until its refs are written. To be called while no fast-import of the
 * service runs.
 * @param silentMs an incomplete pack that is unchanged for so long, by the system's clock, is of no running git
 */
export async function clearFiles(repository: string, silentMs: number): Promise<void> {
	const folder = join(repository, "objects", "pack");
	const reports = (await readdir(repository)).filter((name) => name.startsWith("fast_import_crash_"));
	for (const name of reports) await rm(join(repository, name), { force: true });
	for (const name of await readdir(folder).catch(() => [])) {
		const path = join(folder, name);
		const isKeepFile = name.endsWith(".keep") && (await readFile(path, "utf8")).startsWith("fast-import");
		const isIncomplete = /^(?:tmp_|\.tmp-)/.test(name) && (await ageOf(path)) >= silentMs;
		if (isKeepFile || isIncomplete) await rm(path, { force: true });
	}
}

async function ageOf(path: string): Promise<number> {
	const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
	return Date.now() - mtimeMs;
}
