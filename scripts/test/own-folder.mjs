// node --import own-folder.mjs FILE: gives a process a folder for temporary files of its own. At its end, processes that
// it has left behind are ended, and the folder is removed: a test file that failed has done neither.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

/** Ends the processes whose folder for temporary files is in a folder. Only where there is /proc. */
function endProcessesOf(/** @type {string} */ folder) {
	for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
		try {
			const environment = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
			if (Number(name) === process.pid || !environment.some((one) => one.startsWith(`TMPDIR=${folder}`)))
				continue;
			process.kill(Number(name), "SIGKILL");
		} catch {
			// It has ended meanwhile, or is another user's.
		}
	}
}

if (isMainThread) {
	const parent = tmpdir();
	const folder = mkdtempSync(join(parent, "test-"));
	// tsx keeps there what it has compiled: compiling all of it again takes seconds.
	const cache = `tsx-${process.geteuid?.() ?? userInfo().username}`;
	mkdirSync(join(parent, cache), { recursive: true });
	symlinkSync(join(parent, cache), join(folder, cache), "junction");
	process.env.TMPDIR = folder;
	process.on("exit", () => {
		if (process.platform === "linux") endProcessesOf(folder);
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	});
}
