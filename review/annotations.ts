import { problemLine } from "../registry/judge.ts";
import { plain } from "../terminal/plain.ts";
import type { Located } from "./locate.ts";

/** How much it matters. */
export type Level = "error" | "warning";

/** Annotations of one level that are printed; GitHub shows ten of a step. */
const mostPrinted = 50;

/**
 * Lines for a log of GitHub Actions that put problems at their file and line. The values are escaped as the runner
 * reads them back (actions/toolkit, packages/core/src/command.ts).
 */
export function annotations(level: Level, title: string, problems: readonly Located[]): string[] {
	const lines = problems.slice(0, mostPrinted).map((problem) => {
		const place = `file=${property(problem.file)},line=${problem.line},title=${property(title)}`;
		return `::${level} ${place}::${message(plain(where(problem)))}`;
	});
	const hidden = problems.length - lines.length;
	return hidden > 0 ? [...lines, `::${level} title=${property(title)}::And ${hidden} more.`] : lines;
}

function message(text: string): string {
	return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
	return message(plain(text)).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** A problem without its file: `/en/layer: is missing`. */
export function where({ pointer, text }: Located): string {
	return pointer === "" ? text : `${pointer}: ${text}`;
}

/**
 * A problem as a line for a person. It starts with a word of ours and holds no line break and no `##[`: the runner
 * takes a line that starts with `::`, or holds `##[`, for a command.
 */
export function plainLine(level: Level, problem: Located): string {
	const file = `${problem.file}:${problem.line}`;
	return plain(`${level} ${problemLine({ file, text: where(problem) })}`);
}
