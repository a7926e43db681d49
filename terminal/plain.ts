import { visible } from "../registry/markdown.ts";

/**
 * Foreign text for a line of the log: control characters and line breaks are spelled out, and `##[`, which is a command
 * of the runner of GitHub Actions anywhere in a line, is broken up. A line must start with a word of ours, since `::` at
 * its start is a command, too.
 */
export function plain(text: string): string {
	return visible(text).replaceAll("##[", "## [");
}

/** A count with its noun: `1 layer`, `2 layers`. */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The first names of a list, and how many more there are: `a b and 2 more`. */
export function firstOf(names: readonly string[], most: number, separator = " "): string {
	const hidden = names.length - most;
	return `${names.slice(0, most).join(separator)}${hidden > 0 ? ` and ${hidden} more` : ""}`;
}
