// Writes files atomically. Synchronous: for hundreds of thousands of small files that takes a third of the time. Plain
// JavaScript: the thread that writes files starts without a loader.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Names that a web server looks for beside a file: the same content, compressed. */
export const companionEndings = /** @type {const} */ ([".gz", ".br"]);

/**
 * Whether a name is that of a compressed copy: no smallkey has a dot.
 * @param {string} name
 */
export function isCompanion(name) {
	return companionEndings.some((ending) => name.endsWith(ending));
}

let serial = 0;

/**
 * Start of the names of files that are not in their place yet: beside the output, on the same disk, never served.
 * @param {string} out
 * @param {string} writer
 */
function asideStart(out, writer) {
	return `.${basename(out)}${writer}.`;
}

/**
 * @typedef {object} PlaceOptions
 * @property {boolean} [isFresh] whether the folder was empty: nothing is compared, and no reader is at work there
 * @property {string} [writer] keeps the unfinished files of two processes that write below one output apart
 * @property {(bytes: Uint8Array) => Iterable<readonly [ending: string, copy: Uint8Array]>} [copies] compressed copies,
 * asked for where the file changes
 */

/**
 * Makes a file have these bytes, or removes it for null. Readers meet the old file or the new one, never a part, and
 * never a compressed copy of the old one beside the new one. A file that is the same is not written again.
 * @param {string} out folder of all files
 * @param {string} path below it; its folder has to be there
 * @param {Uint8Array | null} bytes
 * @param {PlaceOptions} [options]
 * @returns {"same" | "added" | "changed" | "removed" | "absent"}
 * @throws {Error} where it cannot be written; what was there before stays
 */
export function placeFile(out, path, bytes, { isFresh = false, writer = "", copies } = {}) {
	const target = join(out, path);
	if (isFresh) {
		if (bytes) writeFileSync(target, bytes);
		return bytes ? "added" : "absent";
	}
	const found = statSync(target, { throwIfNoEntry: false });
	if (bytes && found?.size === bytes.length && readFileSync(target).equals(bytes)) return "same";
	for (const ending of companionEndings) if (existsSync(target + ending)) rmSync(target + ending);
	if (!bytes) {
		rmSync(target, { force: true });
		return found ? "removed" : "absent";
	}
	const aside = join(dirname(out), `${asideStart(out, writer)}${process.pid}.`);
	moveIn(aside, target, bytes);
	for (const [ending, copy] of copies?.(bytes) ?? []) moveIn(aside, target + ending, copy);
	return found ? "changed" : "added";
}

/**
 * @param {string} aside
 * @param {string} target
 * @param {Uint8Array} bytes
 */
function moveIn(aside, target, bytes) {
	const temporary = `${aside}${serial++}.tmp`;
	try {
		writeFileSync(temporary, bytes);
		renameSync(temporary, target);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

/**
 * Removes what a killed process had not yet put in its place.
 * @param {string} out
 * @param {string} [writer]
 */
export function removeTemporaryFiles(out, writer = "") {
	for (const name of readdirSync(dirname(out))) {
		const isOurs = name.startsWith(asideStart(out, writer)) && name.endsWith(".tmp");
		if (isOurs) rmSync(join(dirname(out), name), { force: true });
	}
}
