import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Environment } from "../../api/configuration.ts";

/** The usual file system in memory on Linux (shm_overview(7)). */
const memoryFolder = "/dev/shm";
/** Least size: containers often have only 64 MB. */
const minFreeBytes = 4 * 2 ** 30;

/**
 * The folder for temporary files of tests: TMPDIR; else a file system in memory, which is twice as fast as a disk for
 * many small files and flushes; else the system's default. It must allow programs, for git's hooks, which the memory of
 * containers often does not.
 * @param mounts - file with the mounted file systems (proc(5))
 */
export function temporaryParent({ TMPDIR }: Environment, mounts = "/proc/mounts"): string {
	if (TMPDIR) return TMPDIR;
	try {
		const [, options = "noexec"] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync(mounts, "utf8")) ?? [];
		const { bavail, bsize } = statfsSync(memoryFolder);
		return !options.split(",").includes("noexec") && bavail * bsize >= minFreeBytes ? memoryFolder : tmpdir();
	} catch {
		// Not Linux.
		return tmpdir();
	}
}
