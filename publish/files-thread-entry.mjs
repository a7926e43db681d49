// Writes rendered files in a thread of its own, by synchronous calls: for small files they take a tenth of what the
// others take, and here nobody waits behind them. Plain JavaScript: it starts without a loader.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";

/** @type {{ prefix: string, mark: string, companionEndings: readonly string[] }} */
const { prefix, mark, companionEndings } = workerData;
let serial = 0;

parentPort?.on("message", (/** @type {import("./files-thread.ts").FilesRound} */ round) => {
	parentPort?.postMessage(writeRound(round));
});

/**
 * @param {import("./files-thread.ts").FilesRound} round
 * @returns {import("./files-thread.ts").RoundReport}
 */
function writeRound({ layers, bytes }) {
	/** @type {import("./files-thread.ts").RoundReport} */
	const report = { failed: [], reason: null, hasMadeFolder: false };
	// A web server would go on serving the compressed copies of a file that changes.
	const dropCompanions = existsSync(mark);
	let start = 0;
	for (const { smallkey, files } of layers) {
		for (const { path, length } of files) {
			const body = length === null ? null : bytes.subarray(start, start + length);
			start += length ?? 0;
			try {
				if (dropCompanions) for (const ending of companionEndings) rmSync(path + ending, { force: true });
				if (body === null) rmSync(path, { force: true });
				else if (replace(path, body)) report.hasMadeFolder = true;
			} catch (error) {
				report.failed.push(smallkey);
				report.reason ??= error instanceof Error ? error.message : String(error);
			}
		}
	}
	return report;
}

/**
 * Readers meet the old file or the new one, never a part.
 * @param {string} path
 * @param {Uint8Array} body
 * @returns whether its folder was gone, and had to be made again
 */
function replace(path, body) {
	const temporary = `${prefix}${serial++}.tmp`;
	try {
		writeFileSync(temporary, body);
		return put(temporary, path);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

/**
 * @param {string} temporary
 * @param {string} path
 */
function put(temporary, path) {
	try {
		renameSync(temporary, path);
		return false;
	} catch (error) {
		if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
		mkdirSync(dirname(path), { recursive: true });
		renameSync(temporary, path);
		return true;
	}
}
