import { readFile, stat } from "node:fs/promises";
import { utf8Of } from "../../store/files/utf8.ts";
import { isObject, type Json, listOf, objectOf, textOf } from "./compare/json.ts";

/** A document that cannot be imported, and why. */
export interface NotMoved {
	/** The document's key. */
	key: string;
	reason: string;
	/** Which document of the dump it is, from 1. */
	place: number;
}

/** A document of a dump, and which one it is. */
export interface DumpRecord {
	document: Json;
	place: number;
}

/** A dump that cannot be read. Nothing of it is imported. */
export class DumpError extends Error {}

/** Bytes of a dump: Node can have that many in one text. */
const maxDumpBytes = 500_000_000;

/** Reads a dump's file. @throws {DumpError} if it is too large */
export async function readDumpFile(path: string, maxBytes = maxDumpBytes): Promise<Buffer> {
	if ((await stat(path)).size > maxBytes)
		throw new DumpError(`has over ${maxBytes} bytes: import it in parts`);
	return utf8Of(await readFile(path));
}

/**
 * Reads the documents of a dump of CouchDB: `{"docs":[…]}`, or `{"rows":[{"doc":…},…]}` as from
 * `_all_docs?include_docs=true`. It skips the database's own documents (`_design/…`) and deleted ones.
 * @throws {DumpError} if the file is not such a dump
 */
export function readDump(bytes: Buffer): DumpRecord[] {
	let dump: Json;
	try {
		dump = objectOf(JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, "")));
	} catch (error) {
		throw new DumpError(`is not JSON: is it whole? ${(error as Error).message}`);
	}
	const [docs, rows] = [dump.docs, dump.rows];
	if (Array.isArray(docs) === Array.isArray(rows))
		throw new DumpError('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
	return listOf(docs ?? rows).flatMap((element, index) => {
		const document = documentOf(element, index + 1);
		const isOwn = !document || document._deleted === true || textOf(document._id).startsWith("_design/");
		return isOwn ? [] : [{ document, place: index + 1 }];
	});
}

/** The document of an element; null if it is deleted. */
function documentOf(element: unknown, place: number): Json | null {
	if (!isObject(element)) throw new DumpError(`holds something else than documents, at number ${place}`);
	const isRow = !("_id" in element) && ("doc" in element || "value" in element);
	if (!isRow) return element;
	if (!("doc" in element))
		throw new DumpError("has rows without documents: ask for _all_docs?include_docs=true");
	return isObject(element.doc) ? element.doc : null;
}
