import { parseSmallkey } from "../../registry/smallkey.ts";
import { readKeys } from "../../scripts/send/keys.ts";
import { keyOf } from "./document.ts";
import { readDump, readDumpFile } from "./dump.ts";

/** Reads smallkeys from a list, or from a dump of the older service's database. @throws {Error} as `readKeys` does */
export async function readKeysOrDump(path: string): Promise<string[]> {
	const bytes = await readDumpFile(path);
	if (!/^\ufeff?\s*[[{]/.test(bytes.toString("utf8", 0, 64))) return readKeys(path);
	const documents = [...readDump(bytes)].flatMap((entry) => ("document" in entry ? [entry.document] : []));
	const keys = documents.map((document) => parseSmallkey(keyOf(document)));
	return [...new Set(keys.filter((key) => key !== null))];
}
