// node --import own-folder.mjs FILE: gives a process a temporary folder of its own. At its end, kills the processes that it
// left behind and removes the folder, also after a failed test.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, statfsSync, symlinkSync } from "node:fs";
import { constants, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";
import { clearUp } from "./clear-up.mjs";

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

/** What is removed at the end of this process. */
/** @type {string[]} */
const folders = [];

/** @type {import("node:child_process").ChildProcess | undefined} */
let watcher;

/** Removes a folder at the end of this process, also where the process is killed if it is the runner. */
export function removeAtEnd(/** @type {string} */ path) {
	folders.push(path);
	watcher?.stdin?.write(`${path}\n`);
}

/** The runner: a process beside it clears up after it, and an end by a signal is an end like any other. */
function prepareRunner() {
	const script = fileURLToPath(new URL("clear-up.mjs", import.meta.url));
	// A session of its own: a signal to all processes of a terminal does not reach it.
	watcher = spawn(process.execPath, [script], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
	watcher.unref();
	/** @type {import("node:net").Socket} */ (watcher.stdin).unref();
	for (const signal of /** @type {const} */ (["SIGHUP", "SIGINT", "SIGTERM"]))
		process.once(signal, () => process.exit(128 + constants.signals[signal]));
	// npm may be killed without a signal to what it has started.
	const parent = process.ppid;
	if (process.env.npm_lifecycle_event !== undefined)
		setInterval(() => process.ppid === parent || process.exit(1), 1_000).unref();
}

if (isMainThread) {
	const parent = parentFolder();
	const folder = mkdtempSync(join(parent, "test-"));
	// Keeps tsx's cache, which takes seconds to rebuild.
	const cache = `tsx-${process.geteuid?.() ?? userInfo().username}`;
	mkdirSync(join(parent, cache), { recursive: true });
	symlinkSync(join(parent, cache), join(folder, cache), "junction");
	if (!process.env.NODE_TEST_CONTEXT) prepareRunner();
	process.env.TMPDIR = folder;
	removeAtEnd(folder);
	process.on("exit", () => clearUp(folders));
	if (process.env.NODE_TEST_CONTEXT) {
		await import("./results.mjs");
		// The standard input of a test file ends with the runner.
		process.stdin.once("end", () => process.exit(1)).resume();
		/** @type {import("node:net").Socket} */ (process.stdin).unref();
	}
}
