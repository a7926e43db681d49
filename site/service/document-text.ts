import { concat } from "../../store/hashes.ts";
import type { Parts } from "./gzip.ts";

/** Byte order marks, or the bytes of `<`, and their encodings. Some servers put the mark of UTF-16 before single bytes. */
const encodingMarks = [
	[/^\xef\xbb\xbf/, "utf-8"],
	[/^(?:\xff\xfe[^\0]|<)\0/, "utf-16le"],
	[/^(?:\xfe\xff)?\0[^\0]/, "utf-16be"],
] as const;

/** The declaration of a document must be in these bytes. */
const maxPrologBytes = 1024;

/** The encoding is in the byte order mark, the content type or the declaration, or UTF-8 (RFC 7303, section 3). */
function createDecoder(start: Uint8Array, contentType: string): TextDecoder | LenientUtf8 {
	const prolog = new TextDecoder("latin1").decode(start.subarray(0, maxPrologBytes));
	const [, markLabel] = encodingMarks.find(([mark]) => mark.test(prolog)) ?? [];
	const typeLabel = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
	// A CGI program's header may precede the declaration.
	const declared = decoderOf(/<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(prolog)?.[1]);
	const decoder = decoderOf(markLabel) ?? decoderOf(typeLabel) ?? declared ?? new TextDecoder();
	if (decoder.encoding !== "utf-8") return decoder;
	return new LenientUtf8(declared?.encoding === "utf-8" || markLabel ? null : declared);
}

/** Null for an unknown encoding. @param label WHATWG Encoding, section 4.2 */
function decoderOf(label: string | undefined): TextDecoder | null {
	try {
		return label === undefined ? null : new TextDecoder(label);
	} catch {
		return null;
	}
}

/** Matches a sequence of UTF-8, or another byte, in `charactersOf`. */
const sequences = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;

/** Matches an incomplete sequence of UTF-8 at the end. */
const incompleteEnd = /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$/;

/** Decodes what is announced as UTF-8, but may have other bytes. */
class LenientUtf8 {
	readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
	readonly #windows = new TextDecoder("windows-1252");
	#rest = new Uint8Array(0);
	/** Null until a part is not UTF-8. */
	#other: TextDecoder | null = null;

	/** @param declared decodes from the first part that is not UTF-8; null: windows-1252, byte by byte */
	constructor(readonly declared: TextDecoder | null) {}

	decode(part: Uint8Array, { stream } = { stream: false }): string {
		if (this.#other) return this.#other.decode(part, { stream });
		const bytes = concat([this.#rest, part]);
		const whole = bytes.subarray(0, bytes.length - (stream ? incompleteLength(bytes) : 0));
		this.#rest = bytes.slice(whole.length);
		const text = this.#decodeUtf8(whole);
		if (text !== null) return text;
		if (!this.declared) return charactersOf(whole).replace(sequences, (match) => this.#decodeSequence(match));
		this.#other = this.declared;
		return this.#other.decode(bytes, { stream });
	}

	#decodeSequence(characters: string): string {
		const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
		return this.#decodeUtf8(bytes) ?? this.#windows.decode(bytes);
	}

	#decodeUtf8(bytes: Uint8Array): string | null {
		try {
			return this.#utf8.decode(bytes);
		} catch {
			return null;
		}
	}
}

function incompleteLength(bytes: Uint8Array): number {
	return incompleteEnd.exec(charactersOf(bytes.subarray(-3)))?.[0].length ?? 0;
}

/** A character for each byte. */
function charactersOf(bytes: Uint8Array): string {
	return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

const maxPortionBytes = 1 << 16;

/** Decodes in portions; the first has the whole prolog. Never throws for wrong bytes. */
export async function* decodeParts(parts: Parts, contentType: string): AsyncGenerator<string> {
	let portion = new Uint8Array(0);
	let decoder: TextDecoder | LenientUtf8 | null = null;
	for await (const part of parts) {
		for (let start = 0; start < part.length; start += maxPortionBytes) {
			portion = concat([portion, part.subarray(start, start + maxPortionBytes)]);
			if (!decoder && portion.length < maxPrologBytes) continue;
			decoder ??= createDecoder(portion, contentType);
			yield decoder.decode(portion, { stream: true });
			portion = new Uint8Array(0);
		}
	}
	yield (decoder ?? createDecoder(portion, contentType)).decode(portion);
}
