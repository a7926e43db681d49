import { isNestedBeyond } from "../../registry/json.ts";
import { shortened } from "../../registry/untrusted-text.ts";
import { isObject, tryJson } from "../../registry/values.ts";

export { isObject };

/** Nesting of an answer; ArcGIS needs about ten. It limits the stack of recursive readers. */
const maxDepth = 100;

/**
 * Objects and lists of an answer; the legend of a large map service has some ten thousand. It limits memory:
 * an empty list has two bytes as text, and fifty times as many in memory.
 */
const maxContainers = 200_000;

const maxTextLength = 512;

const stringOrNaN = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/**
 * UTF-8, with or without a byte order mark. A bare `NaN` or `Infinity`, which ArcGIS writes and its own
 * clients read, is null.
 * @param limit most objects and lists
 * @returns null if it is not JSON, is nested deeper than 100, or has more objects and lists
 */
export function parseAnswer(bytes: Uint8Array, limit = maxContainers): unknown {
	const text = new TextDecoder().decode(bytes);
	if (isNestedBeyond(text, maxDepth, limit)) return null;
	const value = tryJson(text);
	if (value !== null || !/\b(?:NaN|Infinity)\b/.test(text)) return value;
	return tryJson(text.replace(stringOrNaN, (token) => (token.startsWith('"') ? token : "null")));
}

/** For a finding: one line, no control characters, at most 160 characters. */
export function quote(text: string): string {
	return shortened(text.replace(/[\p{C}\p{Z}]+/gu, " ").trim(), 160);
}

export function objectOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The first 512 characters, without lone surrogates; `""` for anything but a string. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value.slice(0, maxTextLength).toWellFormed() : "";
}

/** Null also for a number as text. */
export function numberOf(value: unknown): number | null {
	return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function wordOf(value: unknown): string {
	return typeof value === "number" || typeof value === "boolean" ? String(value) : textOf(value);
}

/**
 * Byte order marks, each byte as a character, and their encodings: also without a mark, by the bytes of `<`. Some servers put
 * the mark of UTF-16 before a document of single bytes.
 */
const marks = [
	[/^\xef\xbb\xbf/, "utf-8"],
	[/^(?:\xff\xfe[^\0]|<)\0/, "utf-16le"],
	[/^(?:\xfe\xff)?\0[^\0]/, "utf-16be"],
] as const;

/** The declaration of a document must be in these bytes. */
const maxPrologBytes = 1024;

function decoderOf(label: string | undefined): TextDecoder | null {
	try {
		return label === undefined ? null : new TextDecoder(label);
	} catch {
		return null;
	}
}

/**
 * Decodes an XML document part by part: by its byte order mark, else by the content type's encoding, else by
 * the declaration's, else as UTF-8 (RFC 7303, section 3). An unknown encoding is ignored. Bytes that are not
 * UTF-8, although UTF-8 is announced, are read by a declaration of another encoding, else as windows-1252.
 * @param start the first bytes of the document: `maxPrologBytes`, or all
 */
function createDecode(start: Uint8Array, contentType: string): (part: Uint8Array, isEnd: boolean) => string {
	const prolog = new TextDecoder("latin1").decode(start.subarray(0, maxPrologBytes));
	const [, marked] = marks.find(([mark]) => mark.test(prolog)) ?? [];
	const sent = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
	// Words may precede the declaration, such as the header of a CGI program.
	const declared = decoderOf(/<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(prolog)?.[1]);
	const decoder = decoderOf(marked) ?? decoderOf(sent) ?? declared ?? new TextDecoder();
	if (decoder.encoding !== "utf-8") return (part, isEnd) => decoder.decode(part, { stream: !isEnd });
	return decodeUtf8(declared && declared.encoding !== "utf-8" && !marked ? declared : null);
}

/** Bytes as characters: a sequence of UTF-8, or one other byte. */
const sequences = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;

/** The beginning of a sequence, at the end of a part. */
const beginning = /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$/;

/** @param declared decodes the rest from the first part on that is not UTF-8; null: windows-1252, byte by byte */
function decodeUtf8(declared: TextDecoder | null) {
	const windows = new TextDecoder("windows-1252");
	const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
	const decode = (bytes: Uint8Array, orElse: () => string) => {
		try {
			return utf8.decode(bytes);
		} catch {
			return orElse();
		}
	};
	const charactersOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
	const decodeSequence = (sequence: string) => {
		const bytes = Uint8Array.from(sequence, (sign) => sign.charCodeAt(0));
		return decode(bytes, () => windows.decode(bytes));
	};
	let held = new Uint8Array(0);
	let isOther = false;
	return (part: Uint8Array, isEnd: boolean): string => {
		if (isOther && declared) return declared.decode(part, { stream: !isEnd });
		const bytes = joined(held, part);
		const [rest = ""] = (!isEnd && beginning.exec(charactersOf(bytes.subarray(-3)))) || [];
		held = bytes.slice(bytes.length - rest.length);
		const whole = bytes.subarray(0, bytes.length - rest.length);
		return decode(whole, () => {
			if (!declared) return charactersOf(whole).replace(sequences, decodeSequence);
			isOther = true;
			return declared.decode(bytes, { stream: !isEnd });
		});
	};
}

export type Parts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const maxDocumentBytes = 64_000_000;

export class BrokenParts extends Error {}

const maxAtOnce = 1 << 16;

export async function* textsOf(parts: Parts, contentType: string): AsyncGenerator<string> {
	let held = new Uint8Array(0);
	let decode: ReturnType<typeof createDecode> | null = null;
	for await (const part of parts) {
		for (let at = 0; at < part.length; at += maxAtOnce) {
			held = joined(held, part.subarray(at, at + maxAtOnce));
			if (!decode && held.length < maxPrologBytes) continue;
			decode ??= createDecode(held, contentType);
			yield decode(held, false);
			held = new Uint8Array(0);
		}
	}
	yield (decode ?? createDecode(held, contentType))(held, true);
}

function joined(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(start.length + end.length);
	bytes.set(start);
	bytes.set(end, start.length);
	return bytes;
}

/** Parts that begin as gzip does (RFC 1952, section 2.3.1): some services do not announce it. */
export async function* unzipped(parts: Parts): AsyncGenerator<Uint8Array> {
	const source = (async function* () {
		yield* parts;
	})();
	const first = await source.next();
	const rest = async function* () {
		for (let next = first; !next.done; next = await source.next()) yield next.value;
	};
	try {
		const [a, b] = first.done ? [] : first.value;
		yield* a === 0x1f && b === 0x8b ? inflated(rest()) : rest();
	} finally {
		await source.return();
	}
}

async function* inflated(parts: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
	let failure: unknown = new BrokenParts();
	const source = new ReadableStream<BufferSource>({
		async pull(controller) {
			const { done, value } = await parts.next().catch((error) => {
				failure = error;
				throw error;
			});
			if (done) controller.close();
			else controller.enqueue(value as Uint8Array<ArrayBuffer>);
		},
	});
	const reader = source.pipeThrough(new DecompressionStream("gzip")).getReader();
	let bytes = 0;
	try {
		for (let next = await reader.read(); !next.done; next = await reader.read()) {
			bytes += next.value.length;
			if (bytes > maxDocumentBytes) throw failure;
			yield next.value;
		}
	} catch {
		// The parts may have failed; otherwise they are not gzip, or are cut off.
		throw failure;
	} finally {
		reader.cancel().catch(() => undefined);
	}
}
