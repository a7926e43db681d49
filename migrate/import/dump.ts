import { isObject, type Json, textOf } from "../compare/json.ts";
import { DumpError, maxElementBytes, readElements } from "./elements.ts";

/** What a dump has at one place: a document, or what is known of one that is too long to be read. */
export type Entry = { document: Json; offset: number } | { key: string; reason: string; offset: number };

/**
 * The documents of a dump of CouchDB: `{"docs":[…]}`, or `{"rows":[{"doc":…},…]}` as of `_all_docs?include_docs=true`.
 * The database's own documents (`_design/…`) and deleted ones are skipped.
 * @throws {DumpError} where the file is not such a dump
 */
export async function* readDump(chunks: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
	for await (const { bytes, offset, length } of readElements(withoutMark(chunks))) {
		if (!bytes) {
			yield { key: "", reason: `has ${length} bytes, and may have ${maxElementBytes}`, offset };
			continue;
		}
		const document = documentOf(parseElement(bytes, offset), offset);
		if (!document || document._deleted === true || textOf(document._id).startsWith("_design/")) continue;
		yield { document, offset };
	}
}

/** Strips the byte order mark that some tools write. */
async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
	let isFirst = true;
	for await (const chunk of chunks) {
		const hasMark = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
		isFirst = false;
		yield hasMark ? chunk.subarray(3) : chunk;
	}
}

function parseElement(bytes: Buffer, offset: number): unknown {
	try {
		return JSON.parse(bytes.toString("utf8"));
	} catch (error) {
		throw new DumpError(`is not JSON: in the document at byte ${offset}: ${(error as Error).message}`);
	}
}

/** The document of an element; null for a deleted one. */
function documentOf(element: unknown, offset: number): Json | null {
	if (!isObject(element)) throw new DumpError(`holds something else than documents, at byte ${offset}`);
	const isRow = !("_id" in element) && ("doc" in element || "value" in element);
	if (!isRow) return element;
	if (!("doc" in element))
		throw new DumpError("has rows without documents: ask for _all_docs?include_docs=true");
	return isObject(element.doc) ? element.doc : null;
}
