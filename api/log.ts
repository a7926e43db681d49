/** Longest line of a log in UTF-16 units, and of one text in it. */
const maxLineLength = 4_000;
const maxTextLength = 1_000;

/**
 * Characters that a terminal or a viewer of logs takes for something else than text, beside those that JSON escapes:
 * DEL and C1 controls, line separators, and what turns the direction of text or has no width.
 */
const misleading = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line of JSON for a log, without its end: at most 4,000 characters, all of them visible; long texts are cut. */
export function logText(fields: object): string {
	for (let length = maxTextLength; ; length = Math.floor(length / 2)) {
		const line = JSON.stringify(fields, (_name, value) => cutText(value, length)).replace(
			misleading,
			escapeCharacter,
		);
		if (line.length <= maxLineLength || length === 0) return line;
	}
}

function cutText(value: unknown, length: number): unknown {
	if (typeof value !== "string" || value.length <= length) return value;
	return `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
}

function escapeCharacter(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
