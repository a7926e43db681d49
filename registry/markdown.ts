/** Longest foreign text that is shown on one line, in characters. */
const longestText = 200;

/** Characters that are not seen, or that turn the order of what is seen: control, format and separator characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Somebody's text as nothing but text in GitHub's Markdown: each character that could mean something is a character
 * reference, which Markdown never reads as markup (CommonMark, section 2.5), and GitHub turns no mention or
 * reference inside `code` into a link. Invisible characters are shown as a replacement; at most 200 characters.
 */
export function code(text: string): string {
	const characters = Array.from(text.replace(invisible, "\ufffd"));
	const cut = characters.length > longestText ? [...characters.slice(0, longestText), "…"] : characters;
	const safe = cut.map((character) => {
		return /[A-Za-z0-9 ]/.test(character) ? character : `&#${character.codePointAt(0)};`;
	});
	return `<code>${safe.join("")}</code>`;
}

/** Somebody's text with its invisible characters spelled out, `\u202e`: a line break becomes one, too. */
export function visible(text: string): string {
	return text.replace(invisible, (character) => {
		return `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`;
	});
}

/**
 * Lines as a block of code that none of them can end: the fence is longer than every run of backticks in them
 * (CommonMark, section 4.5). GitHub renders no markup, mention or HTML in it.
 * @param lang of the block, such as `diff`
 */
export function fenced(lang: string, lines: readonly string[]): string {
	const shown = lines.map(visible);
	const longest = Math.max(2, ...shown.flatMap((line) => (line.match(/`+/g) ?? []).map((run) => run.length)));
	const fence = "`".repeat(longest + 1);
	return [fence + lang, ...shown, fence].join("\n");
}
