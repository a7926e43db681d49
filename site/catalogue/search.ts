import { type Name, numberOf } from "../../registry/index/entry.ts";
import { keys, names } from "../../registry/index/kinds.ts";
import { orderedPrefix } from "../../registry/index/ordered.ts";
import { Attempts } from "./attempts.ts";
import { crowdedFirst } from "./crowded.ts";
import type { IndexProblem, Pieces } from "./pieces.ts";
import { keyOf, type Needle, needlesOf, type Query, rank } from "./query.ts";
import {
	fewPieces,
	type NeedleSource,
	type Numbers,
	readAll,
	type Source,
	TermReader,
} from "./term-reader.ts";
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

class Search {
	readonly #pieces: Pieces;
	readonly #query: Query;
	readonly #want: number;
	readonly #attempts = new Attempts();
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
		const { problems } = this.#attempts;
		const isComplete = this.#isComplete && sorted.length <= this.#want && problems.length === 0;
		return { hits, isComplete, problems };
	}

	async run(): Promise<void> {
		const needles = needlesOf(this.#query);
		const key = keyOf(this.#query);
		if (key !== null) await this.#attempts.try(() => this.#takeNames(new Set([numberOf(key)]), 1));
		if (needles.length === 0 && this.#query.text.trim() === "") return this.#browse();
		const reader = await TermReader.open(this.#pieces, this.#weight, this.#attempts);
		if (!reader) return;
		if (needles.length > 0) await this.#attempts.try(() => this.#takeNeedles(reader, needles));
		if (key !== null && this.#room > 0) await this.#attempts.try(() => this.#takeKeys(reader, key, needles));
	}

	/** How many hits are still asked for. */
	get #room(): number {
		return this.#want - this.#hits.size;
	}

	/** Whether there is something to show, and more would weigh too much: it is read when more is asked for. */
	get #isHeavy(): boolean {
		return this.#hits.size > 0 && this.#weight.isOverFor(this.#want);
	}

	/** Nothing is asked for: what comes first. */
	async #browse(): Promise<void> {
		const shape = await this.#attempts.try(() => this.#pieces.shape(names));
		for (const path of shape?.paths ?? []) {
			if (this.#room <= 0) {
				this.#isComplete = false;
				return;
			}
			const things = await this.#attempts.try(() => this.#pieces.things(names, path));
			for (const name of things ?? []) this.#hits.set(name.smallkey, { name, rank: 0 });
		}
	}

	async #takeNeedles(reader: TermReader, needles: Needle[]): Promise<void> {
		const sources = needles.map((needle) => reader.source(needle));
		sources.sort((a, b) => a.paths.length - b.paths.length);
		const [first, ...others] = sources as [NeedleSource, ...NeedleSource[]];
		await this.#takeFrom(reader, first, others);
	}

	/** Layers whose smallkey starts with a text. */
	async #takeKeys(reader: TermReader, key: string, needles: Needle[]): Promise<void> {
		const shape = await this.#attempts.try(() => this.#pieces.shape(keys));
		if (!shape) return;
		const start = key.toLowerCase();
		const read = async (path: string) => {
			this.#weight.add("keys", [path]);
			const known = (await this.#attempts.try(() => this.#pieces.things(keys, path))) ?? [];
			return new Map(known.filter((one) => one.startsWith(start)).map((one) => [numberOf(one), true]));
		};
		const filters = needles.filter(({ kind }) => kind !== "word").map((needle) => reader.source(needle));
		await this.#takeFrom(reader, { paths: shape.under(orderedPrefix(start)), read }, filters);
	}

	/** Goes through the pieces of what is rarest until there are enough hits. */
	async #takeFrom(reader: TermReader, first: Source, others: NeedleSource[]): Promise<void> {
		const few = others.filter(({ paths }) => paths.length <= fewPieces);
		const many = others.filter(({ paths }) => paths.length > fewPieces);
		const sets = await Promise.all(few.map(({ paths, read }) => readAll(paths, read)));
		for (const path of first.paths) {
			if (this.#room <= 0 || this.#isHeavy) {
				this.#isComplete = false;
				return;
			}
			const numbers = await first.read(path);
			const inAll = [...numbers].filter(([number]) => sets.every((set) => set.has(number)));
			await this.#takeCandidates(reader, new Map(inAll), sets, many);
		}
	}

	/** Layers that have the first needle and all rare ones: those that have the frequent ones, too. */
	async #takeCandidates(
		reader: TermReader,
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
		if (many.length === 0) return this.#takeNames(new Set(all), this.#room);
		const shape = await this.#pieces.shape(names);
		if (!reader.isWorthChecking(shape, all, many)) return this.#takeNames(new Set(all), this.#room);
		const { sure, unsure } = await this.#check(reader, all, many);
		for (const some of [whole, begun])
			await this.#takeNames(new Set(crowdedFirst(some, sure, shape)), this.#room);
		await this.#takeNames(new Set(unsure), this.#room);
	}

	/** Which candidates have every frequent needle, and of which only the name can tell; as many as are asked for. */
	async #check(
		reader: TermReader,
		candidates: readonly string[],
		many: readonly NeedleSource[],
	): Promise<{ sure: string[]; unsure: string[] }> {
		const sure: string[] = [];
		const unsure: string[] = [];
		for (const number of candidates) {
			const isEnough = sure.length >= this.#room;
			if (isEnough || (sure.length > 0 && this.#weight.isOverForChecks(this.#want))) {
				this.#isComplete = false;
				break;
			}
			const has = await reader.hasAll(number, many);
			if (has !== false) (has ? sure : unsure).push(number);
		}
		return { sure, unsure };
	}

	/** Reads the names of some numbers, a few pieces at a time, until there are `room` more hits. */
	async #takeNames(numbers: ReadonlySet<string>, room: number): Promise<void> {
		if (numbers.size === 0 || room <= 0) return;
		const shape = await this.#pieces.shape(names);
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
				paths.map((path) =>
					path === undefined ? [] : this.#attempts.try(() => this.#pieces.things(names, path)),
				),
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
}
