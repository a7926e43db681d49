import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import glob from "fast-glob";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The folder for results that take long to compute from this checkout's files. */
export const cacheFolder = join(root, "node_modules/.cache/fragment-publisher");

/** SHA-256 over the names and contents of the checkout's files that match some patterns, in hex. */
export async function filesStamp(patterns: readonly string[], checkout = root): Promise<string> {
	const paths = (await glob([...patterns], { cwd: checkout })).sort();
	const hash = createHash("sha256");
	for (const path of paths) hash.update(`${path}\n`).update(await readFile(join(checkout, path)));
	return hash.digest("hex");
}

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
