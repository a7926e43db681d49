export type Parts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

type Decode = (part: Uint8Array, options?: { stream: boolean }) => string;

/** Byte order marks, or the bytes of `<`, and their encodings. Some servers put the mark of UTF-16 before single bytes. */
const marks = [
	[/^\xef\xbb\xbf/, "utf-8"],
	[/^(?:\xff\xfe[^\0]|<)\0/, "utf-16le"],
	[/^(?:\xfe\xff)?\0[^\0]/, "utf-16be"],
] as const;

/** The declaration of a document must be in these bytes. */
const maxPrologBytes = 1024;

/** The encoding is in the byte order mark, the content type or the declaration, or UTF-8 (RFC 7303, section 3). */
function createDecode(start: Uint8Array, contentType: string): Decode {
	const prolog = new TextDecoder("latin1").decode(start.subarray(0, maxPrologBytes));
	const [, marked] = marks.find(([mark]) => mark.test(prolog)) ?? [];
	const sent = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
	// A CGI program's header may precede the declaration.
	const declared = decoderOf(/<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(prolog)?.[1]);
	const decoder = decoderOf(marked) ?? decoderOf(sent) ?? declared ?? new TextDecoder();
	if (decoder.encoding !== "utf-8") return (part, options) => decoder.decode(part, options);
	const utf8 = new LenientUtf8(declared?.encoding === "utf-8" || marked ? null : declared);
	return (part, options) => utf8.decode(part, options);
}

function decoderOf(label: string | undefined): TextDecoder | null {
	try {
		return label === undefined ? null : new TextDecoder(label);
	} catch {
		return null;
	}
}

/** Bytes as characters: a sequence of UTF-8, or one other byte. */
const sequences = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;

/** The beginning of a sequence, at the end of a part. */
const beginning = /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$/;

/** Reads bytes that are not UTF-8, although UTF-8 is announced. */
class LenientUtf8 {
	readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
	readonly #windows = new TextDecoder("windows-1252");
	#held = new Uint8Array(0);
	#isDeclared = false;

	/** @param declared decodes from the first part that is not UTF-8; null: windows-1252, byte by byte */
	constructor(readonly declared: TextDecoder | null) {}

	decode(part: Uint8Array, { stream } = { stream: false }): string {
		if (this.#isDeclared && this.declared) return this.declared.decode(part, { stream });
		const bytes = join(this.#held, part);
		const [rest = ""] = (stream && beginning.exec(charactersOf(bytes.subarray(-3)))) || [];
		const length = bytes.length - rest.length;
		this.#held = bytes.slice(length);
		const whole = bytes.subarray(0, length);
		const text = this.#decodeUtf8(whole);
		if (text !== null) return text;
		if (!this.declared) return charactersOf(whole).replace(sequences, (signs) => this.#decodeSigns(signs));
		this.#isDeclared = true;
		return this.declared.decode(bytes, { stream });
	}

	#decodeSigns(signs: string): string {
		const bytes = Uint8Array.from(signs, (sign) => sign.charCodeAt(0));
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

function charactersOf(bytes: Uint8Array): string {
	return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

const maxAtOnce = 1 << 16;

export async function* textsOf(parts: Parts, contentType: string): AsyncGenerator<string> {
	let held = new Uint8Array(0);
	let decode: ReturnType<typeof createDecode> | null = null;
	for await (const part of parts) {
		for (let start = 0; start < part.length; start += maxAtOnce) {
			held = join(held, part.subarray(start, start + maxAtOnce));
			if (!decode && held.length < maxPrologBytes) continue;
			decode ??= createDecode(held, contentType);
			yield decode(held, { stream: true });
			held = new Uint8Array(0);
		}
	}
	yield (decode ?? createDecode(held, contentType))(held);
}

function join(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(start.length + end.length);
	bytes.set(start);
	bytes.set(end, start.length);
	return bytes;
}

const maxDocumentBytes = 64_000_000;

export class BrokenParts extends Error {}

/** Some services do not announce gzip (RFC 1952, section 2.3.1). */
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
