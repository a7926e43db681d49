import { access, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { companionEndings, isCompanion } from "../build/output.ts";

// One rendered file at a time, off the event loop; scripts/build/output.ts writes hundreds of thousands.

let serial = 0;

/**
 * Puts a file in its place: readers meet the old one or the new one, never a part.
 * @param out the folder of all rendered files; the file is written beside it first
 * @returns whether its folder was gone, and had to be made again
 */
export async function replaceFile(out: string, target: string, body: Uint8Array): Promise<boolean> {
	const temporary = join(dirname(out), `.${basename(out)}.${process.pid}.${serial++}.tmp`);
	try {
		await writeFile(temporary, body);
		return await rename(temporary, target).then(
			() => false,
			async (error: NodeJS.ErrnoException) => {
				if (error.code !== "ENOENT") throw error;
				await mkdir(dirname(target), { recursive: true });
				await rename(temporary, target);
				return true;
			},
		);
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => undefined);
		throw error;
	}
}

/** Whether there is something at a path. */
export async function isThere(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}

/** Whether a file has just these bytes. */
export async function holds(path: string, body: Uint8Array): Promise<boolean> {
	const present = await readFile(path).catch(() => null);
	return present?.equals(body) ?? false;
}

/** Removes what a killed process had not yet put in its place. */
export async function removeTemporary(out: string): Promise<void> {
	for (const name of await readdir(dirname(out))) {
		const isOurs = name.startsWith(`.${basename(out)}.`) && name.endsWith(".tmp");
		if (isOurs) await rm(join(dirname(out), name), { force: true });
	}
}

/** Drops the compressed copies of a file that changes: a web server would go on serving them. */
export async function removeCompanions(target: string): Promise<void> {
	for (const ending of companionEndings) await rm(target + ending, { force: true });
}

/** Number of fragments in a folder; none where there is no such folder. */
export async function countFiles(folder: string): Promise<number> {
	const names = await readdir(folder).catch(() => []);
	return names.filter((name) => !isCompanion(name)).length;
}
