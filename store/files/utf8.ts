/** The encodings that a byte order mark shows, apart from UTF-8 (Encoding Standard, section 6). */
const marks = new Map([
	["fffe", "utf-16le"],
	["feff", "utf-16be"],
]);

/** A file's bytes in UTF-8: Windows PowerShell writes UTF-16, with a byte order mark, where it redirects an output. */
export function utf8Of(bytes: Buffer): Buffer {
	const encoding = marks.get(bytes.toString("hex", 0, 2));
	return encoding === undefined ? bytes : Buffer.from(new TextDecoder(encoding).decode(bytes));
}
