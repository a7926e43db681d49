import { createDecode, maxPrologBytes } from "./decode.ts";

export type Parts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const maxDocumentBytes = 64_000_000;

export class BrokenParts extends Error {}

const maxAtOnce = 1 << 16;

export async function* textsOf(parts: Parts, contentType: string): AsyncGenerator<string> {
	let start = new Uint8Array(0);
	let decode: ReturnType<typeof createDecode> | null = null;
	for await (const part of parts) {
		for (let at = 0; at < part.length; at += maxAtOnce) {
			const bytes = part.subarray(at, at + maxAtOnce);
			if (decode) {
				yield decode(bytes, false);
				continue;
			}
			start = joined(start, bytes);
			if (start.length < maxPrologBytes) continue;
			decode = createDecode(start, contentType);
			yield decode(start, false);
		}
	}
	yield decode ? decode(new Uint8Array(0), true) : createDecode(start, contentType)(start, true);
}

function joined(start: Uint8Array, end: Uint8Array): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(start.length + end.length);
	bytes.set(start);
	bytes.set(end, start.length);
	return bytes;
}

/** Parts that begin as gzip does (RFC 1952, section 2.3.1): some services do not announce it. */
export async function* unzipped(parts: Parts): AsyncGenerator<Uint8Array> {
	const source = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
	const first = await source.next();
	const rest = async function* () {
		for (let next = first; !next.done; next = await source.next()) yield next.value;
	};
	try {
		const [a, b] = first.done ? [] : first.value;
		if (a !== 0x1f || b !== 0x8b) yield* rest();
		else yield* inflated(rest());
	} finally {
		await source.return?.();
	}
}

async function* inflated(parts: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
	const stream = new DecompressionStream("gzip");
	const reader = stream.readable.getReader();
	const failure = writeAll(parts, stream.writable.getWriter());
	let bytes = 0;
	try {
		for (let next = await reader.read(); !next.done; next = await reader.read()) {
			bytes += next.value.length;
			if (bytes > maxDocumentBytes) throw new BrokenParts();
			yield next.value;
		}
	} catch {
		// The parts may have failed; otherwise they are not gzip, or are cut off.
		throw (await failure) ?? new BrokenParts();
	} finally {
		reader.cancel().catch(() => undefined);
	}
}

/** Never rejects. @returns why the parts failed; null if they did not, or the writer did */
async function writeAll(
	parts: AsyncGenerator<Uint8Array>,
	writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<unknown> {
	try {
		for (let next = await parts.next(); !next.done; next = await parts.next()) {
			const isWritten = await writer.write(next.value as Uint8Array<ArrayBuffer>).then(
				() => true,
				() => false,
			);
			if (!isWritten) return null;
		}
		await writer.close().catch(() => undefined);
		return null;
	} catch (error) {
		await writer.abort(error).catch(() => undefined);
		return error;
	}
}
