import { keyOf } from "../../extensions/import/document.ts";
import { readDump, readDumpFile } from "../../extensions/import/dump.ts";
import { parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";

/**
 * Reads smallkeys from a list, with white space or commas between them, or from a dump of the older service's database.
 * @throws {Error} that names the first invalid smallkey of a list
 */
export async function readKeys(path: string): Promise<string[]> {
	const bytes = await readDumpFile(path);
	if (/^\ufeff?\s*[[{]/.test(bytes.toString("utf8", 0, 64))) {
		const documents = [...readDump(bytes)].flatMap((entry) => ("document" in entry ? [entry.document] : []));
		return [...new Set(documents.map((one) => parseSmallkey(keyOf(one))).filter((key) => key !== null))];
	}
	const items = bytes.toString("utf8").match(/[^\s,]+/g) ?? [];
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}
