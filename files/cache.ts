import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import glob from "fast-glob";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Where this checkout keeps what takes long to make from its own files, and could be made again at any time. */
export const cacheFolder = join(root, "node_modules/.cache/fragment-publisher");

/** A stamp of the names and contents of a checkout's files with some patterns: 64 hexadecimal digits. */
export async function filesStamp(patterns: readonly string[], checkout = root): Promise<string> {
	const paths = (await glob([...patterns], { cwd: checkout })).sort();
	const hash = createHash("sha256");
	for (const path of paths) hash.update(`${path}\n`).update(await readFile(join(checkout, path)));
	return hash.digest("hex");
}

/** Keeps a file. Whoever runs this may not be allowed to write beside the code: it is then made again where it is needed. */
export async function keepFile(path: string, text: string): Promise<void> {
	const temporary = `${path}.${process.pid}.tmp`;
	try {
		await mkdir(dirname(path), { recursive: true });
		await writeFile(temporary, text);
		await rename(temporary, path);
	} catch {
		// It is only kept to be quicker.
	}
}
