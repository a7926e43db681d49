/** What each byte does to the remainder: the polynomial of ISO 3309, its bits turned round. */
const table = Int32Array.from({ length: 256 }, (_, byte) => {
	let rest = byte;
	for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
	return rest;
});

/** CRC-32 of bytes, as an unsigned number; `zlib.crc32` of Node 20.15. */
export function crc32(bytes: Uint8Array): number {
	let rest = -1;
	for (let at = 0; at < bytes.length; at += 1) rest = (rest >>> 8) ^ table[(rest ^ bytes[at]!) & 0xff]!;
	return ~rest >>> 0;
}
