import { readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Environment } from "../../api/configuration.ts";

/** Where Linux has a file system in memory, as a rule (shm_overview(7)). */
const memoryFolder = "/dev/shm";
/** Containers often have 64 MB of it. */
const minFreeBytes = 4 * 2 ** 30;

/**
 * The folder for temporary files of tests: TMPDIR where it is set; else in memory, where thousands of small files and
 * flushes take half the time that a disk takes; else the system's. Git's hooks are programs, and a container's memory
 * is often mounted without the right to run any.
 * @param mounts - file with the mounted file systems (proc(5))
 */
export function temporaryParent({ TMPDIR }: Environment, mounts = "/proc/mounts"): string {
	if (TMPDIR) return TMPDIR;
	try {
		const [, options = "noexec"] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync(mounts, "utf8")) ?? [];
		const { bavail, bsize } = statfsSync(memoryFolder);
		return !options.split(",").includes("noexec") && bavail * bsize >= minFreeBytes ? memoryFolder : tmpdir();
	} catch {
		// Another system than Linux.
		return tmpdir();
	}
}
