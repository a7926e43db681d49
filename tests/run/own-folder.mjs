// node --import own-folder.mjs FILE: gives a process a temporary folder of its own. At its end, kills the processes that it
// left behind and removes the folder, also after a failed test.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, symlinkSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

/**
 * TMPDIR; else the file system in memory of Linux (shm_overview(7)), which is twice as fast as a disk for many small files
 * and flushes, where it has 4 GB and allows programs, for git's hooks; else the system's default.
 */
function parentFolder() {
	if (process.env.TMPDIR) return process.env.TMPDIR;
	try {
		const mounts = readFileSync("/proc/mounts", "utf8");
		const [, options = "noexec"] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounts) ?? [];
		const { bavail, bsize } = statfsSync("/dev/shm");
		return !options.split(",").includes("noexec") && bavail * bsize >= 4 * 2 ** 30 ? "/dev/shm" : tmpdir();
	} catch {
		// Not Linux.
		return tmpdir();
	}
}

/** Kills the processes whose temporary folder is in a folder. Only with /proc. */
function endProcessesOf(/** @type {string} */ folder) {
	for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
		try {
			const environment = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
			if (Number(name) === process.pid || !environment.some((one) => one.startsWith(`TMPDIR=${folder}`)))
				continue;
			process.kill(Number(name), "SIGKILL");
		} catch {
			// The process has ended, or belongs to another user.
		}
	}
}

if (isMainThread) {
	const parent = parentFolder();
	const folder = mkdtempSync(join(parent, "test-"));
	// Keeps tsx's cache, which takes seconds to rebuild.
	const cache = `tsx-${process.geteuid?.() ?? userInfo().username}`;
	mkdirSync(join(parent, cache), { recursive: true });
	symlinkSync(join(parent, cache), join(folder, cache), "junction");
	process.env.TMPDIR = folder;
	process.on("exit", () => {
		if (process.platform === "linux") endProcessesOf(folder);
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	});
	// The standard input of a test file ends with the runner.
	if (process.env.NODE_TEST_CONTEXT) {
		process.stdin.once("end", () => process.exit(1)).resume();
		/** @type {import("node:net").Socket} */ (process.stdin).unref();
	}
}
