import { readFile, stat } from "node:fs/promises";
import { utf8Of } from "../../store/files/utf8.ts";
import { isObject, type Json, objectOf, textOf } from "./compare/json.ts";

/** A document that cannot be imported, and why. */
export interface NotMoved {
	/** The document's key. */
	key: string;
	reason: string;
	/** Byte of the dump at which the document starts. */
	offset: number;
}

/** A record of a dump: a document, or the reason why it cannot be read. */
export type DumpRecord = { document: Json; offset: number } | NotMoved;

/** A dump that cannot be read. Nothing of it is imported. */
export class DumpError extends Error {}

/** Bytes of a document: CouchDB's own limit (`max_document_size`). */
const maxDocumentBytes = 8_000_000;
/** Documents of a dump, since each needs memory. */
const maxDocuments = 1_000_000;
/** Bytes of a dump: Node can read that many at once. */
const maxDumpBytes = 2_000_000_000;

const [quote, backslash, open, close] = [0x22, 0x5c, 0x7b, 0x7d];

/** Reads a dump's file. @throws {DumpError} if it is too large */
export async function readDumpFile(path: string, maxBytes = maxDumpBytes): Promise<Buffer> {
	if ((await stat(path)).size > maxBytes) throw new DumpError(`has over ${maxBytes} bytes`);
	return utf8Of(await readFile(path));
}

/**
 * Reads the documents of a dump of CouchDB: `{"docs":[…]}`, or `{"rows":[{"doc":…},…]}` as from
 * `_all_docs?include_docs=true`. It skips the database's own documents (`_design/…`) and deleted ones.
 * @throws {DumpError} if the file is not such a dump
 */
export function* readDump(bytes: Buffer): Generator<DumpRecord> {
	let count = 0;
	for (const [offset, end] of elementsOf(bytes)) {
		count += 1;
		if (count > maxDocuments) throw new DumpError(`has over ${maxDocuments} documents`);
		const length = end - offset;
		if (length > maxDocumentBytes) {
			yield { key: "", reason: `has ${length} bytes, and may have ${maxDocumentBytes}`, offset };
			continue;
		}
		const document = documentOf(bytes.subarray(offset, end), offset);
		if (!document || document._deleted === true || textOf(document._id).startsWith("_design/")) continue;
		yield { document, offset };
	}
}

/** Finds start and end of each element of the array `docs` or `rows`, without parsing the elements. */
function* elementsOf(bytes: Buffer): Generator<[start: number, end: number]> {
	const start = startOfArray(bytes);
	/** The text around the elements, with a 0 in place of each, so that it can be checked as JSON. */
	let around = bytes.toString("utf8", 0, start).replace(/^\ufeff/, "");
	let at = start;
	for (;;) {
		const next = bytes.indexOf(open, at);
		const between = bytes.toString("latin1", at, next < 0 ? bytes.length : next);
		const other = between.search(/[^\s,]/);
		if (other >= 0 && between[other] !== "]")
			throw new DumpError(`holds something else than documents, at byte ${at + other}`);
		if (other >= 0 || next < 0) break;
		const end = endOfObject(bytes, next);
		yield [next, end];
		around += `${between}0`;
		at = end;
	}
	checkAround(around, bytes.toString("utf8", at), bytes.length);
}

/** The offset after the array's opening bracket; the dump's length if there is no such array. */
function startOfArray(bytes: Buffer): number {
	const starts = ['"docs"', '"rows"'].flatMap((name) => {
		const at = bytes.indexOf(name);
		const [opening] = /^"\w+"\s*:\s*\[/.exec(bytes.toString("latin1", at, at + 100)) ?? [];
		return opening ? [at + opening.length] : [];
	});
	return Math.min(...starts, bytes.length);
}

/** Checks that the text before, between and after the elements makes a JSON object with one array. */
function checkAround(before: string, after: string, length: number): void {
	let dump: Json;
	try {
		dump = objectOf(JSON.parse(before + after));
	} catch {
		const isCut = before.trimStart().startsWith("{") && /^[\s,\]]*$/.test(after);
		throw new DumpError(isCut ? `ends in the middle, after ${length} bytes: is it whole?` : "is not JSON");
	}
	if (Array.isArray(dump.docs) === Array.isArray(dump.rows))
		throw new DumpError('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
}

/** The offset after the object that starts at `start`, found by brackets and quotes alone. @throws {DumpError} without an end */
function endOfObject(bytes: Buffer, start: number): number {
	let depth = 0;
	for (let at = start; at < bytes.length; at += 1) {
		const byte = bytes[at];
		if (byte === quote) at = endOfString(bytes, at);
		else if (byte === open) depth += 1;
		else if (byte === close) depth -= 1;
		if (depth === 0) return at + 1;
	}
	throw new DumpError(`ends in the middle, after ${bytes.length} bytes: is it whole?`);
}

/** The offset of the closing quote of the string that starts at `start`; the dump's length if there is none. */
function endOfString(bytes: Buffer, start: number): number {
	for (let end = start; ; ) {
		end = bytes.indexOf(quote, end + 1);
		if (end < 0) return bytes.length;
		let slashes = 0;
		while (bytes[end - 1 - slashes] === backslash) slashes += 1;
		if (slashes % 2 === 0) return end;
	}
}

/** Parses an element into its document; null if the document is deleted. */
function documentOf(bytes: Buffer, offset: number): Json | null {
	let element: Json;
	try {
		element = JSON.parse(bytes.toString("utf8"));
	} catch (error) {
		throw new DumpError(`is not JSON: in the document at byte ${offset}: ${(error as Error).message}`);
	}
	const isRow = !("_id" in element) && ("doc" in element || "value" in element);
	if (!isRow) return element;
	if (!("doc" in element))
		throw new DumpError("has rows without documents: ask for _all_docs?include_docs=true");
	return isObject(element.doc) ? element.doc : null;
}
