import { numberBits, octalsOf, packNumbers, unpackNumbers } from "./numbers.ts";
import { bitAt, digits, orderedText } from "./ordered.ts";
import { byteLength, readLines, type SetKind, writeLines } from "./set.ts";
import { levelOf, run, Splits } from "./splits.ts";

/** The layers that have a term and whose numbers start with some octal figures: a line of a piece. */
export interface Line {
	term: string;
	/** Empty where the term is not frequent. */
	octals: string;
	/** At least one number, as `packNumbers` writes them: most lines that are read are not asked for theirs. */
	packed: string;
}

/** A line of sorted numbers, each once, at least one. */
export function lineOf(term: string, octals: string, numbers: readonly string[]): Line {
	return { term, octals, packed: packNumbers(numbers, octals) };
}

/** The numbers of a line, sorted. */
export function numbersIn({ octals, packed }: Line): string[] {
	return unpackNumbers(packed, octals);
}

/** Bytes around a line's texts in a piece. */
const lineFrame = 9;

/**
 * The ordered text of the line of a term with the numbers that start with some octal figures.
 * Frequent terms come first, by their level and numbers: what is frequent in a layer stands in few pieces.
 */
export function lineText(term: string, octals: string): string {
	return levelText(octals) + orderedText(term);
}

/** No term starts with the first of the digits. */
function levelText(octals: string): string {
	if (octals === "") return "";
	const figures = Array.from(octals, (figure) => digits[Number(figure)]);
	return `${digits[0]}${digits[octals.length]}${figures.join("")}`;
}

/**
 * Which layers have a term. Pieces are cut by the beginnings of terms; a term that many layers have is cut by their
 * numbers first, so that two such terms can be compared run by run, and the frequent terms of one layer are neighbours.
 */
export const terms: SetKind<Line> = {
	folder: "index/terms",
	ending: ".json",
	maxThings: 4_000,
	maxBytes: 13_900,
	textOf: ({ term, octals }) => lineText(term, octals),
	bytesOf: ({ term, octals, packed }) => byteLength(term) + octals.length + packed.length + lineFrame,
	write: (lines) => writeLines("terms", lines.map(writeLine)),
	read: (text) => {
		const lines = readLines("terms", text);
		return lines?.every(isLine) ? lines.map(readLine) : null;
	},
};

/** A line as it is written: term, numbers, and the octal figures where there are any. */
type Written = [string, string, string?];

function writeLine({ term, octals, packed }: Line): string {
	return JSON.stringify(octals === "" ? [term, packed] : [term, packed, octals]);
}

function isLine(value: unknown): value is Written {
	return Array.isArray(value) && value.length > 1 && value.every((text) => typeof text === "string");
}

function readLine([term, packed, octals = ""]: Written): Line {
	return { term, octals, packed };
}

/** All lines in order, and how frequent terms are halved. @param numbers term → sorted numbers, each once */
export function allLines(numbers: ReadonlyMap<string, string[]>): { lines: Line[]; splits: Splits } {
	const splits = new Splits();
	const texts: [string, Line][] = [];
	for (const [term, all] of numbers) {
		const byOctals = new Map<string, string[]>();
		for (const { bits, numbers: some } of runsOf(splits, term, "", all)) {
			const octals = octalsOf(some[0] as string, levelOf(bits));
			byOctals.set(octals, [...(byOctals.get(octals) ?? []), ...some]);
		}
		for (const [octals, some] of byOctals) texts.push([lineText(term, octals), lineOf(term, octals, some)]);
	}
	texts.sort(([a], [b]) => (a < b ? -1 : 1));
	return { lines: texts.map(([, line]) => line), splits };
}

/** Some numbers of a term, which start with some bits. */
export interface Run {
	bits: string;
	numbers: string[];
}

/** The sorted numbers of a term that start with some bits, in runs; what is halved is noted. */
export function runsOf(splits: Splits, term: string, bits: string, numbers: string[]): Run[] {
	if (numbers.length <= run.mostLayers || bits.length === numberBits)
		return numbers.length === 0 ? [] : [{ bits, numbers }];
	splits.halve(term, bits);
	const middle = numbers.findIndex((number) => bitAt(number, bits.length) === 1);
	const at = middle < 0 ? numbers.length : middle;
	return [
		...runsOf(splits, term, `${bits}0`, numbers.slice(0, at)),
		...runsOf(splits, term, `${bits}1`, numbers.slice(at)),
	];
}
