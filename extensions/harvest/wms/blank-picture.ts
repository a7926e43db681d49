import { decode, hasPngSignature } from "fast-png";

/** Pixels of the pictures that are requested. */
export const pictureSide = 64;

/** Before compression, a picture has some 16,000. */
const maxBytes = 64 * 1024;

/** The height follows (RFC 2083, section 4.1.1). */
const widthOffset = 16;

export function isBlank(bytes: Uint8Array): boolean {
	if (!hasPngSignature(bytes) || bytes.length > maxBytes || bytes.length < widthOffset + 8) return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	// The size is checked before the decoder allocates memory for it.
	if (view.getUint32(widthOffset) > pictureSide || view.getUint32(widthOffset + 4) > pictureSide)
		return false;
	try {
		const { data, channels = 1, palette, depth = 8 } = decode(bytes);
		if (palette || depth < 8) return data.every((index) => index === data[0]);
		const isClear = channels % 2 === 0 && data.every((value, at) => (at + 1) % channels !== 0 || value === 0);
		return isClear || data.every((value, at) => value === data[at % channels]);
	} catch {
		return false;
	}
}
