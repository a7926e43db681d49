import { type Name, numberOf } from "../../registry/index/entry.ts";
import { keys, names } from "../../registry/index/kinds.ts";
import { orderedPrefix } from "../../registry/index/ordered.ts";
import type { Shape } from "../../registry/index/shape.ts";
import { terms } from "../../registry/index/terms.ts";
import { crowdedFirst } from "./crowded.ts";
import {
	frequentPathsOf,
	rarePathsOf,
	type TermCuts,
	telling,
	tellingTerms,
	termTest,
} from "./needle-terms.ts";
import { type IndexProblem, IndexUnusable, type Pieces } from "./pieces.ts";
import { keyOf, type Needle, needlesOf, type Query, rank } from "./query.ts";
import { Weight } from "./weight.ts";

/** What was found. */
export interface Found {
	/** Best first. */
	hits: Name[];
	/** Whether these are all; otherwise there may be more. */
	isComplete: boolean;
	/** Parts of the index that were not there. */
	problems: IndexProblem[];
}

/** Pieces of one word or filter up to which all of them are read. */
const fewPieces = 2;

/** Candidates by which it is judged whether to look at frequent words first, or at names at once. */
const judgedCandidates = 40;

/** How much less the pieces of frequent words have to weigh than names: some candidates drop out by them. */
const worthChecking = 0.7;

/** Names that are read at once. */
const mostAtOnce = 10;

/** Names that are looked at for each hit that is asked for, where the terms alone do not tell. */
const triesForHit = 3;

/** Finds layers. @param want how many hits are asked for; what was read for fewer is not read again */
export async function search(pieces: Pieces, query: Query, want: number): Promise<Found> {
	const run = new Search(pieces, query, want);
	await run.run();
	return run.found();
}

/** Layers by number: true where a word of theirs is whole, false where it only begins so. */
type Numbers = Map<string, boolean>;

/** Where layers are found: the pieces that may name some, and how one is read. */
interface Source {
	paths: string[];
	read(path: string): Promise<Numbers>;
}

/** A needle with the pieces that may hold its terms. */
interface NeedleSource extends Source {
	needle: Needle;
	/** Those of them that hold terms which are not frequent. */
	rarePaths: string[];
}

class Search {
	readonly #pieces: Pieces;
	readonly #query: Query;
	readonly #want: number;
	readonly #problems = new Map<string, IndexProblem>();
	readonly #hits = new Map<string, { name: Name; rank: number }>();
	readonly #weight = new Weight();
	#isComplete = true;

	constructor(pieces: Pieces, query: Query, want: number) {
		this.#pieces = pieces;
		this.#query = query;
		this.#want = want;
	}

