/** In characters. */
const maxLineLength = 4_000;
const maxTextLength = 1_000;

/**
 * JSON does not escape these: controls, line separators, and what has no width or reverses the direction of
 * text.
 */
const deceptiveCharacters = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line of JSON. While it is too long, its texts are halved, down to one character each. */
export function logText(fields: object): string {
	for (let length = maxTextLength; ; length = Math.floor(length / 2)) {
		const line = JSON.stringify(fields, cutTo(length)).replace(deceptiveCharacters, escapeCharacter);
		if (line.length <= maxLineLength || length === 1) return line;
	}
}

function cutTo(length: number) {
	return (_name: string, value: unknown) => {
		if (typeof value !== "string" || value.length <= length) return value;
		return `${value.slice(0, length).toWellFormed()}… (${value.length} characters)`;
	};
}

function escapeCharacter(character: string): string {
	return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
