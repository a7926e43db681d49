import { problemLine } from "../registry/judge.ts";
import { plain } from "../terminal/plain.ts";
import type { Located } from "./locate.ts";

/** How much it matters. */
export type Level = "error" | "warning";

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
