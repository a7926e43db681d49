import { numberBits, octalsOf } from "./numbers.ts";
import { bitAt, bitsOf, textOfBits } from "./ordered.ts";
import { readLines, writeLines } from "./set.ts";

/**
 * Most layers of a term that are one run. Those of a term that more layers have are halved by the next bit of their
 * numbers, and so on; every third bit takes a run to the pieces of that part of all numbers.
 */
export const run = { mostLayers: 250 };

/** Bits of a number that tell one level of pieces from the next. */
const bitsPerLevel = 3;

/** The file that says how the layers of terms that many layers have are halved. */
export const splitsPath = "index/frequent.json";

/** The level of the pieces of a run of numbers that start with these bits. */
export function levelOf(bits: string): number {
	return Math.floor(bits.length / bitsPerLevel);
}

/** Whether a number starts with these bits. */
export function startsWithBits(number: string, bits: string): boolean {
	for (let bit = 0; bit < bits.length; bit += 1)
		if (bitAt(number, bit) !== bits.charCodeAt(bit) - 48) return false;
	return true;
}

/** Which terms many layers have, and how the layers of each are halved. */
export class Splits {
	/** Term → the beginnings of numbers, in bits, that are halved; `""` stands for all numbers. */
	readonly #halved: Map<string, Set<string>>;
	#hasChanged = false;

	constructor(halved: Iterable<readonly [string, Iterable<string>]> = []) {
		this.#halved = new Map([...halved].map(([term, bits]) => [term, new Set(bits)]));
	}

	/** Whether anything was halved or joined since this was made. */
	get hasChanged(): boolean {
		return this.#hasChanged;
	}

	/** The terms of more than one run. */
	get terms(): string[] {
		return [...this.#halved.keys()];
	}

	isHalved(term: string, bits: string): boolean {
		return this.#halved.get(term)?.has(bits) ?? false;
	}

	/** The level of the pieces that have a term's run with a number. */
	levelOf(term: string, number: string): number {
		const halved = this.#halved.get(term);
		if (!halved) return 0;
		let bits = "";
		while (bits.length < numberBits && halved.has(bits)) bits += bitAt(number, bits.length);
		return levelOf(bits);
	}

	/** The beginnings of numbers, in octal figures, with whose pieces the runs of a term stand. */
	partsOf(term: string): string[] {
		return [...new Set(this.#runsOf(term, "").map((bits) => octalsOf(textOfBits(bits), levelOf(bits))))];
	}

	#runsOf(term: string, bits: string): string[] {
		if (!this.isHalved(term, bits)) return [bits];
		return [...this.#runsOf(term, `${bits}0`), ...this.#runsOf(term, `${bits}1`)];
	}

	halve(term: string, bits: string): void {
		this.#hasChanged = true;
		this.#halved.set(term, (this.#halved.get(term) ?? new Set()).add(bits));
	}

	join(term: string, bits: string): void {
		this.#hasChanged = true;
		const halved = this.#halved.get(term);
		halved?.delete(bits);
		if (halved?.size === 0) this.#halved.delete(term);
	}

	/** The file's text: each term with the tree of its halves from the root, 1 for what is halved, 0 for a run. */
	write(): string {
		const sorted = this.terms.sort();
		const treeOf = (term: string, bits: string): string =>
			this.isHalved(term, bits) ? `1${treeOf(term, `${bits}0`)}${treeOf(term, `${bits}1`)}` : "0";
		return writeLines(
			"terms",
			sorted.map((term) => JSON.stringify([term, textOfBits(treeOf(term, ""))])),
		);
	}
}

/** Reads the file; null where it is of another version, or no such file. */
export function readSplits(text: string): Splits | null {
	const lines = readLines("terms", text);
	if (!lines?.every((line) => Array.isArray(line) && typeof line[1] === "string")) return null;
	return new Splits((lines as [string, string][]).map(([term, tree]) => [term, halvesOf(tree)]));
}

/** The beginnings of numbers that a tree says are halved. */
function halvesOf(tree: string): string[] {
	const halved: string[] = [];
	const waiting = [""];
	const nodes = bitsOf(tree);
	for (let node = 0; waiting.length > 0 && node < nodes.length; node += 1) {
		const bits = waiting.pop() as string;
		if (nodes[node] === "0") continue;
		halved.push(bits);
		waiting.push(`${bits}1`, `${bits}0`);
	}
	return halved;
}
