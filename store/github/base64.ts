const encoder = new TextEncoder();

/** A text in UTF-8. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
	return encoder.encode(text);
}

/** Bytes in base64 (RFC 4648, section 4). In pieces: a call takes a bounded number of arguments. */
export function bytesBase64(bytes: Uint8Array): string {
	const piece = 0x8000;
	let binary = "";
	for (let start = 0; start < bytes.length; start += piece) {
		binary += String.fromCharCode(...bytes.subarray(start, start + piece));
	}
	return btoa(binary);
}

/** The bytes of a base64 text; spaces and line breaks in it do not matter. Null where it is none. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> | null {
	try {
		return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
	} catch {
		return null;
	}
}