	found(): Found {
		const sorted = [...this.#hits.values()].sort(
			(a, b) =>
				a.rank - b.rank ||
				a.name.title.en.localeCompare(b.name.title.en) ||
				(a.name.smallkey < b.name.smallkey ? -1 : 1),
		);
		const hits = sorted.slice(0, this.#want).map(({ name }) => name);
		const isComplete = this.#isComplete && sorted.length <= this.#want && this.#problems.size === 0;
		return { hits, isComplete, problems: [...this.#problems.values()] };
	}

	async run(): Promise<void> {
		const needles = needlesOf(this.#query);
		const key = keyOf(this.#query);
		if (key !== null) await this.#try(() => this.#takeNames(new Set([numberOf(key)]), 1));
		if (needles.length === 0 && this.#query.text.trim() === "") return this.#browse();
		const cuts = await this.#try(() => this.#termCuts());
		if (!cuts) return;
		if (needles.length > 0) await this.#takeNeedles(cuts, needles);
		if (key !== null && this.#hits.size < this.#want) await this.#takeKeys(cuts, key, needles);
	}

	async #termCuts(): Promise<TermCuts> {
		const [shape, splits] = await Promise.all([this.#pieces.shape(terms), this.#pieces.splits()]);
		return { shape, splits };
	}

	/** Whether there is something to show, and more would weigh too much: it is read when more is asked for. */
	get #isHeavy(): boolean {
		return this.#hits.size > 0 && this.#weight.isOverFor(this.#want);
	}

	/** Nothing is asked for: what comes first. */
	async #browse(): Promise<void> {
		const shape = await this.#try(() => this.#pieces.shape(names));
		for (const path of shape?.paths ?? []) {
			if (this.#hits.size >= this.#want) {
				this.#isComplete = false;
				return;
			}
			const things = await this.#try(() => this.#pieces.things(names, path));
			for (const name of things ?? []) this.#hits.set(name.smallkey, { name, rank: 0 });
		}
	}

	#sources(cuts: TermCuts, needles: Needle[]): NeedleSource[] {
		return needles.map((needle) => {
			const rarePaths = rarePathsOf(cuts, needle);
			const paths = [...new Set([...frequentPathsOf(cuts, needle), ...rarePaths])];
			return { needle, paths, rarePaths, read: (path) => this.#numbers(needle, path) };
		});
	}

	async #takeNeedles(cuts: TermCuts, needles: Needle[]): Promise<void> {
		const sources = this.#sources(cuts, needles).sort((a, b) => a.paths.length - b.paths.length);
		const [first, ...others] = sources as [NeedleSource, ...NeedleSource[]];
		await this.#takeFrom(cuts, first, others);
	}

	/** Layers whose smallkey starts with a text. */
	async #takeKeys(cuts: TermCuts, key: string, needles: Needle[]): Promise<void> {
		const shape = await this.#try(() => this.#pieces.shape(keys));
		if (!shape) return;
		const start = key.toLowerCase();
		const read = async (path: string) => {
			this.#weight.add("keys", [path]);
			const known = (await this.#try(() => this.#pieces.things(keys, path))) ?? [];
			return new Map(known.filter((one) => one.startsWith(start)).map((one) => [numberOf(one), true]));
		};
		const filters = needles.filter(({ kind }) => kind !== "word");
		await this.#takeFrom(
			cuts,
			{ paths: shape.under(orderedPrefix(start)), read },
			this.#sources(cuts, filters),
		);
	}

	/** Goes through the pieces of what is rarest until there are enough hits. */
	async #takeFrom(cuts: TermCuts, first: Source, others: NeedleSource[]): Promise<void> {
		const few = others.filter(({ paths }) => paths.length <= fewPieces);
		const many = others.filter(({ paths }) => paths.length > fewPieces);
		const sets = await Promise.all(few.map(({ paths, read }) => this.#allNumbers(paths, read)));
		for (const path of first.paths) {
			if (this.#hits.size >= this.#want || this.#isHeavy) {
				this.#isComplete = false;
				return;
			}
			const numbers = await first.read(path);
			const inAll = [...numbers].filter(([number]) => sets.every((set) => set.has(number)));
			await this.#takeCandidates(cuts, new Map(inAll), sets, many);
		}
	}

	async #allNumbers(paths: readonly string[], read: Source["read"]): Promise<Numbers> {
		const all: Numbers = new Map();
		for (const numbers of await Promise.all(paths.map(read)))
			for (const [number, isWhole] of numbers) all.set(number, isWhole || (all.get(number) ?? false));
		return all;
	}

	/** Layers that have the first needle and all rare ones: those that have the frequent ones, too. */
	async #takeCandidates(
		cuts: TermCuts,
		candidates: Numbers,
		sets: Numbers[],
		many: NeedleSource[],
	): Promise<void> {
		const whole: string[] = [];
		const begun: string[] = [];
		for (const [number, isWhole] of candidates) {
			const isExact = isWhole && sets.every((set) => set.get(number));
			(isExact ? whole : begun).push(number);
		}
		const all = [...whole, ...begun];
		if (many.length === 0 || !(await this.#isWorthChecking(cuts, all, many)))
			return this.#takeNames(new Set(all), this.#want - this.#hits.size);
		const sure: string[] = [];
		const unsure: string[] = [];
		for (const number of all) {
			const isEnough = sure.length >= this.#want - this.#hits.size;
			if (isEnough || (sure.length > 0 && this.#weight.isOverForChecks(this.#want))) {
				this.#isComplete = false;
				break;
			}
			const has = await this.#hasAll(cuts, number, many);
			if (has !== false) (has ? sure : unsure).push(number);
		}
		const room = () => this.#want - this.#hits.size;
		await this.#takeNames(new Set(crowdedFirst(whole, sure, this.#namesShape)), room());
		if (room() > 0) await this.#takeNames(new Set(crowdedFirst(begun, sure, this.#namesShape)), room());
		if (room() > 0) await this.#takeNames(new Set(unsure), room());
	}

	#namesShape: Shape | null = null;

	/** Whether to look at the pieces of frequent words weighs less than to read the names of all candidates. */
	async #isWorthChecking(
		cuts: TermCuts,
		candidates: readonly string[],
		many: NeedleSource[],
	): Promise<boolean> {
		const shape = await this.#pieces.shape(names);
		this.#namesShape = shape;
		const judged = candidates.slice(0, judgedCandidates);
		const checks = many.flatMap(({ needle, rarePaths }) => [
			...(rarePaths.length <= fewPieces ? rarePaths : []),
			...judged.flatMap((number) =>
				tellingTerms(cuts.splits, needle).map((term) => telling(cuts, term, number)),
			),
		]);
		const ofNames = judged.map((number) => shape.find(number));
		return this.#weight.of("terms", checks) < this.#weight.of("names", ofNames) * worthChecking;
	}

	/**
	 * Whether a layer has every frequent needle: of each frequent term the piece is looked at that has this number, and
	 * those of rarer ones where they are few. Null: only its name can tell, since a rarer word may begin so, too.
	 */
	async #hasAll(cuts: TermCuts, number: string, many: NeedleSource[]): Promise<boolean | null> {
		let sure = true;
		for (const source of many) {
			const has = await this.#has(cuts, number, source);
			if (has === false) return false;
			sure &&= has === true;
		}
		return sure || null;
	}

	async #has(
		cuts: TermCuts,
		number: string,
		{ needle, rarePaths, read }: NeedleSource,
	): Promise<boolean | null> {
		const has = await Promise.all(
			tellingTerms(cuts.splits, needle).map(async (term) => {
				const path = telling(cuts, term, number);
				return path !== null && (await this.#numbers({ kind: "facet", term }, path)).has(number);
			}),
		);
		if (has.includes(true)) return true;
		if (rarePaths.length > fewPieces) return null;
		return (await this.#allNumbers(rarePaths, read)).has(number);
	}

	readonly #known = new Map<string, Promise<Numbers>>();

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
		for (const { term, number } of (await this.#try(() => this.#pieces.things(terms, path))) ?? []) {
			const how = fits(term);
			if (how !== null) numbers.set(number, how || (numbers.get(number) ?? false));
		}
		return numbers;
	}

	/** Reads the names of some numbers, a few pieces at a time, until there are `room` more hits. */
	async #takeNames(numbers: ReadonlySet<string>, room: number): Promise<void> {
		if (numbers.size === 0 || room <= 0) return;
		const shape = await this.#pieces.shape(names);
		this.#namesShape = shape;
		const enough = this.#hits.size + room;
		let tries = room * triesForHit + 10;
		const list = [...numbers];
		for (let at = 0; at < list.length; ) {
			if (this.#hits.size >= enough || tries <= 0 || this.#isHeavy) {
				this.#isComplete = false;
				return;
			}
			const most = Math.min(mostAtOnce, enough - this.#hits.size, this.#weight.namesLeft(this.#want));
			const some = list.slice(at, at + Math.max(1, most));
			at += some.length;
			tries -= some.length;
			const paths = [...new Set(some.map((number) => shape.find(number) ?? shape.under(number)[0]))];
			this.#weight.add("names", paths);
			const read = await Promise.all(
				paths.map((path) => (path === undefined ? [] : this.#try(() => this.#pieces.things(names, path)))),
			);
			for (const name of read.flatMap((things) => things ?? [])) {
				if (numbers.has(numberOf(name.smallkey))) this.#takeName(name);
			}
		}
	}

	#takeName(name: Name): void {
		const found = rank(this.#query, name);
		if (found !== null) this.#hits.set(name.smallkey, { name, rank: found });
	}

	async #try<T>(read: () => Promise<T>): Promise<T | null> {
		try {
			return await read();
		} catch (error) {
			if (!(error instanceof IndexUnusable)) throw error;
			this.#problems.set(JSON.stringify(error.problem), error.problem);
			return null;
		}
	}
}
