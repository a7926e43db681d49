import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { isObject } from "../../registry/untrusted.ts";
import { listOf, objectOf, quote } from "../../site/service/decode.ts";
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
	const invalid = (reason: string) => new Error(`${path}: ${reason}; nothing was written`);
	const bytes = utf8Of(await readFile(path));
	if (!isUtf8(bytes)) throw invalid("is not UTF-8 or UTF-16");
	let content: Json;
	try {
		content = objectOf(JSON.parse(new TextDecoder().decode(bytes)));
	} catch (error) {
		throw invalid(`is not JSON: is it whole? ${(error as Error).message}`);
	}
	const { docs, rows, error, reason } = content;
	if (error) throw invalid(quote(`holds CouchDB's error ${error}: ${reason}`));
	if (Array.isArray(docs) === Array.isArray(rows))
		throw invalid('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
	const documents = docs ? listOf(docs) : listOf(rows).map((row) => objectOf(row).doc);
	if (documents.includes(undefined))
		throw invalid("has rows without documents: ask for _all_docs?include_docs=true");
	const layers = new Map<number, Json>();
	for (const [index, document] of documents.entries()) {
		// The row of a deleted document has null.
		if (document === null) continue;
		const number = index + 1;
		if (!isObject(document)) throw invalid(`holds something else than documents, at number ${number}`);
		const isDesign = textOf(document._id).startsWith("_design/");
		if (document._deleted !== true && !isDesign) layers.set(number, document);
	}
	return layers;
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
