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

/**
 * Makes untrusted text safe for a line of the log: control characters and line breaks are escaped, and `##[`, which GitHub
 * Actions interprets as a command anywhere in a line, becomes `## [`. The caller starts the line with a word of its own,
 * since `::` at the start of a line is a command too.
 */
export function plain(text: string): string {
	return visible(text).replaceAll("##[", "## [");
}

/** A count with its noun: `1 layer`, `2 layers`. */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The first names of a list, and how many more there are: `a b and 2 more`. */
export function firstOf(names: readonly string[], maxNames: number, separator = " "): string {
	const hidden = names.length - maxNames;
	return `${names.slice(0, maxNames).join(separator)}${hidden > 0 ? ` and ${hidden} more` : ""}`;
}

/** `<` at the start of an HTML tag, end tag, comment or declaration. */
const tagStart = /<(?=[A-Za-z/!])/g;

/**
 * Escapes HTML markup in a name, since viewers insert names into their page unescaped. A `<` that starts a tag becomes
 * `‹`; any other `<` stays, as in the label `< 10`.
 */
export function escapeMarkup(text: string): string {
	return text.includes("<") ? text.replace(tagStart, "\u2039") : text;
}

/** Most characters of a text with markup that are read. */
const maxMarkupLength = 16_000;

/** Any tag, comment or declaration of HTML. */
const tags = /<[a-z/!][^<>]*>/gi;

/** Character references of HTML: by name, or by a decimal or hexadecimal number. */
const references = /&(?:([a-z]{2,8})|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi;

/** Name of a character reference that services in English and French use → its character. */
const named: ReadonlyMap<string, string> = new Map(
	Object.entries({
		...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", rsquo: "’", lsquo: "‘" },
		...{ agrave: "à", acirc: "â", ccedil: "ç", egrave: "è", eacute: "é", ecirc: "ê", euml: "ë" },
		...{ icirc: "î", iuml: "ï", ocirc: "ô", oelig: "œ", ugrave: "ù", ucirc: "û", uuml: "ü" },
		...{ Agrave: "À", Ccedil: "Ç", Egrave: "È", Eacute: "É", Ecirc: "Ê", Icirc: "Î", Ocirc: "Ô" },
		...{ laquo: "«", raquo: "»", ldquo: "“", rdquo: "”", ndash: "–", mdash: "—", hellip: "…", copy: "©" },
	}),
);

/**
 * Converts a foreign text, with or without HTML in it, to one line of plain text: no markup, no control or format
 * characters, at most `maxLength` characters.
 */
export function plainText(text: string, maxLength: number): string {
	const known = text.slice(0, maxMarkupLength).replace(tags, " ").replace(references, characterOf);
	const line = escapeMarkup(known.replace(tags, " "))
		.replace(/[\p{C}\p{Z}]+/gu, " ")
		.trim();
	return line.length > maxLength ? `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

function characterOf(reference: string, name?: string, decimal?: string, hexadecimal?: string): string {
	if (name !== undefined) return named.get(name) ?? reference;
	const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
	return code > 0x10ffff ? reference : String.fromCodePoint(code);
}
