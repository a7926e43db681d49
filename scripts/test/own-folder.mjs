// node --import own-folder.mjs FILE: gives a process a temporary folder of its own. At its end, kills the processes that it
// left behind and removes the folder, also after a failed test.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

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
	const parent = tmpdir();
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
}
