import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a lock is checked, in milliseconds. */
const checkEveryMs = 50;
/** The longest wait for a lock that different processes keep taking, as a multiple of `maxHeldMs`. */
const maxWaits = 3;

/**
 * Removes git's locks that a killed process left, and waits for locks that are held. A lock was left if the same file
 * stays unchanged for `maxHeldMs` by the monotonic clock. Its modification time does not help, because the system's clock
 * may have been changed.
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

/** Locks of other files than single refs. */
const generalLocks = ["HEAD.lock", "packed-refs.lock", "config.lock", "index.lock"];

/** Waits until a lock is released, or removes it. @returns whether it was removed */
async function clearLock(path: string, maxHeldMs: number): Promise<boolean> {
	let seen = await identityOf(path);
	let since = performance.now();
	for (const end = since + maxWaits * maxHeldMs; seen !== null && performance.now() < end; ) {
		await sleep(Math.min(checkEveryMs, maxHeldMs));
		const now = await identityOf(path);
		if (now !== seen) {
			seen = now;
			since = performance.now();
		} else if (performance.now() - since >= maxHeldMs) {
			await rm(path, { force: true });
			return true;
		}
	}
	return false;
}

/** A text that changes when another file gets this name, or the file is written; null if there is no file. */
async function identityOf(path: string): Promise<string | null> {
	const found = await stat(path, { bigint: true }).catch(() => null);
	return found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join();
}
