import { readFile, stat } from "node:fs/promises";
import { isObject, type Json, objectOf, textOf } from "../compare/json.ts";

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

const [quote, backslash, comma, closeArray, open, close] = [0x22, 0x5c, 0x2c, 0x5d, 0x7b, 0x7d];
const spaces: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Reads a dump's file. @throws {DumpError} if it is too large */
export async function readDumpFile(path: string, maxBytes = maxDumpBytes): Promise<Buffer> {
	if ((await stat(path)).size > maxBytes) throw new DumpError(`has over ${maxBytes} bytes`);
	return readFile(path);
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
function* elementsOf(bytes: Buffer): Generator<[number, number]> {
	const start = startOfArray(bytes);
	let at = afterSpace(bytes, start);
	while (at < bytes.length && bytes[at] !== closeArray) {
		const end = endOfObject(bytes, at);
		yield [at, end];
		const next = afterSpace(bytes, end);
		at = bytes[next] === comma ? afterSpace(bytes, next + 1) : next;
		const isRight = bytes[next] === closeArray || (bytes[next] === comma && bytes[at] !== closeArray);
		if (!isRight && next < bytes.length) throw new DumpError("is not JSON");
	}
	checkRest(bytes.subarray(0, start), bytes.subarray(at), bytes.length);
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

/** Checks that the text before and after the elements makes a JSON object with one array. */
function checkRest(before: Buffer, after: Buffer, length: number): void {
	const text = before
		.toString("utf8")
		.replace(/^\ufeff/, "")
		.trimStart();
	let rest: Json;
	try {
		rest = objectOf(JSON.parse(`${text}${after.toString("utf8")}`));
	} catch {
		const isCut = text.startsWith("{") && /^\s*\]?\s*$/.test(after.toString("latin1", 0, 100));
		throw new DumpError(isCut ? `ends in the middle, after ${length} bytes: is it whole?` : "is not JSON");
	}
	if (Array.isArray(rest.docs) === Array.isArray(rest.rows))
		throw new DumpError('must have one array of documents: {"docs":[…]} or {"rows":[…]}');
}

/** The offset after the object that starts at `start`, found by brackets and quotes alone. @throws {DumpError} without an end */
function endOfObject(bytes: Buffer, start: number): number {
	if (bytes[start] !== open) throw new DumpError(`holds something else than documents, at byte ${start}`);
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

function afterSpace(bytes: Buffer, start: number): number {
	let at = start;
	while (spaces.has(bytes[at])) at += 1;
	return at;
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
