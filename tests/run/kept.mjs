import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";

/**
 * What a function makes. Of all processes of a test run only the first one calls it; the others read the file that it writes.
 * @template T
 * @param {string} folder of the run
 * @param {() => Promise<T>} make a function with a name of its own
 * @param {unknown} on what the result depends on, as JSON
 * @returns {Promise<T>}
 */
export async function kept(folder, make, on = null) {
	const hash = createHash("sha256").update(JSON.stringify(on)).digest("hex");
	const path = join(folder, `${make.name}-${hash}`);
	const found = await readFile(path).catch(() => null);
	if (found) return deserialize(found);
	const made = await make();
	// Whole, as other processes may read it.
	const part = `${path}.${process.pid}`;
	await writeFile(part, serialize(made));
	await rename(part, path);
	return made;
}
