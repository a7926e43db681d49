export type Parts = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** After decompression. */
const maxBytes = 64_000_000;

/** No gzip after its first bytes, cut off, or larger than `maxBytes`. */
export class BrokenParts extends Error {}

/**
 * Decompresses gzip (RFC 1952, section 2.3.1), which some services do not announce; returns other parts.
 * @throws {BrokenParts}
 */
export async function* unzip(parts: Parts): AsyncGenerator<Uint8Array> {
	const source = (async function* () {
		yield* parts;
	})();
	const first = await source.next();
	const rest = async function* () {
		for (let next = first; !next.done; next = await source.next()) yield next.value;
	};
	try {
		const [id1, id2] = first.done ? [] : first.value;
		yield* id1 === 0x1f && id2 === 0x8b ? inflate(rest()) : rest();
	} finally {
		await source.return();
	}
}

async function* inflate(parts: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
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
			if (bytes > maxBytes) throw failure;
			yield next.value;
		}
	} catch {
		// A failure of the source, if there is one, is the reason.
		throw failure;
	} finally {
		reader.cancel().catch(() => undefined);
	}
}
