/** Bytes of one slab, and of the largest piece that is taken from one. */
const slabBytes = 65_536;
const maxPieceBytes = 16_384;

let slab = Buffer.allocUnsafeSlow(slabBytes);
let used = 0;

/**
 * Room for a body that is sent at once. Several share a slab: memory of its own for each answer costs more than putting
 * the answer together (Node's own pool is for much smaller ones). Whoever keeps a body copies it.
 */
export function allocate(length: number): Uint8Array {
	if (length > maxPieceBytes) return Buffer.allocUnsafeSlow(length);
	if (used + length > slabBytes) {
		slab = Buffer.allocUnsafeSlow(slabBytes);
		used = 0;
	}
	used += length;
	return slab.subarray(used - length, used);
}
