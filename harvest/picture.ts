import { decode } from "fast-png";

/** Side of the pictures that are asked for, in pixels. */
export const pictureSide = 64;

/** Largest picture that is read, in bytes: one of that side has some 16,000 before it is compressed. */
const maxBytes = 64 * 1024;

/** The first bytes of every PNG (RFC 2083, section 3.1), and the offset of its width and height. */
const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const widthAt = 16;

export function isPng(bytes: Uint8Array): boolean {
	return signature.every((byte, index) => bytes[index] === byte);
}

/**
 * Whether a PNG is blank: every pixel has the colour of the first one, or is transparent. One that is larger than
 * requested, or cannot be read, is not taken as blank.
 */
export function isBlank(bytes: Uint8Array): boolean {
	if (!isPng(bytes) || bytes.length > maxBytes || bytes.length < widthAt + 8) return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	// Checked before memory of that size is allocated.
	if (view.getUint32(widthAt) > pictureSide || view.getUint32(widthAt + 4) > pictureSide) return false;
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
