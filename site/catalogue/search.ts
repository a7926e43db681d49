import { type Name, numberOf } from "../../registry/index/entry.ts";
import { names, terms } from "../../registry/index/kinds.ts";
import { orderedPrefix, orderedText } from "../../registry/index/ordered.ts";
import type { Shape } from "../../registry/index/shape.ts";
import { crowdedFirst } from "./crowded.ts";
import { frequentTerms, pathsOf, termTest } from "./needle-terms.ts";
import { type IndexProblem, IndexUnusable, type Pieces } from "./pieces.ts";
import { keyOf, keyTerm, type Needle, needlesOf, type Query, rank } from "./query.ts";
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

/** Candidates up to which their names are read at once, and no piece of a frequent word before. */
const fewCandidates = 12;

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

/** A needle with the pieces that may hold its terms. */
interface Source {
	needle: Needle;
	paths: string[];
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
		const shape = await this.#try(() => this.#pieces.shape(terms));
		if (!shape) return;
		if (needles.length > 0) await this.#takeNeedles(shape, needles);
		if (key !== null && this.#hits.size < this.#want) {
			const paths = shape.under(orderedPrefix(keyTerm(key)));
			const filters = needles.filter(({ kind }) => kind !== "word");
			const source: Source = { needle: { kind: "facet", term: keyTerm(key) }, paths };
			await this.#takeFrom(shape, source, this.#sources(shape, filters), true);
		}
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

	#sources(shape: Shape, needles: Needle[]): Source[] {
		return needles.map((needle) => ({ needle, paths: pathsOf(shape, needle) }));
	}

	async #takeNeedles(shape: Shape, needles: Needle[]): Promise<void> {
		const sources = this.#sources(shape, needles).sort((a, b) => a.paths.length - b.paths.length);
		const [first, ...others] = sources as [Source, ...Source[]];
		await this.#takeFrom(shape, first, others, false);
	}

	/** Goes through the rarest needle's pieces until there are enough hits. */
	async #takeFrom(shape: Shape, first: Source, others: Source[], isKey: boolean): Promise<void> {
		const few = others.filter(({ paths }) => paths.length <= fewPieces);
		const many = others.filter(({ paths }) => paths.length > fewPieces);
		const sets = await Promise.all(few.map((source) => this.#numbers(source.needle, source.paths)));
		for (const path of first.paths) {
			if (this.#hits.size >= this.#want || this.#isHeavy) {
				this.#isComplete = false;
				return;
			}
			const numbers = await this.#numbers(first.needle, [path], isKey);
			const inAll = [...numbers].filter(([number]) => sets.every((set) => set.has(number)));
			await this.#takeCandidates(shape, new Map(inAll), sets, many);
		}
	}

	/** Layers that have the first needle and all rare ones: those that have the frequent ones, too. */
	async #takeCandidates(
		shape: Shape,
		candidates: Map<string, boolean>,
		sets: Map<string, boolean>[],
		many: Source[],
	): Promise<void> {
		const whole: string[] = [];
		const begun: string[] = [];
		for (const [number, isWhole] of candidates) {
			const isExact = isWhole && sets.every((set) => set.get(number));
			(isExact ? whole : begun).push(number);
		}
		if (candidates.size <= fewCandidates) return this.#takeNames(new Set([...whole, ...begun]), this.#want);
		const sure: string[] = [];
		const unsure: string[] = [];
		for (const number of [...whole, ...begun]) {
			const isEnough = sure.length >= this.#want - this.#hits.size;
			if (many.length > 0 && (isEnough || (sure.length > 0 && this.#weight.isOverForChecks(this.#want)))) {
				this.#isComplete = false;
				break;
			}
			const has = await this.#hasAll(shape, number, many);
			if (has !== false) (has ? sure : unsure).push(number);
		}
		const room = () => this.#want - this.#hits.size;
		await this.#takeNames(new Set(crowdedFirst(whole, sure, this.#namesShape)), room());
		if (room() > 0) await this.#takeNames(new Set(crowdedFirst(begun, sure, this.#namesShape)), room());
		if (room() > 0) await this.#takeNames(new Set(unsure), room());
	}

	#namesShape: Shape | null = null;

	/**
	 * Whether a layer has every frequent needle: one piece of each is looked at, the one with this number. Null: only
	 * its name can tell, since a rarer word may begin so, too.
	 */
	async #hasAll(shape: Shape, number: string, many: Source[]): Promise<boolean | null> {
		let sure = true;
		for (const { needle, paths } of many) {
			const has = await Promise.all(
				frequentTerms(needle, paths).map(async (term) => {
					const path = shape.find(orderedText(term) + number);
					if (path === null) return false;
					const numbers = await this.#numbers({ kind: "facet", term }, [path]);
					return numbers.has(number);
				}),
			);
			if (has.includes(true)) continue;
			if (needle.kind === "facet") return false;
			sure = false;
		}
		return sure || null;
	}

	/** Numbers that have a needle, by the pieces' say; true where a word is whole, false where it only begins so. */
	async #numbers(
		needle: Needle,
		paths: readonly string[],
		isBeginning = false,
	): Promise<Map<string, boolean>> {
		const numbers = new Map<string, boolean>();
		const fits = termTest(needle, isBeginning);
		this.#weight.add("terms", paths);
		const read = await Promise.all(paths.map((path) => this.#try(() => this.#pieces.things(terms, path))));
		for (const { term, number } of read.flatMap((things) => things ?? [])) {
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
			const some = list.slice(at, at + Math.max(1, Math.min(mostAtOnce, enough - this.#hits.size)));
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
