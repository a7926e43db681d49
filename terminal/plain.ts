import { visible } from "../registry/markdown.ts";

/**
 * Foreign text in a line of the log: its control characters and line breaks spelled out, and no `##[` in it, which the
 * runner of GitHub Actions takes for a command wherever it stands. A line must start with a word of ours: one that
 * starts with `::` is a command, too.
 */
export function plain(text: string): string {
	return visible(text).replaceAll("##[", "## [");
}

/** A count with its noun: `1 layer`, `2 layers`. */
export function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
