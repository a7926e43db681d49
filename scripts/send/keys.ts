import { readFile } from "node:fs/promises";
import { parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import { utf8Of } from "../../store/files/utf8.ts";

/**
 * Reads smallkeys from a file with white space or commas between them.
 * @throws {Error} that names the first invalid smallkey
 */
export async function readKeys(path: string): Promise<string[]> {
	const items =
		utf8Of(await readFile(path))
			.toString()
			.match(/[^\s,]+/g) ?? [];
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}
