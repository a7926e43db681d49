/** `<` where HTML takes it for the start of a tag, an end tag, a comment or a declaration. */
const tagStart = /<(?=[A-Za-z/!])/g;

/**
 * A text as it may be shown: viewers put names into their page unescaped, so what HTML would take for a tag starts
 * with `‹` instead. Everything else stays, such as the label `< 10`.
 */
export function harmless(text: string): string {
	return text.includes("<") ? text.replace(tagStart, "\u2039") : text;
}

/** Whether a viewer would take a part of the text for a tag. */
export function isHarmful(text: string): boolean {
	return harmless(text) !== text;
}
