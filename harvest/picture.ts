import { decode } from "fast-png";

/** Side of the requested pictures, in pixels. */
export const pictureSide = 64;

/** Bytes of a picture that is decoded: one of that side has some 16,000 before compression. */
const maxBytes = 64 * 1024;

/** The first bytes of every PNG (RFC 2083, section 3.1), and the offset of its width and height. */
const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const widthOffset = 16;

export function isPng(bytes: Uint8Array): boolean {
	return signature.every((byte, index) => bytes[index] === byte);
}

/**
 * Whether a PNG is blank: all pixels have the same colour, or are transparent. A picture that is larger than requested, or
 * cannot be decoded, does not count as blank.
 */
export function isBlank(bytes: Uint8Array): boolean {
	if (!isPng(bytes) || bytes.length > maxBytes || bytes.length < widthOffset + 8) return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	// The size is checked before the decoder allocates memory for it.
	if (view.getUint32(widthOffset) > pictureSide || view.getUint32(widthOffset + 4) > pictureSide)
		return false;
	try {
		const { data, channels = 1, palette, depth = 8 } = decode(bytes);
		if (palette || depth < 8) return data.every((index) => index === data[0]);
		const alpha = channels === 4 || channels === 2 ? channels - 1 : null;
		const isClear = alpha !== null && data.every((value, index) => index % channels !== alpha || value === 0);
		return isClear || data.every((value, index) => value === data[index % channels]);
	} catch {
		return false;
	}
}
