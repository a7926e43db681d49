import { orderedPrefix, orderedText, readOrdered, textOfBits } from "../../registry/index/ordered.ts";
import type { Shape } from "../../registry/index/shape.ts";
import type { Needle } from "./query.ts";

/** The pieces that may hold what a needle asks for. */
export function pathsOf(shape: Shape, needle: Needle): string[] {
	if (needle.kind === "word") return shape.under(orderedPrefix(needle.word));
	if (needle.kind === "facet") return shape.under(orderedText(needle.term));
	const paths = exactTerms(needle).flatMap((term) => shape.under(orderedText(term)));
	return [...new Set([...shape.under(orderedPrefix(`=place:${needle.cell}`)), ...paths])];
}

/** The terms that a needle stands for, as far as they are known without reading. */
function exactTerms(needle: Needle): string[] {
	if (needle.kind === "word") return [needle.word];
	if (needle.kind === "facet") return [needle.term];
	// What holds the view: each cell above it, and itself.
	return Array.from(
		{ length: needle.cell.length + 1 },
		(_, length) => `=place:${needle.cell.slice(0, length)}`,
	);
}

/** The terms of a frequent needle that have pieces of their own: their names show in the pieces' paths. */
export function frequentTerms(needle: Needle, paths: readonly string[]): string[] {
	if (needle.kind !== "word") return exactTerms(needle);
	const words = paths
		.map((path) => wholeWord(textOfBits(path)))
		.filter((word) => word?.startsWith(needle.word));
	return [...new Set([needle.word, ...(words as string[])])];
}

/** The word that an ordered text holds as a whole, with its end; null where it ends in the middle of one. */
function wholeWord(ordered: string): string | null {
	const word = readOrdered(ordered);
	return ordered.startsWith(orderedText(word)) ? word : null;
}

/** Whether a term is what a needle asks for: true, only begins so (false), or not at all (null). */
export function termTest(needle: Needle, isBeginning: boolean): (term: string) => boolean | null {
	if (needle.kind === "place") {
		const above = new Set(exactTerms(needle));
		const inside = `=place:${needle.cell}`;
		return (term) => (above.has(term) || term.startsWith(inside) ? true : null);
	}
	const wanted = needle.kind === "word" ? needle.word : needle.term;
	const canBegin = needle.kind === "word" || isBeginning;
	return (term) => (term === wanted ? true : canBegin && term.startsWith(wanted) ? false : null);
}
