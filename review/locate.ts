import { lineAt } from "../registry/json.ts";
import type { Remark } from "../registry/judge-names.ts";

/** A problem at its place in a file. */
export interface Located {
	/** Path in the repository. */
	file: string;
	/** From 1. */
	line: number;
	/** JSON pointer; `""` for the whole file. */
	pointer: string;
	/** What is wrong, without the place. */
	text: string;
}

/** Lines of a file that is not read for them. */
const noLines: ReadonlyMap<string, number> = new Map();

/**
 * Finds the place that a problem is about.
 * @param lines of the file's members, as `linesOf` finds them; none where the problem is not about its content
 */
export function locate({ file, text }: Remark, lines = noLines): Located {
	if (!text.startsWith("/")) return { file, line: lineOfSyntax(text), pointer: "", text };
	const pointer = pointerIn(text, lines);
	return { file, line: lineAt(lines, pointer), pointer, text: text.slice(pointer.length + 2) };
}

/** The pointer that a problem starts with. A member's name may itself hold `: `, so the longest pointer that exists is used. */
function pointerIn(text: string, lines: ReadonlyMap<string, number>): string {
	const pointers = Array.from(text.matchAll(/: /g), ({ index }) => text.slice(0, index));
	return pointers.findLast((pointer) => lines.has(pointer)) ?? pointers[0] ?? "";
}

/** The line that a syntax error names. */
function lineOfSyntax(text: string): number {
	const line = /^the document must be JSON: line (\d+),/.exec(text)?.[1];
	return line === undefined ? 1 : Number(line);
}

/** A problem without its file: `/en/layer: is missing`. */
export function where({ pointer, text }: Located): string {
	return pointer === "" ? text : `${pointer}: ${text}`;
}
