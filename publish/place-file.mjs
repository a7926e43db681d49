// Writes files atomically. Synchronous: for hundreds of thousands of small files this takes a third of the time. Plain
// JavaScript, so that the thread that writes files starts without a loader.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Endings of the compressed copies that a web server looks for beside a file. */
const companionEndings = /** @type {const} */ ([".gz", ".br"]);

/**
 * Whether a name is that of a compressed copy. A smallkey never has a dot.
 * @param {string} name
 */
export function isCompanion(name) {
	return companionEndings.some((ending) => name.endsWith(ending));
}

let serial = 0;

/**
 * Prefix of the names of temporary files. They are beside the output folder: on the same disk, and never served.
 * @param {string} out
 * @param {string} writer
 */
function temporaryPrefix(out, writer) {
	return `.${basename(out)}${writer}.`;
}

/**
 * @typedef {object} PlaceOptions
 * @property {boolean} [isFresh] whether the folder was empty and has no readers: the file is written without a comparison
 * @property {string} [writer] separates the temporary files of two processes that write below the same output
 * @property {(bytes: Uint8Array) => Iterable<readonly [ending: string, copy: Uint8Array]>} [copies] makes the compressed
 * copies; called only if the file changes
 */

/**
 * Writes a file, or removes it if `bytes` is null. Readers get the old file or the new one, never a part of it, and never
 * a compressed copy of the old file beside the new file. A file that already has these bytes is not written again.
 * @param {string} out folder of all files
 * @param {string} path below `out`; its folder has to exist
 * @param {Uint8Array | null} bytes
 * @param {PlaceOptions} [options]
 * @returns {"same" | "added" | "changed" | "removed" | "absent"}
 * @throws {Error} if the file cannot be written; the old file stays
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
	const prefix = join(dirname(out), `${temporaryPrefix(out, writer)}${process.pid}.`);
	replace(prefix, target, bytes);
	for (const [ending, copy] of copies?.(bytes) ?? []) replace(prefix, target + ending, copy);
	return found ? "changed" : "added";
}

/**
 * @param {string} prefix
 * @param {string} target
 * @param {Uint8Array} bytes
 */
function replace(prefix, target, bytes) {
	const temporary = `${prefix}${serial++}.tmp`;
	try {
		writeFileSync(temporary, bytes);
		renameSync(temporary, target);
	} catch (error) {
		rmSync(temporary, { force: true });
		throw error;
	}
}

/**
 * Removes the temporary files of a killed process.
 * @param {string} out
 * @param {string} [writer]
 */
export function removeTemporaryFiles(out, writer = "") {
	for (const name of readdirSync(dirname(out))) {
		const isOurs = name.startsWith(temporaryPrefix(out, writer)) && name.endsWith(".tmp");
		if (isOurs) rmSync(join(dirname(out), name), { force: true });
	}
}
