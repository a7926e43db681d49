// node clear-up.mjs: waits for the end of its standard input, whose lines are folders; then kills the processes that were
// started for them and removes them. So nothing of a run stays, however the runner ends.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** How often the processes are listed: one that is killed may just have started another. */
const maxLists = 5;

/** The processes whose environment or command line names one of the folders, such as by TMPDIR. Only with /proc. */
function processesOf(/** @type {string[]} */ folders) {
	return readdirSync("/proc").filter((name) => {
		if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
		try {
			const words = ["environ", "cmdline"]
				.map((file) => readFileSync(`/proc/${name}/${file}`, "utf8"))
				.join();
			return folders.some((folder) => words.includes(folder));
		} catch {
			// The process has ended, or belongs to another user.
			return false;
		}
	});
}

/** Kills all processes of some folders, and removes the folders. */
export function clearUp(/** @type {string[]} */ folders) {
	for (let lists = 0; process.platform === "linux" && lists < maxLists; lists += 1) {
		const pids = processesOf(folders);
		if (pids.length === 0) break;
		for (const pid of pids) {
			try {
				process.kill(Number(pid), "SIGKILL");
			} catch {
				// The process has ended.
			}
		}
	}
	for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	clearUp((await text(process.stdin)).split("\n").filter(Boolean));
