/** Longest line of a log in UTF-16 units, and of one text in it. */
const maxLineLength = 4_000;
const maxTextLength = 1_000;

/**
 * Characters that JSON does not escape and that mislead in a terminal or a log viewer: DEL and C1 controls, line
 * separators, and characters that reverse the direction of text or have no width.
 */
const misleading = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A line of JSON for a log, without its line break: at most 4,000 visible characters; long texts are cut. */
export function logText(fields: object): string {
	for (let length = maxTextLength; ; length = Math.floor(length / 2)) {
		const line = JSON.stringify(fields, (_name, value) => cutText(value, length)).replace(
			misleading,
			(character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
		);
		if (line.length <= maxLineLength || length === 0) return line;
	}
}

function cutText(value: unknown, length: number): unknown {
	if (typeof value !== "string" || value.length <= length) return value;
	return `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
}
