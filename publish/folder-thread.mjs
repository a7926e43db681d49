// Writes rendered files in a thread of its own, by synchronous calls: for small files they take a tenth of what the
// others take. Plain JavaScript: it starts without a loader.
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { isCompanion, placeFile, removeTemporaryFiles } from "./place-file.mjs";

/**
 * What the thread is asked for, one after the other: to begin a comparison of all files (`isRead`: a web server may read
 * them meanwhile), to write the files of layers, and to remove, at the end of a comparison, the files of all layers that
 * were not among them.
 * @typedef {{ kind: "begin", isRead: boolean } | { kind: "write", layers: WrittenLayer[], bytes: Uint8Array } | { kind: "sweep" }} Order
 */

/**
 * A layer, and where its fragment for each folder ends in its bytes; an empty one has no file. The bytes of all layers
 * are one after the other.
 * @typedef {readonly [smallkey: string, ends: readonly number[]]} WrittenLayer
 */

/**
 * How many files were changed in which way.
 * @typedef {Partial<Record<ReturnType<typeof placeFile>, number>>} Changes
 */

/**
 * What became of an order.
 * @typedef {object} Report
 * @property {string[]} failed smallkeys whose files could not be written
 * @property {string | null} reason why, of the first failure; null where all went well
 * @property {Changes} changes how many files were changed in which way
 * @property {number} written how many layers had files that were missing or different
 * @property {boolean} hasMadeFolder whether a folder was gone, and was made again: its other files are gone, too
 */

/** @type {{ out: string, folders: readonly string[], others: readonly string[] }} */
const { out, folders, others } = workerData;

/**
 * While all files are compared, the names in each folder that were not compared yet.
 * @type {Set<string>[] | null}
 */
let left = null;

/** Whether the folders were empty, and nothing reads them: files are written directly. */
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
 * @returns whether it went well
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
	left = folders.map((folder) => {
		const names = readdirSync(join(out, folder));
		return new Set(names.map((name) => (isCompanion(name) ? name.replace(/\.[a-z]+$/, "") : name)));
	});
	isFresh = !isRead && left.every((names) => names.size === 0);
}

/** @returns whether one was not there */
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
	// A folder that cannot be made fails again with each of its files.
	report.reason = null;
	let first = 0;
	for (const [smallkey, ends] of layers) {
		let isOther = false;
		let isWhole = true;
		for (const [index, folder] of folders.entries()) {
			const [start, end] = [ends[index - 1] ?? 0, ends[index] ?? 0];
			const body = end > start ? bytes.subarray(first + start, first + end) : null;
			left?.[index]?.delete(smallkey);
			const isDone = attempt(report, () => {
				const change = placeFile(out, join(folder, smallkey), body, { isFresh });
				count(report, change);
				isOther ||= change === "added" || change === "changed";
			});
			isWhole &&= isDone;
		}
		first += ends.at(-1) ?? 0;
		if (isOther) report.written += 1;
		if (!isWhole) report.failed.push(smallkey);
	}
}

/** @param {Report} report */
function sweep(report) {
	// A thread that replaces one that ended does not know what was compared.
	if (!left) throw new Error("the files were not compared");
	for (const [index, folder] of folders.entries()) {
		for (const name of left[index] ?? []) count(report, placeFile(out, join(folder, name), null));
	}
	left = null;
	isFresh = false;
}

/**
 * @param {Report} report
 * @param {ReturnType<typeof placeFile>} change
 */
function count({ changes }, change) {
	changes[change] = (changes[change] ?? 0) + 1;
}
