import { octalsOf } from "../../registry/index/numbers.ts";
import { orderedPrefix, orderedText } from "../../registry/index/ordered.ts";
import type { Shape } from "../../registry/index/shape.ts";
import type { Splits } from "../../registry/index/splits.ts";
import { lineText } from "../../registry/index/terms.ts";
import type { Needle } from "./query.ts";

/** How the terms are cut. */
export interface TermCuts {
	shape: Shape;
	splits: Splits;
}

/** The pieces that hold the frequent terms that a needle stands for. */
export function frequentPathsOf({ shape, splits }: TermCuts, needle: Needle): string[] {
	return frequentTerms(splits, needle).flatMap((term) =>
		splits.partsOf(term).flatMap((part) => shape.under(lineText(term, part))),
	);
}

/** The pieces that may hold other terms that a needle stands for. */
export function rarePathsOf({ shape, splits }: TermCuts, needle: Needle): string[] {
	return [...new Set(beginningsOf(needle, splits).flatMap((text) => shape.under(text)))];
}

/** The beginnings of texts of the terms that are not frequent. */
function beginningsOf(needle: Needle, splits: Splits): string[] {
	if (needle.kind === "word") return [orderedPrefix(needle.word)];
	const texts = exactTerms(needle)
		.filter((term) => splits.partsOf(term).includes(""))
		.map((term) => orderedText(term));
	return needle.kind === "place" ? [orderedPrefix(`=place:${needle.cell}`), ...texts] : texts;
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

/** The frequent terms that a needle stands for, the one that it names first. */
function frequentTerms(splits: Splits, needle: Needle): string[] {
	const fits = termTest(needle);
	const found = splits.terms.filter((term) => fits(term) !== null);
	return found.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** The terms by which it can be told of one layer whether it has what a needle asks for, with few pieces. */
export function tellingTerms(splits: Splits, needle: Needle): string[] {
	return [...new Set([...frequentTerms(splits, needle), ...exactTerms(needle)])];
}

/** The piece that says whether a layer has a term; null where it does not. */
export function telling({ shape, splits }: TermCuts, term: string, number: string): string | null {
	return shape.find(lineText(term, octalsOf(number, splits.levelOf(term, number))));
}

/** Whether a term is what a needle asks for: true, only begins so (false), or not at all (null). */
export function termTest(needle: Needle): (term: string) => boolean | null {
	if (needle.kind === "facet") return (term) => (term === needle.term ? true : null);
	if (needle.kind === "place") {
		const above = new Set(exactTerms(needle));
		const inside = `=place:${needle.cell}`;
		return (term) => (above.has(term) || term.startsWith(inside) ? true : null);
	}
	const { word } = needle;
	return (term) => (term === word ? true : term.startsWith(word) ? false : null);
}
