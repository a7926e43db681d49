import type { Problem } from "../../registry/catalogue.ts";
import { lineOf, places } from "../../registry/json.ts";

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

/**
 * Finds the place that a problem is about.
 * @param content the file's text; `""` where the problem is not about its content
 */
export function locate({ file, text }: Problem, content: string): Located {
	if (!text.startsWith("/")) return { file, line: lineOfSyntax(text, content), pointer: "", text };
	const pointer = pointerOf(text, content);
	const line = isJson(content) ? lineOf(content, pointer) : 1;
	return { file, line, pointer, text: text.slice(pointer.length + 2) };
}

/** The pointer that a problem starts with. A member's name may itself hold `: `, so the longest that is there counts. */
function pointerOf(text: string, content: string): string {
	const ends = Array.from(text.matchAll(/: /g), (match) => match.index);
	const known = new Set(isJson(content) ? Array.from(places(content), ({ pointer }) => pointer) : []);
	const pointers = ends.map((end) => text.slice(0, end));
	return pointers.findLast((pointer) => known.has(pointer)) ?? pointers[0] ?? "";
}

function isJson(content: string): boolean {
	try {
		JSON.parse(content);
		return true;
	} catch {
		return false;
	}
}

/** The line of a syntax error: V8 says `at position 12` in some of its errors. */
function lineOfSyntax(text: string, content: string): number {
	const position = / at position (\d+)/.exec(text)?.[1];
	return position === undefined ? 1 : content.slice(0, Number(position)).split("\n").length;
}
