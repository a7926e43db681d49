import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fragmentPath, langs } from "../../api/smallkey.ts";
import { mapSome } from "./collect.ts";

/** Most files that are written at once. */
const atOnce = 32;

/** Fragments by their path below the output folder: `v0.9/doc/en/23ax5t` → text. */
export type Rendered = ReadonlyMap<string, Uint8Array>;

/** What a build changed in its output folder. */
export interface Written {
	written: number;
	removed: number;
	unchanged: number;
}

/**
 * Brings an output folder in step with what was rendered: files that are the same are not written again, files of
 * removed layers go. A reader meets the old file or the new one, never a part.
 */
export async function writeOutput(out: string, rendered: Rendered, tick: () => void): Promise<Written> {
	const result: Written = { written: 0, removed: 0, unchanged: 0 };
	const present = await listFragments(out);
	const paths = [...rendered.keys()];
	await mapSome(paths, atOnce, async (path) => {
		const bytes = rendered.get(path) as Uint8Array;
		const same = present.has(path) && (await isSame(join(out, path), bytes));
		if (same) result.unchanged += 1;
		else {
			await writeWhole(out, path, bytes, present.size > 0);
			result.written += 1;
		}
		tick();
	});
	const stale = [...present].filter((path) => !rendered.has(path));
	await mapSome(stale, atOnce, (path) => removeFile(out, path));
	result.removed = stale.length;
	return result;
}

/** The fragments that an output folder has, by path. */
async function listFragments(out: string): Promise<Set<string>> {
	const paths = new Set<string>();
	for (const lang of langs) {
		const folder = join(out, dirname(fragmentPath(lang, "x")));
		await mkdir(folder, { recursive: true });
		for (const name of await readdir(folder)) {
			if (!isCompanion(name)) paths.add(fragmentPath(lang, name));
		}
	}
	return paths;
}

async function isSame(path: string, bytes: Uint8Array): Promise<boolean> {
	const { size } = await stat(path);
	return size === bytes.length && (await readFile(path)).equals(bytes);
}

/** Names that a web server looks for beside a file: the same content, compressed (`npm run build -- --compress`). */
export const companionEndings = [".gz", ".br"] as const;

/** Whether a name in the output folder is that of a compressed copy: no smallkey has a dot. */
export function isCompanion(name: string): boolean {
	return companionEndings.some((ending) => name.endsWith(ending));
}

/** Drops the compressed copies of a file that changes: a web server would go on serving them. */
async function removeCompanions(target: string): Promise<void> {
	for (const ending of companionEndings) await rm(target + ending, { force: true });
}

let serial = 0;

/** Writes one file, where readers may be at work under another name first. */
export async function writeWhole(
	out: string,
	path: string,
	bytes: Uint8Array,
	readers: boolean,
): Promise<void> {
	const target = join(out, path);
	if (!readers) return writeFile(target, bytes);
	await removeCompanions(target);
	const temporary = join(dirname(out), `.${basename(out)}.${process.pid}.${serial++}.tmp`);
	await writeFile(temporary, bytes);
	await rename(temporary, target);
}

/** Removes one file, if it is there. */
export async function removeFile(out: string, path: string): Promise<void> {
	await removeCompanions(join(out, path));
	await rm(join(out, path), { force: true });
}
