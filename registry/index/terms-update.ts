import { octalsOf } from "./numbers.ts";
import { orderedPrefix, textOfBits } from "./ordered.ts";
import type { Files } from "./set.ts";
import { IndexBroken, type ReadFile, SetUpdate } from "./set-update.ts";
import { levelOf, readSplits, run, type Splits, splitsPath, startsWithBits } from "./splits.ts";
import { lineOf, lineText, numbersIn, runsOf, terms } from "./terms.ts";

/** The numbers of the layers that have a term which starts with a text, sorted. @throws {IndexBroken} */
export function numbersOf(read: ReadFile, beginning: string): string[] {
	const lines = new SetUpdate(terms, read);
	const splits = openSplits(read);
	const frequent = splits.terms.filter((term) => term.startsWith(beginning));
	const parts = frequent.flatMap((term) => splits.partsOf(term).map((part) => lineText(term, part)));
	const found = [...new Set([orderedPrefix(beginning), ...parts])].flatMap((text) => lines.find(text));
	return [...new Set(found.flatMap(numbersIn))].sort();
}

function openSplits(read: ReadFile): Splits {
	const splits = readSplits(read(splitsPath) ?? "");
	if (!splits) throw new IndexBroken(`${splitsPath}: is not there or of another version`);
	return splits;
}

/** A line under work. */
interface Changed {
	term: string;
	octals: string;
	/** As it was; null where there was none. */
	before: string | null;
	numbers: Set<string>;
}

/** Changes of which layers have which terms. The files come out as if everything had been built anew. */
export class TermsUpdate {
	readonly #lines;
	readonly #read: ReadFile;
	/** Read when it is first needed. */
	#opened: Splits | null = null;
	/** Term → number → whether that layer has the term afterwards. */
	readonly #changes = new Map<string, Map<string, boolean>>();
	/** Ordered text → the line of several runs. */
	readonly #changed = new Map<string, Changed>();

	constructor(read: ReadFile) {
		this.#read = read;
		this.#lines = new SetUpdate(terms, read);
	}

	/** Notes that the layers of a number have a term, or do not. */
	set(term: string, number: string, has: boolean): void {
		const known = this.#changes.get(term) ?? new Map<string, boolean>();
		this.#changes.set(term, known.set(number, has));
	}

	/** The files that differ now. @throws {IndexBroken} where a file is not what the others say */
	files(): Files {
		for (const [term, changes] of this.#changes) this.#take(term, "", changes);
		for (const [text, { term, octals, before, numbers }] of this.#changed) {
			const line = numbers.size === 0 ? null : lineOf(term, octals, [...numbers].sort());
			if ((line?.packed ?? null) === before) continue;
			if (line) this.#lines.put(line);
			else this.#lines.remove(text);
		}
		const files = this.#lines.files();
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
		const { numbers } = this.#line(term, bits);
		for (const [number, has] of changes) {
			if (has) numbers.add(number);
			else numbers.delete(number);
		}
		const ofRun = this.#run(term, bits);
		if (ofRun.length <= run.mostLayers) return;
		this.#remove(term, bits, ofRun);
		for (const one of runsOf(this.#splits, term, bits, ofRun)) this.#add(term, one.bits, one.numbers);
	}

	/** Puts two runs together that are short enough now. */
	#join(term: string, bits: string): void {
		const halves = halvesUnder(bits);
		// A half that is halved has more than a run by itself.
		if (halves.some((half) => this.#splits.isHalved(term, half))) return;
		const runs = halves.map((half) => this.#run(term, half));
		const all = runs.flat();
		if (all.length > run.mostLayers) return;
		halves.forEach((half, index) => {
			this.#remove(term, half, runs[index] as string[]);
		});
		this.#splits.join(term, bits);
		this.#add(term, bits, all);
	}

	/** The numbers of a run, sorted, with all changes so far. */
	#run(term: string, bits: string): string[] {
		const { numbers } = this.#line(term, bits);
		return [...numbers].filter((number) => startsWithBits(number, bits)).sort();
	}

	#remove(term: string, bits: string, some: readonly string[]): void {
		const { numbers } = this.#line(term, bits);
		for (const number of some) numbers.delete(number);
	}

	#add(term: string, bits: string, some: readonly string[]): void {
		const { numbers } = this.#line(term, bits);
		for (const number of some) numbers.add(number);
	}

	/** The line in which a run stands. */
	#line(term: string, bits: string): Changed {
		const octals = octalsOf(textOfBits(bits), levelOf(bits));
		const text = lineText(term, octals);
		const known = this.#changed.get(text);
		if (known) return known;
		const before = this.#lines.get(text);
		const numbers = new Set(before ? numbersIn(before) : []);
		const line = { term, octals, before: before?.packed ?? null, numbers };
		this.#changed.set(text, line);
		return line;
	}
}

function halvesUnder(bits: string): string[] {
	return [`${bits}0`, `${bits}1`];
}
