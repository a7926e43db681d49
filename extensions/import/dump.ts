import { readFile, stat } from "node:fs/promises";
import { isObject, listOf, objectOf } from "../../site/service/decode.ts";
import { utf8Of } from "../../store/files/files.ts";

export type Json = Record<string, unknown>;

export function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** Bytes of a dump: Node can have that many in one text. */
const maxDumpBytes = 500_000_000;

/**
 * Reads a dump of CouchDB: `{"docs":[…]}`, or `{"rows":[{"doc":…},…]}` as from `_all_docs?include_docs=true`. It skips the
 * database's own documents (`_design/…`) and deleted ones.
 * @returns documents by their place in the dump, from 1
 * @throws {Error} if the file is too large or not such a dump: nothing of it is imported
 */
export async function readDump(path: string, maxBytes = maxDumpBytes): Promise<ReadonlyMap<number, Json>> {
	const wrong = (reason: string) => new Error(`${path}: ${reason}; nothing was written`);
	if ((await stat(path)).size > maxBytes) throw wrong(`has over ${maxBytes} bytes: import it in parts`);
	const text = utf8Of(await readFile(path)).toString("utf8");
	let dump: Json;
	try {
		dump = objectOf(JSON.parse(text.replace(/^\ufeff/, "")));
	} catch (error) {
		throw wrong(`is not JSON: is it whole? ${(error as Error).message}`);
	}
	const { docs, rows } = dump;
	if (Array.isArray(docs) === Array.isArray(rows))
		throw wrong('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
	const documents = new Map<number, Json>();
	for (const [index, element] of listOf(docs ?? rows).entries()) {
		const document = docs ? element : objectOf(element).doc;
		if (document === undefined)
			throw wrong("has rows without documents: ask for _all_docs?include_docs=true");
		// A deleted row has null.
		if (document === null) continue;
		if (!isObject(document)) throw wrong(`holds something else than documents, at number ${index + 1}`);
		if (document._deleted !== true && !textOf(document._id).startsWith("_design/"))
			documents.set(index + 1, document);
	}
	return documents;
}

/** Release 1.0 stored the smallkey in the member `key`. */
export function keyOf(document: Json): string {
	return textOf(document._id) || textOf(document.key) || textOf(objectOf(document.data).key);
}

/** The node of a fragment (`{"layers":{"wms":[node]}}`, `{"layers":{"feature":[node]}}`, `{"layers":[node]}`), or null. */
export function nodeIn(fragment: unknown): Json | null {
	const { layers } = objectOf(fragment);
	const { wms, feature } = objectOf(layers);
	const [node] = [...listOf(layers), ...listOf(wms), ...listOf(feature)];
	return isObject(node) ? node : null;
}
