import type { Shape } from "../../registry/index/shape.ts";
import { numbersIn, terms } from "../../registry/index/terms.ts";
import type { Attempts } from "./attempts.ts";
import {
	frequentPathsOf,
	rarePathsOf,
	type TermCuts,
	telling,
	tellingTerms,
	termTest,
} from "./needle-terms.ts";
import type { Pieces } from "./pieces.ts";
import type { Needle } from "./query.ts";
import type { Weight } from "./weight.ts";

/** Pieces of one word or filter up to which all of them are read. */
export const fewPieces = 2;

/** Candidates by which it is judged whether to look at frequent words first, or at names at once. */
const judgedCandidates = 40;

/** How much less the pieces of frequent words have to weigh than names: some candidates drop out by them. */
const worthChecking = 0.7;

/** Layers by number: true where a word of theirs is whole, false where it only begins so. */
export type Numbers = Map<string, boolean>;

/** Where layers are found: the pieces that may name some, and how one is read. */
export interface Source {
	paths: string[];
	read(path: string): Promise<Numbers>;
}

/** A needle with the pieces that may hold its terms. */
export interface NeedleSource extends Source {
	needle: Needle;
	/** Those of them that hold terms which are not frequent. */
	rarePaths: string[];
}

/** All numbers of some pieces. */
export async function readAll(paths: readonly string[], read: Source["read"]): Promise<Numbers> {
	const all: Numbers = new Map();
	for (const numbers of await Promise.all(paths.map(read)))
		for (const [number, isWhole] of numbers) all.set(number, isWhole || (all.get(number) ?? false));
	return all;
}

/** Which layers have the terms of needles, each piece read once. */
export class TermReader {
	readonly #pieces: Pieces;
	readonly #cuts: TermCuts;
	readonly #weight: Weight;
	readonly #attempts: Attempts;
	readonly #known = new Map<string, Promise<Numbers>>();

	private constructor(pieces: Pieces, cuts: TermCuts, weight: Weight, attempts: Attempts) {
		this.#pieces = pieces;
		this.#cuts = cuts;
		this.#weight = weight;
		this.#attempts = attempts;
	}

	/** Null where it cannot be read how the terms are cut. */
	static async open(pieces: Pieces, weight: Weight, attempts: Attempts): Promise<TermReader | null> {
		const cuts = await attempts.try(async () => {
			const [shape, splits] = await Promise.all([pieces.shape(terms), pieces.splits()]);
			return { shape, splits };
		});
		return cuts && new TermReader(pieces, cuts, weight, attempts);
	}

	source(needle: Needle): NeedleSource {
		const rarePaths = rarePathsOf(this.#cuts, needle);
		const paths = [...new Set([...frequentPathsOf(this.#cuts, needle), ...rarePaths])];
		return { needle, paths, rarePaths, read: (path) => this.#numbers(needle, path) };
	}

	/** Whether to look at the pieces of frequent words weighs less than to read the names of all candidates. */
	isWorthChecking(names: Shape, candidates: readonly string[], many: readonly NeedleSource[]): boolean {
		const judged = candidates.slice(0, judgedCandidates);
		const checks = many.flatMap(({ needle, rarePaths }) => [
			...(rarePaths.length <= fewPieces ? rarePaths : []),
			...judged.flatMap((number) =>
				tellingTerms(this.#cuts.splits, needle).map((term) => telling(this.#cuts, term, number)),
			),
		]);
		const ofNames = judged.map((number) => names.find(number));
		return this.#weight.of("terms", checks) < this.#weight.of("names", ofNames) * worthChecking;
	}

	/**
	 * Whether a layer has every frequent needle: of each frequent term the piece is looked at that has this number, and
	 * those of rarer ones where they are few. Null: only its name can tell, since a rarer word may begin so, too.
	 */
	async hasAll(number: string, many: readonly NeedleSource[]): Promise<boolean | null> {
		let sure = true;
		for (const source of many) {
			const has = await this.#has(number, source);
			if (has === false) return false;
			sure &&= has === true;
		}
		return sure || null;
	}

	async #has(number: string, { needle, rarePaths, read }: NeedleSource): Promise<boolean | null> {
		const has = await Promise.all(
			tellingTerms(this.#cuts.splits, needle).map(async (term) => {
				const path = telling(this.#cuts, term, number);
				return path !== null && (await this.#numbers({ kind: "facet", term }, path)).has(number);
			}),
		);
		if (has.includes(true)) return true;
		if (rarePaths.length > fewPieces) return null;
		return (await readAll(rarePaths, read)).has(number);
	}

	/** The layers that have a needle, by a piece's say. */
	#numbers(needle: Needle, path: string): Promise<Numbers> {
		const name = `${path} ${JSON.stringify(needle)}`;
		const known = this.#known.get(name) ?? this.#readNumbers(needle, path);
		this.#known.set(name, known);
		return known;
	}

	async #readNumbers(needle: Needle, path: string): Promise<Numbers> {
		const numbers: Numbers = new Map();
		const fits = termTest(needle);
		this.#weight.add("terms", [path]);
		for (const line of (await this.#attempts.try(() => this.#pieces.things(terms, path))) ?? []) {
			const how = fits(line.term);
			if (how === null) continue;
			for (const number of numbersIn(line)) numbers.set(number, how || (numbers.get(number) ?? false));
		}
		return numbers;
	}
}
