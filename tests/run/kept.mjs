import { readFile, rename, writeFile } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";

/**
 * What a function makes. Of all processes of a test run only the first one calls it; the others read the file that it writes.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} make
 * @returns {Promise<T>}
 */
export async function kept(path, make) {
	const found = await readFile(path).catch(() => null);
	if (found) return deserialize(found);
	const made = await make();
	// Whole, as other processes may read it.
	const part = `${path}.${process.pid}`;
	await writeFile(part, serialize(made));
	await rename(part, path);
	return made;
}
