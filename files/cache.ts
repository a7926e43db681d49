import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder for results that take long to compute from this checkout's files. */
export const cacheFolder = fileURLToPath(
	new URL("../node_modules/.cache/fragment-publisher", import.meta.url),
);

/** Writes a file of the cache atomically. Failures are ignored: this user may not be allowed to write there. */
export async function keepFile(path: string, text: string): Promise<void> {
	const temporary = `${path}.${process.pid}.tmp`;
	try {
		await mkdir(dirname(path), { recursive: true });
		await writeFile(temporary, text);
		await rename(temporary, path);
	} catch {
		// Without the cache the file is computed again.
	}
}
