import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { isObject, listOf, objectOf, quote } from "../../site/service/decode.ts";
import { utf8Of } from "../../store/files/files.ts";

export type Json = Record<string, unknown>;

export function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** Documents by their number in the dump, from 1. */
export type Dump = ReadonlyMap<number, Json>;

/**
 * Reads a dump of CouchDB: `{"docs":[…]}`, or `{"rows":[{"doc":…},…]}` as from `_all_docs?include_docs=true`. Skips design
 * documents and deleted ones.
 * @throws {Error} if the file is not such a dump
 */
export async function readDump(path: string): Promise<Dump> {
	const wrong = (reason: string) => new Error(`${path}: ${reason}; nothing was written`);
	const bytes = utf8Of(await readFile(path));
	if (!isUtf8(bytes)) throw wrong("is not UTF-8 or UTF-16");
	let dump: Json;
	try {
		dump = objectOf(JSON.parse(new TextDecoder().decode(bytes)));
	} catch (error) {
		throw wrong(`is not JSON: is it whole? ${(error as Error).message}`);
	}
	const { docs, rows, error, reason } = dump;
	if (error) throw wrong(quote(`holds CouchDB's error ${error}: ${reason}`));
	if (Array.isArray(docs) === Array.isArray(rows))
		throw wrong('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
	const all = listOf(docs ?? rows).map((element) => (docs ? element : objectOf(element).doc));
	if (all.includes(undefined)) throw wrong("has rows without documents: ask for _all_docs?include_docs=true");
	// A deleted row has null.
	const other = all.findIndex((document) => document !== null && !isObject(document));
	if (other >= 0) throw wrong(`holds something else than documents, at number ${other + 1}`);
	const isLayer = (document: unknown): document is Json =>
		isObject(document) && document._deleted !== true && !textOf(document._id).startsWith("_design/");
	return new Map(all.flatMap((document, index) => (isLayer(document) ? [[index + 1, document]] : [])));
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
