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
