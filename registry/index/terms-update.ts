import { leadingBits, octalsOf } from "./numbers.ts";
import { orderedPrefix, textOfBits } from "./ordered.ts";
import type { Files } from "./set.ts";
import { IndexBroken, type ReadFile, SetUpdate } from "./set-update.ts";
import { levelOf, readSplits, run, type Splits, splitsPath, startsWithBits } from "./splits.ts";
import { type Posting, partText, postingText, runsOf, terms } from "./terms.ts";

/** The numbers of the layers that have a term which starts with a text, sorted. @throws {IndexBroken} */
export function numbersOf(read: ReadFile, beginning: string): string[] {
	const postings = new SetUpdate(terms, read);
	const splits = openSplits(read);
	const frequent = splits.terms.filter((term) => term.startsWith(beginning));
	const parts = frequent.flatMap((term) => splits.partsOf(term).map((part) => partText(term, part)));
	const found = [...new Set([orderedPrefix(beginning), ...parts])].flatMap((text) => postings.find(text));
	return [...new Set(found.map(({ number }) => number))].sort();
}

function openSplits(read: ReadFile): Splits {
	const splits = readSplits(read(splitsPath) ?? "");
	if (!splits) throw new IndexBroken(`${splitsPath}: is not there or of another version`);
	return splits;
}

/** Changes of which layers have which terms. The files come out as if everything had been built anew. */
export class TermsUpdate {
	readonly #postings;
	readonly #read: ReadFile;
	/** Read when it is first needed. */
	#opened: Splits | null = null;
	/** Term → number → whether that layer has the term afterwards. */
	readonly #changes = new Map<string, Map<string, boolean>>();
	/** Term and bits → the numbers of that run afterwards. */
	readonly #after = new Map<string, Set<string>>();
	readonly #parts = new Map<string, readonly Posting[]>();
	/** Texts of the postings that were there before, of those that were looked at. */
	readonly #were = new Set<string>();
	/** Text of a posting → the posting, or null for one that goes; most only go from one run to its neighbour. */
	readonly #moves = new Map<string, Posting | null>();

	constructor(read: ReadFile) {
		this.#read = read;
		this.#postings = new SetUpdate(terms, read);
	}

	/** Notes that the layers of a number have a term, or do not. */
	set(term: string, number: string, has: boolean): void {
		const known = this.#changes.get(term) ?? new Map<string, boolean>();
		this.#changes.set(term, known.set(number, has));
	}

	/** The files that differ now. @throws {IndexBroken} where a file is not what the others say */
	files(): Files {
		for (const [term, changes] of this.#changes) this.#take(term, "", changes);
		for (const [text, posting] of this.#moves) {
			if (this.#were.has(text) === (posting !== null)) continue;
			if (posting) this.#postings.put(posting);
			else this.#postings.remove(text);
		}
		const files = this.#postings.files();
		if (this.#opened?.hasChanged) files.set(splitsPath, this.#opened.write());
		return files;
	}

	get #splits(): Splits {
		this.#opened ??= openSplits(this.#read);
		return this.#opened;
	}

	/** Takes the changes of the numbers that start with some bits. */
	#take(term: string, bits: string, changes: ReadonlyMap<string, boolean>): void {
		if (!this.#splits.isHalved(term, bits)) return this.#change(term, bits, changes);
		for (const half of halvesUnder(bits)) {
			const some = [...changes].filter(([number]) => startsWithBits(number, half));
			if (some.length > 0) this.#take(term, half, new Map(some));
		}
		if ([...changes.values()].includes(false)) this.#join(term, bits);
	}

	/** Changes a run, and halves it where it is too long now. */
	#change(term: string, bits: string, changes: ReadonlyMap<string, boolean>): void {
		const numbers = new Set(this.#numbers(term, bits));
		for (const [number, has] of changes) {
			if (has) numbers.add(number);
			else numbers.delete(number);
		}
		if (numbers.size <= run.mostLayers) return this.#write(term, bits, numbers);
		const runs = runsOf(this.#splits, term, bits, [...numbers].sort());
		this.#write(term, bits, new Set());
		for (const one of runs) this.#add(term, one.bits, new Set(one.numbers));
	}

	/** Puts two runs together that are short enough now. */
	#join(term: string, bits: string): void {
		const halves = halvesUnder(bits);
		// A half that is halved has more than a run by itself.
		if (halves.some((half) => this.#splits.isHalved(term, half))) return;
		const all = new Set(halves.flatMap((half) => [...this.#numbers(term, half)]));
		if (all.size > run.mostLayers) return;
		for (const half of halves) this.#write(term, half, new Set());
		this.#splits.join(term, bits);
		this.#add(term, bits, all);
	}

	/** Writes a run of which there was nothing: what its numbers were in before is removed already. */
	#add(term: string, bits: string, numbers: Set<string>): void {
		this.#after.set(`${term} ${bits}`, new Set());
		this.#write(term, bits, numbers);
	}

	/** The numbers of a run, with all changes so far. */
	#numbers(term: string, bits: string): ReadonlySet<string> {
		const name = `${term} ${bits}`;
		const known = this.#after.get(name);
		if (known) return known;
		const part = this.#part(partText(term, octalsOf(textOfBits(bits), levelOf(bits))));
		const leading = bits === "" ? 0 : Number.parseInt(bits, 2);
		const postings = part.filter(({ number }) => leadingBits(number, bits.length) === leading);
		for (const posting of postings) this.#were.add(postingText(posting));
		const before = new Set(postings.map(({ number }) => number));
		this.#after.set(name, before);
		return before;
	}

	/** The postings of a term in the pieces of a part of all numbers, as they were: several runs stand there. */
	#part(text: string): readonly Posting[] {
		const known = this.#parts.get(text);
		if (known) return known;
		const found = this.#postings.find(text);
		this.#parts.set(text, found);
		return found;
	}

	#write(term: string, bits: string, numbers: Set<string>): void {
		const level = levelOf(bits);
		const before = this.#numbers(term, bits);
		for (const number of before)
			if (!numbers.has(number)) this.#postings.remove(postingText({ term, number, level }));
		for (const number of numbers) if (!before.has(number)) this.#postings.put({ term, number, level });
		this.#after.set(`${term} ${bits}`, numbers);
	}
}

function halvesUnder(bits: string): string[] {
	return [`${bits}0`, `${bits}1`];
}
