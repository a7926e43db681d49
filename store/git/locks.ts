import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How often a lock is checked, in milliseconds, and how long at most while it keeps changing hands. */
const lookEveryMs = 50;
const maxPatiences = 3;

/**
 * Removes locks of git that a killed process left, and waits for those that are held. A lock is taken as left when
 * the very same file stays for `patienceMs` by the monotonic clock: its time is no sign, because the clock that wrote
 * it may have jumped.
 * @param names paths in the repository: `HEAD.lock`
 * @param patienceMs longer than git ever holds a lock, in milliseconds
 * @returns the names that were removed
 */
export async function clearLocks(
	repository: string,
	names: readonly string[],
	patienceMs: number,
): Promise<string[]> {
	const removed = await Promise.all(
		names.map(async (name) => ((await clearLock(join(repository, name), patienceMs)) ? [name] : [])),
	);
	return removed.flat();
}

/** The names of all locks in a repository that can stop a writer or a start. */
export async function listLocks(repository: string): Promise<string[]> {
	const refs = await readdir(join(repository, "refs"), { recursive: true }).catch(() => []);
	const locks = refs.filter((name) => name.endsWith(".lock")).map((name) => join("refs", name));
	return [...locks, ...generalLocks];
}

/** Locks beside those of single refs. */
const generalLocks = ["HEAD.lock", "packed-refs.lock", "config.lock", "index.lock"];

/** Waits for a lock to go; whether it was removed here. */
async function clearLock(path: string, patienceMs: number): Promise<boolean> {
	let seen = await identityOf(path);
	let since = performance.now();
	for (const end = since + maxPatiences * patienceMs; seen !== null && performance.now() < end; ) {
		await sleep(Math.min(lookEveryMs, patienceMs));
		const now = await identityOf(path);
		if (now !== seen) {
			seen = now;
			since = performance.now();
		} else if (performance.now() - since >= patienceMs) {
			await rm(path, { force: true });
			return true;
		}
	}
	return false;
}

/** What differs between two files of one name, or one that is still written; null where there is none. */
async function identityOf(path: string): Promise<string | null> {
	const found = await stat(path, { bigint: true }).catch(() => null);
	return found && [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join();
}
