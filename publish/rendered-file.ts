import { readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isCompanion } from "./output.ts";

// What is known of rendered files, off the event loop.

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

/** Number of fragments in a folder; none where there is no such folder. */
export async function countFiles(folder: string): Promise<number> {
	const names = await readdir(folder).catch(() => []);
	return names.filter((name) => !isCompanion(name)).length;
}
