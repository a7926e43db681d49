import { visible } from "./untrusted-text.ts";

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
