/** `<` at the start of an HTML tag, end tag, comment or declaration. */
const tagStart = /<(?=[A-Za-z/!])/g;

/**
 * Escapes HTML markup in a name, since viewers insert names into their page unescaped: a `<` that starts a tag becomes
 * `‹`. Any other stays, as in the label `< 10`.
 */
export function escapeMarkup(text: string): string {
	return text.includes("<") ? text.replace(tagStart, "\u2039") : text;
}
