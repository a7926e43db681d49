import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fragmentPath, type Lang, langs } from "../../registry/smallkey.ts";

// Synchronous throughout: for hundreds of thousands of small files that takes a third of the time.

/** One rendered fragment: its path below the output folder, such as `v0.9/doc/en/23ax5t`, and its text. */
export type Rendered = readonly [path: string, bytes: Uint8Array];

/** What a build changed in its output folder. */
export interface Written {
	written: number;
	removed: number;
	unchanged: number;
}

/** The folder of one language below the output folder. */
export function langFolder(out: string, lang: Lang): string {
	return join(out, dirname(fragmentPath(lang, "x")));
}

/** Makes the folders of an output; whether fragments are there already. */
export function prepareOutput(out: string): boolean {
	for (const lang of langs) mkdirSync(langFolder(out, lang), { recursive: true });
	return langs.some((lang) => readdirSync(langFolder(out, lang)).length > 0);
}

/**
 * Writes fragments; files that are the same are not written again. Where readers may be at work they meet the old
 * file or the new one, never a part.
 * @param inUse whether the output had fragments before
 */
export function writeRendered(
	out: string,
	rendered: Iterable<Rendered>,
	inUse: boolean,
	tick: () => void,
): Written {
	const result: Written = { written: 0, removed: 0, unchanged: 0 };
	for (const [path, bytes] of rendered) {
		if (inUse && isSame(join(out, path), bytes)) result.unchanged += 1;
		else {
			writeWhole(out, path, bytes, inUse);
			result.written += 1;
		}
		tick();
	}
	return result;
}

/** Number of fragments that an output has. */
export function countFragments(out: string): number {
	prepareOutput(out);
	const names = langs.flatMap((lang) => readdirSync(langFolder(out, lang)));
	return names.filter((name) => !isCompanion(name)).length;
}

/** Removes the fragments of smallkeys that `isWanted` does not know; how many files went. */
export function removeStale(out: string, isWanted: (smallkey: string) => boolean): number {
	let removed = 0;
	for (const lang of langs) {
		for (const name of readdirSync(langFolder(out, lang))) {
			if (isCompanion(name) || isWanted(name)) continue;
			removeFile(out, fragmentPath(lang, name));
			removed += 1;
		}
	}
	return removed;
}

/** Whether a file has just these bytes. */
export function isSame(path: string, bytes: Uint8Array): boolean {
	const found = statSync(path, { throwIfNoEntry: false });
	return found !== undefined && found.size === bytes.length && readFileSync(path).equals(bytes);
}

/** Names that a web server looks for beside a file: the same content, compressed (`npm run build -- --compress`). */
export const companionEndings = [".gz", ".br"] as const;

/** Whether a name in the output folder is that of a compressed copy: no smallkey has a dot. */
export function isCompanion(name: string): boolean {
	return companionEndings.some((ending) => name.endsWith(ending));
}

/** Drops the compressed copies of a file that changes: a web server would go on serving them. */
function removeCompanions(target: string): void {
	for (const ending of companionEndings) {
		if (existsSync(target + ending)) rmSync(target + ending);
	}
}

let serial = 0;

/** Name of the files that are not in their place yet: beside the output, on the same disk, never served. */
function temporaryName(out: string): string {
	return join(dirname(out), `.${basename(out)}.${process.pid}.${serial++}.tmp`);
}

/** Writes one file; where readers may be at work, under another name first. */
export function writeWhole(out: string, path: string, bytes: Uint8Array, inUse: boolean): void {
	const target = join(out, path);
	if (!inUse) return writeFileSync(target, bytes);
	removeCompanions(target);
	const temporary = temporaryName(out);
	writeFileSync(temporary, bytes);
	renameSync(temporary, target);
}

/** Removes one file with its compressed copies, where it is there. */
export function removeFile(out: string, path: string): void {
	removeCompanions(join(out, path));
	rmSync(join(out, path), { force: true });
}

/** Removes what a killed process had not yet put in its place. */
export function removeTemporary(out: string): void {
	for (const name of readdirSync(dirname(out))) {
		const isOurs = name.startsWith(`.${basename(out)}.`) && name.endsWith(".tmp");
		if (isOurs) rmSync(join(dirname(out), name), { force: true });
	}
}
