// Writes rendered files in a thread of its own, with synchronous calls: for small files they take a tenth of the time of
// asynchronous ones. Plain JavaScript, so that the thread starts without a loader.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { isCompanion, placeFile, removeTemporaryFiles } from "./place-file.mjs";

/**
 * An order for the thread. `begin` starts a comparison of all files (`isRead`: a web server may read them meanwhile).
 * `write` writes the files of layers. `sweep` ends the comparison, and removes the files of all layers that were not
 * written during it.
 * @typedef {{ kind: "begin", isRead: boolean } | { kind: "write", layers: WrittenLayer[], bytes: Uint8Array } | { kind: "sweep" }} Order
 */

/**
 * A layer, and the offset in its bytes where its fragment for each folder ends; an empty fragment has no file. The bytes
 * of all layers of an order are concatenated.
 * @typedef {readonly [smallkey: string, ends: readonly number[]]} WrittenLayer
 */

/**
 * The number of files for each kind of change.
 * @typedef {Partial<Record<ReturnType<typeof placeFile>, number>>} Changes
 */

/**
 * The result of an order.
 * @typedef {object} Report
 * @property {string[]} failed smallkeys whose files could not be written
 * @property {string | null} reason the first failure; null if there was none
 * @property {Changes} changes the number of files for each kind of change
 * @property {number} written how many layers had files that were missing or different
 * @property {boolean} hasMadeFolder whether a folder was missing and was made again: its other files are missing, too
 */

/** @type {{ out: string, folders: readonly string[], others: readonly string[] }} */
const { out, folders, others } = workerData;

/**
 * During a comparison, the names in each folder that have not been compared yet; null otherwise.
 * @type {Set<string>[] | null}
 */
let uncompared = null;

/** Whether the folders were empty and have no readers: files are written directly into their place. */
let isFresh = false;

parentPort?.on("message", (/** @type {Order} */ order) => {
	/** @type {Report} */
	const report = { failed: [], reason: null, changes: {}, written: 0, hasMadeFolder: false };
	attempt(report, () => {
		if (order.kind === "begin") begin(order.isRead);
		else if (order.kind === "sweep") sweep(report);
		else write(order, report);
	});
	parentPort?.postMessage(report);
});

/**
 * @param {Report} report
 * @param {() => void} task
 * @returns whether the task succeeded
 */
function attempt(report, task) {
	try {
		task();
		return true;
	} catch (error) {
		report.reason ??= error instanceof Error ? error.message : String(error);
		return false;
	}
}

/** @param {boolean} isRead */
function begin(isRead) {
	for (const folder of others) rmSync(join(out, folder), { recursive: true, force: true });
	makeFolders();
	removeTemporaryFiles(out);
	uncompared = folders.map((folder) => {
		const names = readdirSync(join(out, folder));
		return new Set(names.map((name) => (isCompanion(name) ? name.replace(/\.[a-z]+$/, "") : name)));
	});
	isFresh = !isRead && uncompared.every((names) => names.size === 0);
}

/** @returns whether a folder was missing */
function makeFolders() {
	return folders.filter((folder) => mkdirSync(join(out, folder), { recursive: true })).length > 0;
}

/**
 * @param {Order & { kind: "write" }} order
 * @param {Report} report
 */
function write({ layers, bytes }, report) {
	attempt(report, () => {
		report.hasMadeFolder = makeFolders();
	});
	// If a folder cannot be made, each write into it fails and is reported.
	report.reason = null;
	let first = 0;
	for (const [smallkey, ends] of layers) {
		let isChanged = false;
		let isComplete = true;
		for (const [index, folder] of folders.entries()) {
			const [start, end] = [ends[index - 1] ?? 0, ends[index] ?? 0];
			const body = end > start ? bytes.subarray(first + start, first + end) : null;
			uncompared?.[index]?.delete(smallkey);
			const isDone = attempt(report, () => {
				const change = placeFile(out, join(folder, smallkey), body, { isFresh });
				count(report, change);
				isChanged ||= change === "added" || change === "changed";
			});
			isComplete &&= isDone;
		}
		first += ends.at(-1) ?? 0;
		if (isChanged) report.written += 1;
		if (!isComplete) report.failed.push(smallkey);
	}
}

/** @param {Report} report */
function sweep(report) {
	// A thread that replaces a crashed one does not know which files were compared.
	if (!uncompared) throw new Error("the files were not compared");
	for (const [index, folder] of folders.entries()) {
		for (const name of uncompared[index] ?? []) count(report, placeFile(out, join(folder, name), null));
	}
	uncompared = null;
	isFresh = false;
}

/**
 * @param {Report} report
 * @param {ReturnType<typeof placeFile>} change
 */
function count({ changes }, change) {
	changes[change] = (changes[change] ?? 0) + 1;
}
