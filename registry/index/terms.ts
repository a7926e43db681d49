import { leadingBits, numberBits, octalsOf, packNumbers, unpackNumbers } from "./numbers.ts";
import { bitAt, digits, orderedText } from "./ordered.ts";
import { readLines, type SetKind, writeLines } from "./set.ts";
import { levelOf, run, Splits } from "./splits.ts";

/** One layer that has a term, by its number. */
export interface Posting {
	term: string;
	number: string;
	/** With how many octal figures the numbers in its piece begin. */
	level: number;
}

/** Bytes around a term in a piece. */
const termFrame = 9;

/** Roughly the bytes of one number in a piece, by level: gaps are smaller the more numbers there are. */
const numberBytes = [4, 2.5, 2, 1.5];

/** Ordered texts of the terms seen last: a term has many postings. */
let lastTerm = { term: "", ordered: orderedText("") };

function orderedTerm(term: string): string {
	if (lastTerm.term !== term) lastTerm = { term, ordered: orderedText(term) };
	return lastTerm.ordered;
}

/**
 * What the ordered texts of some postings start with: those of a term whose numbers start with some octal figures.
 * Frequent terms come first, by their level and numbers: what is frequent in a layer stands in few pieces.
 */
export function partText(term: string, octals: string): string {
	return levelText(octals) + orderedTerm(term);
}

/** No term starts with the first of the digits. */
function levelText(octals: string): string {
	if (octals === "") return "";
	const figures = Array.from(octals, (figure) => digits[Number(figure)]);
	return `${digits[0]}${digits[octals.length]}${figures.join("")}`;
}

/** What the ordered text of the last posting starts with: neighbours share it. */
let lastStart = { term: "", level: 0, figures: 0, text: partText("", "") };

/** The ordered text of a posting. */
export function postingText({ term, number, level }: Posting): string {
	const figures = level === 0 ? 0 : leadingBits(number, level * 3);
	if (lastStart.term !== term || lastStart.level !== level || lastStart.figures !== figures)
		lastStart = { term, level, figures, text: partText(term, octalsOf(number, level)) };
	return lastStart.text + number;
}

/**
 * Which layers have a term. Pieces are cut by the beginnings of terms; a term that many layers have is cut by their
 * numbers first, so that two such terms can be compared run by run, and the frequent terms of one layer are neighbours.
 */
export const terms: SetKind<Posting> = {
	folder: "index/terms",
	ending: ".json",
	maxThings: 16_000,
	maxBytes: 15_000,
	textOf: postingText,
	bytesOf: ({ level }) => numberBytes[level] ?? 1,
	headOf: ({ term, number, level }) => (level === 0 ? term : `${term} ${octalsOf(number, level)}`),
	headFrame: termFrame,
	write: (postings) => writeLines("terms", linesOf(postings).map(lineText)),
	read: (text) =>
		readLines("terms", text)?.flatMap((line) => postingsOf(line as [string, string, string?])) ?? null,
};

/** Some numbers of a term, which start with some octal figures. */
interface Line {
	term: string;
	octals: string;
	numbers: string[];
}

function linesOf(postings: readonly Posting[]): Line[] {
	const lines: Line[] = [];
	for (const { term, number, level } of postings) {
		const last = lines.at(-1);
		if (last?.term === term && last.octals.length === level && octalsOf(number, level) === last.octals)
			last.numbers.push(number);
		else lines.push({ term, octals: octalsOf(number, level), numbers: [number] });
	}
	return lines;
}

function lineText({ term, octals, numbers }: Line): string {
	const packed = packNumbers(numbers, octals);
	return JSON.stringify(octals === "" ? [term, packed] : [term, packed, octals]);
}

function postingsOf([term, packed, octals = ""]: [string, string, string?]): Posting[] {
	return unpackNumbers(packed, octals).map((number) => ({ term, number, level: octals.length }));
}

/** All postings in order, and how frequent terms are halved. @param numbers term → sorted numbers, each once */
export function allPostings(numbers: ReadonlyMap<string, string[]>): { postings: Posting[]; splits: Splits } {
	const splits = new Splits();
	const lines = new Map<string, Line>();
	for (const [term, all] of numbers) {
		for (const { bits, numbers: some } of runsOf(splits, term, "", all)) {
			const octals = octalsOf(some[0] as string, levelOf(bits));
			const text = partText(term, octals);
			const line = lines.get(text);
			if (line) line.numbers.push(...some);
			else lines.set(text, { term, octals, numbers: [...some] });
		}
	}
	const postings: Posting[] = [];
	for (const text of [...lines.keys()].sort((a, b) => (a < b ? -1 : 1))) {
		const { term, octals, numbers: some } = lines.get(text) as Line;
		for (const number of some) postings.push({ term, number, level: octals.length });
	}
	return { postings, splits };
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
