const maxTextLength = 200;

/** Invisible, or reverse the direction of text. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * For GitHub's Markdown: character references are never markup (CommonMark, section 2.5), and GitHub links no
 * mentions inside `code`.
 */
export function code(text: string): string {
	const characters = [...text.replace(invisible, "\ufffd")];
	const cut = characters.slice(0, maxTextLength).join("") + (characters.length > maxTextLength ? "…" : "");
	const safe = cut.replace(/[^A-Za-z0-9 ]/gu, (character) => `&#${character.codePointAt(0)};`);
	return `<code>${safe}</code>`;
}

/** Escapes invisible characters and line breaks: `\u202e`. */
export function visible(text: string): string {
	return text.replace(invisible, (character) => {
		return `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`;
	});
}

/**
 * GitHub Actions interprets `##[` in a line. The caller starts the line with a word: `::` at the start is a
 * command, too.
 */
export function plain(text: string): string {
	return visible(text).replaceAll("##[", "## [");
}

/** Never ends within a surrogate pair. */
export function shorten(text: string, maxLength: number): string {
	if (text.length <= maxLength) return text;
	return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function firstOf(names: readonly string[], maxNames: number, separator = " "): string {
	const hidden = names.length - maxNames;
	return `${names.slice(0, maxNames).join(separator)}${hidden > 0 ? ` and ${hidden} more` : ""}`;
}

const tagStart = /<(?=[A-Za-z/!])/g;

/** Viewers insert names unescaped: a `<` that starts a tag becomes `‹`. */
export function escapeMarkup(text: string): string {
	return text.includes("<") ? text.replace(tagStart, "\u2039") : text;
}

const maxMarkupLength = 16_000;

const tags = /<[a-z/!][^<>]*>/gi;

const references = /&(?:([a-z]{2,8})|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi;

/** HTML's names, each with its character. */
const namedCharacters =
	"amp& lt< gt> quot\" apos' nbsp  rsquo’ lsquo‘ laquo« raquo» ldquo“ rdquo” ndash– mdash— hellip… copy© agraveà " +
	"acircâ ccedilç egraveè eacuteé ecircê eumlë icircî iumlï ocircô oeligœ ugraveù ucircû uumlü " +
	"AgraveÀ CcedilÇ EgraveÈ EacuteÉ EcircÊ IcircÎ OcircÔ";

const characters = new Map(
	Array.from(namedCharacters.matchAll(/([A-Za-z]+)(.)/g), ([, name, text]) => [name, text]),
);

/** One line without markup and invisible characters. */
export function plainText(text: string, maxLength: number): string {
	const decoded = text.slice(0, maxMarkupLength).replace(tags, " ").replace(references, characterOf);
	const line = escapeMarkup(decoded.replace(tags, " ")).replace(/[\p{C}\p{Z}]+/gu, " ");
	return shorten(line.trim(), maxLength);
}

function characterOf(reference: string, name?: string, decimal?: string, hexadecimal?: string): string {
	if (name !== undefined) return characters.get(name) ?? reference;
	const code = decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal);
	return code > 0x10ffff ? reference : String.fromCodePoint(code);
}

export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function tryJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

/** `Map.groupBy` is missing in Node 20. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
	const groups = new Map<Key, Item[]>();
	for (const item of items) {
		const key = keyOf(item);
		const group = groups.get(key);
		if (group) group.push(item);
		else groups.set(key, [item]);
	}
	return groups;
}
