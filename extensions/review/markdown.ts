import { visible } from "../../registry/untrusted-text.ts";

/**
 * GitHub renders no markup, mention or HTML in it. A fence longer than every run of backticks cannot be ended
 * by a line (CommonMark, section 4.5).
 */
export function fenced(lang: string, lines: readonly string[]): string {
	const shown = lines.map(visible);
	let fence = "```";
	while (shown.some((line) => line.includes(fence))) fence += "`";
	return [fence + lang, ...shown, fence].join("\n");
}

/** In characters with line breaks. `closing` gets the number of the other lines. */
export function linesWithin(
	lines: readonly string[],
	maxLength: number,
	closing: (hidden: number) => string[],
): string[] {
	let length = 0;
	const shown = lines.filter((line) => {
		length += line.length + 1;
		return length <= maxLength;
	});
	const hidden = lines.length - shown.length;
	return hidden > 0 ? [...shown, ...closing(hidden)] : shown;
}
