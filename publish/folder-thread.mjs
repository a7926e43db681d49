// Writes rendered files in a thread of its own, with synchronous calls: for small files they take a tenth of the time of
// asynchronous ones. Plain JavaScript, so that the thread starts without a loader.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { isCompanion, placeFile, removeTemporaryFiles } from "./place-file.mjs";

/**
 * An order for the thread: to write the files of layers; null: to remove what does not belong there, and to list the files.
 * The bytes of all layers are concatenated. Each layer has the offset in its bytes where its fragment for each folder ends;
 * an empty fragment has no file.
 * @typedef {{ layers: import("./rendered.ts").Row[], bytes: Uint8Array, isFresh: boolean }} Order
 */

/** @typedef {Map<string, number>} Found name → number of folders that have a file of that name */

/**
 * The result of an order to write.
 * @typedef {object} Written
 * @property {string[]} failed smallkeys whose files could not be written
 * @property {string | null} reason the first failure; null if there was none
 * @property {Partial<Record<ReturnType<typeof placeFile>, number>>} changes the number of files for each kind of change
 * @property {number} written how many layers had files that were missing or different
 * @property {boolean} hasMadeFolder whether a folder was missing and was made again: its other files are missing, too
 */

/** @type {{ out: string, folders: readonly string[], otherFolders: readonly string[] }} */
const { out, folders, otherFolders } = workerData;

// An error ends the thread, and rejects the order.
parentPort?.on("message", (/** @type {Order | null} */ order) => {
	parentPort?.postMessage(order ? write(order) : list());
});

/** @returns {Found} */
function list() {
	for (const folder of otherFolders) rmSync(join(out, folder), { recursive: true, force: true });
	makeFolders();
	removeTemporaryFiles(out);
	const found = new Map();
	for (const name of folders.flatMap((folder) => readdirSync(join(out, folder)))) {
		// A compressed copy may have lost its file.
		const smallkey = isCompanion(name) ? name.replace(/\.[a-z]+$/, "") : name;
		found.set(smallkey, (found.get(smallkey) ?? 0) + (isCompanion(name) ? 0 : 1));
	}
	return found;
}

/** @returns whether a folder was missing */
function makeFolders() {
	return folders.filter((folder) => mkdirSync(join(out, folder), { recursive: true })).length > 0;
}

/**
 * @param {Order} order
 * @returns {Written}
 */
function write({ layers, bytes, isFresh }) {
	/** @type {Written} */
	const report = { failed: [], reason: null, changes: {}, written: 0, hasMadeFolder: false };
	try {
		report.hasMadeFolder = makeFolders();
	} catch {
		// Each write into a folder that cannot be made fails and is reported.
	}
	let first = 0;
	for (const [smallkey, ends] of layers) {
		let isChanged = false;
		let isComplete = true;
		for (const [index, folder] of folders.entries()) {
			const [start, end] = [ends[index - 1] ?? 0, ends[index] ?? 0];
			const body = end > start ? bytes.subarray(first + start, first + end) : null;
			try {
				const change = placeFile(out, join(folder, smallkey), body, { isFresh });
				report.changes[change] = (report.changes[change] ?? 0) + 1;
				isChanged ||= change === "added" || change === "changed";
			} catch (error) {
				report.reason ??= error instanceof Error ? error.message : String(error);
				isComplete = false;
			}
		}
		first += ends.at(-1) ?? 0;
		if (isChanged) report.written += 1;
		if (!isComplete) report.failed.push(smallkey);
	}
	return report;
}
