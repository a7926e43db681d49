/** Bytes of one slab, and of the largest piece that is taken from one. */
const slabBytes = 256 * 1024;
const maxPieceBytes = 64 * 1024;

/**
 * Room for bodies that are sent at once. Several share a slab: memory of its own for each answer costs more than putting
 * the answer together (Node's own pool is for much smaller ones). Whoever keeps a body copies it.
 */
export class Slabs {
	#slab = Buffer.allocUnsafeSlow(slabBytes);
	#used = 0;

	readonly allocate = (length: number): Uint8Array => {
		if (length > maxPieceBytes) return Buffer.allocUnsafeSlow(length);
		if (this.#used + length > slabBytes) {
			this.#slab = Buffer.allocUnsafeSlow(slabBytes);
			this.#used = 0;
		}
		this.#used += length;
		return this.#slab.subarray(this.#used - length, this.#used);
	};

	/**
	 * Gives the room back that was taken last, once nobody reads it any more: what is written there next finds it in the
	 * processor's cache. A body from elsewhere is none of it.
	 */
	giveBack(body: Uint8Array): void {
		const { buffer, byteOffset } = this.#slab;
		const isLast = body.buffer === buffer && body.byteOffset + body.length === byteOffset + this.#used;
		if (isLast) this.#used -= body.length;
	}
}

/** A copy with memory of its own, as a Buffer: of any other array Node makes one each time that it is written. */
export function copyBody(body: Uint8Array): Uint8Array {
	const copy = Buffer.allocUnsafeSlow(body.length);
	copy.set(body);
	return copy;
}
