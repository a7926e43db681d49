import { readFile } from "node:fs/promises";
import { parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import { utf8Of } from "../../store/files/utf8.ts";

/**
 * Reads smallkeys from a file with white space or commas between them.
 * @param warn gets a line about an encoding that is probably not intended
 * @throws {Error} that names the first invalid smallkey
 */
export async function readKeys(path: string, warn: (line: string) => void): Promise<string[]> {
	const bytes = await readFile(path);
	const utf8 = utf8Of(bytes);
	if (utf8 !== bytes) warn(`${path}: is in UTF-16, and read so`);
	const items = utf8.toString().match(/[^\s,]+/g) ?? [];
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}
