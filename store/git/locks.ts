import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a lock is checked, in milliseconds. */
const checkEveryMs = 50;

/** Locks of other files than single refs. */
const generalLocks = ["HEAD.lock", "packed-refs.lock", "config.lock", "index.lock"];

/**
 * Removes git's locks that a killed process left, and waits for locks that are held. A lock was left if the same file
 * stays unchanged for `maxHeldMs`. Its modification time does not help, because the system's clock may have been changed.
 * @param names paths in the repository: `HEAD.lock`
 * @param maxHeldMs longer than git ever holds a lock, in milliseconds
 * @returns the names that were removed
 */
export async function clearLocks(
	repository: string,
	names: readonly string[],
	maxHeldMs: number,
): Promise<string[]> {
	const removed = await Promise.all(
		names.map(async (name) => ((await clearLock(join(repository, name), maxHeldMs)) ? [name] : [])),
	);
	return removed.flat();
}

/** Lists the locks in a repository that can block a writer or a start. */
export async function listLocks(repository: string): Promise<string[]> {
	const refs = await readdir(join(repository, "refs"), { recursive: true }).catch(() => []);
	const locks = refs.filter((name) => name.endsWith(".lock")).map((name) => join("refs", name));
	return [...locks, ...generalLocks];
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
