/** Most bytes of one block (RFC 1951, section 3.2.4). */
const mostOfBlock = 0xffff;

/** The largest prime below 2^16, and how many bytes can be summed up before the sums have to be cut (RFC 1950). */
const modulus = 65_521;
const bytesAtOnce = 3_800;

/**
 * Bytes in the zlib format without compression (RFC 1950, RFC 1951): what `deflateSync` gives at level 0, at a tenth of
 * its cost for a few bytes.
 */
export function storedStream(bytes: Buffer): Buffer {
	const blocks: Buffer[] = [Buffer.from([0x78, 0x01])];
	let at = 0;
	do {
		const block = bytes.subarray(at, at + mostOfBlock);
		at += block.length;
		const header = Buffer.alloc(5);
		header[0] = at === bytes.length ? 1 : 0;
		header.writeUInt16LE(block.length, 1);
		header.writeUInt16LE(~block.length & 0xffff, 3);
		blocks.push(header, block);
	} while (at < bytes.length);
	const sum = Buffer.alloc(4);
	sum.writeUInt32BE(adler32(bytes));
	return Buffer.concat([...blocks, sum]);
}

/** The checksum of RFC 1950, section 8.2. */
function adler32(bytes: Buffer): number {
	let low = 1;
	let high = 0;
	for (let start = 0; start < bytes.length; start += bytesAtOnce) {
		const end = Math.min(start + bytesAtOnce, bytes.length);
		for (let at = start; at < end; at += 1) {
			low += bytes[at]!;
			high += low;
		}
		low %= modulus;
		high %= modulus;
	}
	return ((high << 16) | low) >>> 0;
}
