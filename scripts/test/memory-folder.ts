import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../api/configuration.ts";

/** Where Linux has a file system in memory, as a rule (shm_overview(7)). */
const memoryFolder = "/dev/shm";
/** The type of such a file system (statfs(2), TMPFS_MAGIC). */
const memoryType = 0x01021994;
/** Containers often have 64 MB of it. */
const leastFreeBytes = 4 * 2 ** 30;

/**
 * The folder for temporary files of tests: TMPDIR where it is set; else in memory, where thousands of small files and
 * flushes take half the time that a disk takes; else the system's.
 */
export function temporaryParent({ TMPDIR }: Environment, inMemory = memoryFolder): string {
	return TMPDIR || (isRoomy(inMemory) && runsPrograms(inMemory) ? inMemory : tmpdir());
}

function isRoomy(folder: string): boolean {
	try {
		const { type, bavail, bsize } = statfsSync(folder);
		return type === memoryType && bavail * bsize >= leastFreeBytes;
	} catch {
		return false;
	}
}

/** Git's hooks are programs, and a container's shared memory is often mounted without the right to run any. */
function runsPrograms(parent: string): boolean {
	try {
		const folder = mkdtempSync(join(parent, "test-"));
		const program = join(folder, "program");
		writeFileSync(program, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
		const { status } = spawnSync(program);
		rmSync(folder, { recursive: true });
		return status === 0;
	} catch {
		return false;
	}
}
