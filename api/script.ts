const backslash = 0x5c;

/**
 * Counts U+2028 and U+2029 in UTF-8 JSON. They end a line in JavaScript before ES2019, so they are escaped where JSON is
 * part of a script; each escape is 3 bytes longer.
 */
export function countSeparators(json: Uint8Array): number {
	let count = 0;
	for (let at = findSeparator(json, 0); at >= 0; at = findSeparator(json, at + 3)) count += 1;
	return count;
}

/** Escapes those separators in UTF-8 JSON; returns the same array where there are none. */
export function escapeSeparators(json: Uint8Array): Uint8Array {
	const count = countSeparators(json);
	if (count === 0) return json;
	const escaped = new Uint8Array(json.length + 3 * count);
	let written = 0;
	let read = 0;
	for (let at = findSeparator(json, 0); at >= 0; at = findSeparator(json, read)) {
		escaped.set(json.subarray(read, at), written);
		written += at - read;
		// `\u2028` or `\u2029`: the last byte in UTF-8 is A8 or A9.
		const digit = 0x38 + ((json[at + 2] as number) - 0xa8);
		escaped.set([backslash, 0x75, 0x32, 0x30, 0x32, digit], written);
		written += 6;
		read = at + 3;
	}
	escaped.set(json.subarray(read), written);
	return escaped;
}

/** Index of the next E2 80 A8 or E2 80 A9, or -1. */
function findSeparator(json: Uint8Array, from: number): number {
	for (let at = json.indexOf(0xe2, from); at >= 0; at = json.indexOf(0xe2, at + 1)) {
		if (json[at + 1] === 0x80 && (json[at + 2] === 0xa8 || json[at + 2] === 0xa9)) return at;
	}
	return -1;
}
