/** Longest foreign text on one line, in characters. */
const maxTextLength = 200;

/** Characters that are invisible or reverse the direction of text: control, format and separator characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes foreign text for GitHub's Markdown. Special characters become character references, which Markdown never reads
 * as markup (CommonMark, section 2.5), and GitHub makes no links of mentions inside `code`. Invisible characters are
 * replaced by U+FFFD; at most 200 characters are kept.
 */
export function code(text: string): string {
	const characters = Array.from(text.replace(invisible, "\ufffd"));
	const cut = characters.length > maxTextLength ? [...characters.slice(0, maxTextLength), "…"] : characters;
	const safe = cut.map((character) => {
		return /[A-Za-z0-9 ]/.test(character) ? character : `&#${character.codePointAt(0)};`;
	});
	return `<code>${safe.join("")}</code>`;
}

/** Spells out the invisible characters of a foreign text, line breaks included: `\u202e`. */
export function visible(text: string): string {
	return text.replace(invisible, (character) => {
		return `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`;
	});
}

/**
 * Lines as a fenced code block, in which GitHub renders no markup, mention or HTML. The fence is longer than every run
 * of backticks in the lines, so that no line can end the block (CommonMark, section 4.5).
 * @param lang language of the block, such as `diff`
 */
export function fenced(lang: string, lines: readonly string[]): string {
	const shown = lines.map(visible);
	const longest = Math.max(2, ...shown.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length)));
	const fence = "`".repeat(longest + 1);
	return [fence + lang, ...shown, fence].join("\n");
}

/**
 * The first lines, as many as fit into `maxLength` characters with their line breaks.
 * @param closing the lines that follow if some have no room; it gets their number
 */
export function linesWithin(
	lines: readonly string[],
	maxLength: number,
	closing: (hidden: number) => string[],
): string[] {
	let length = 0;
	const end = lines.findIndex((line) => {
		length += line.length + 1;
		return length > maxLength;
	});
	return end < 0 ? [...lines] : [...lines.slice(0, end), ...closing(lines.length - end)];
}
