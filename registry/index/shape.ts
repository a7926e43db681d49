import { bitAt, bitsOf, bitsPerDigit, isOrdered, textOfBits } from "./ordered.ts";

/**
 * How a set is cut: the paths of its pieces, in order. No path starts with another one.
 * A piece's file is called by `nameOfPath`.
 */
export class Shape {
	/** Sorted: texts of `0` and `1`, none a prefix of another, are in the order of what they hold. */
	readonly #paths: string[];
	#hasChanged = false;

	constructor(paths: Iterable<string>) {
		this.#paths = [...paths].sort();
	}

	get paths(): readonly string[] {
		return this.#paths;
	}

	/** Whether a path came or went since this was made. */
	get hasChanged(): boolean {
		return this.#hasChanged;
	}

	has(path: string): boolean {
		return this.#paths[this.#firstFrom(path)] === path;
	}

	/** The piece that an ordered text is in, or would be in; null where there is none yet. */
	find(text: string): string | null {
		const path = this.#paths[this.#lastUpTo(text)];
		return path !== undefined && startsWithBits(text, path) ? path : null;
	}

	/** The pieces that may hold texts which start with `prefix`, in order. */
	under(prefix: string): string[] {
		const first = Math.max(0, this.#lastUpTo(prefix));
		const found: string[] = [];
		for (let index = first; index < this.#paths.length; index += 1) {
			const path = this.#paths[index] as string;
			if (overlaps(path, prefix)) found.push(path);
			else if (index > first) break;
		}
		return found;
	}

	/** The pieces whose paths start with these bits. */
	below(bits: string): string[] {
		const first = this.#firstFrom(bits);
		const found: string[] = [];
		for (let index = first; index < this.#paths.length; index += 1) {
			const path = this.#paths[index] as string;
			if (!path.startsWith(bits)) break;
			found.push(path);
		}
		return found;
	}

	/** Where a piece begins that holds a text for which there is none: just beside its nearest neighbour. */
	vacant(text: string): string {
		const index = this.#lastUpTo(text);
		const neighbours = [this.#paths[index], this.#paths[index + 1]];
		const common = neighbours.map((path) => (path === undefined ? -1 : commonBits(text, path)));
		const length = Math.max(...common) + 1;
		let bits = "";
		for (let bit = 0; bit < length; bit += 1) bits += bitAt(text, bit);
		return bits;
	}

	add(path: string): void {
		this.#hasChanged = true;
		this.#paths.splice(this.#firstFrom(path), 0, path);
	}

	delete(path: string): void {
		if (!this.has(path)) return;
		this.#hasChanged = true;
		this.#paths.splice(this.#firstFrom(path), 1);
	}

	/** Index of the last path that does not come after a text; -1 where all do. */
	#lastUpTo(text: string): number {
		let low = 0;
		let high = this.#paths.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (compareBits(this.#paths[middle] as string, text) <= 0) low = middle + 1;
			else high = middle;
		}
		return low - 1;
	}

	#firstFrom(bits: string): number {
		let low = 0;
		let high = this.#paths.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if ((this.#paths[middle] as string) < bits) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}

function startsWithBits(text: string, path: string): boolean {
	return commonBits(text, path) === path.length;
}

/** How many bits a text and a path have in common, from the first on. */
function commonBits(text: string, path: string): number {
	let bit = 0;
	while (bit < path.length && path.charCodeAt(bit) - 48 === bitAt(text, bit)) bit += 1;
	return bit;
}

/** Whether a path comes before a text, holds it, or comes after it. */
function compareBits(path: string, text: string): number {
	const common = commonBits(text, path);
	if (common === path.length) return 0;
	return path[common] === "0" ? -1 : 1;
}

/** Whether a piece may hold texts that start with `prefix`. */
function overlaps(path: string, prefix: string): boolean {
	const length = Math.min(path.length, prefix.length * 6);
	return commonBits(prefix, path.slice(0, length)) === length;
}

/**
 * The name of a piece's file: the bits of the least text that it may hold, without the zeros at their end, then a 1, as
 * hexadecimal digits. No two pieces of a set begin alike; a piece that is split goes on under its name with its lower half.
 */
export function nameOfPath(path: string): string {
	const bits = `${path.slice(0, path.lastIndexOf("1") + 1)}1`;
	return bits
		.padEnd(Math.ceil(bits.length / 4) * 4, "0")
		.replace(/[01]{4}/g, (four) => Number.parseInt(four, 2).toString(16));
}

/**
 * A shape as a short text: the tree of bits from its root, each node by what its two sides are. Two bits a node: which
 * of the sides are there; a leaf has none. The number of characters grows with the pieces, not with their names.
 */
export function shapeText(shape: Shape): string {
	const bits: string[] = [];
	const write = (paths: readonly string[], depth: number, from: number, to: number): void => {
		if (to - from === 1 && (paths[from] as string).length === depth) {
			bits.push("00");
			return;
		}
		let middle = from;
		while (middle < to && (paths[middle] as string)[depth] === "0") middle += 1;
		bits.push(`${middle > from ? 1 : 0}${middle < to ? 1 : 0}`);
		if (middle > from) write(paths, depth + 1, from, middle);
		if (middle < to) write(paths, depth + 1, middle, to);
	};
	if (shape.paths.length > 0) write(shape.paths, 0, 0, shape.paths.length);
	return textOfBits(bits.join(""));
}

/** Reads what `shapeText` wrote, of `pieces` pieces; null where the text is not such a tree. */
export function parseShape(text: string, pieces: number): Shape | null {
	if (!isOrdered(text)) return null;
	const bits = bitsOf(text);
	const paths: string[] = [];
	let bit = 0;
	const waiting = pieces > 0 ? [""] : [];
	while (waiting.length > 0) {
		if (bit + 2 > bits.length || paths.length > pieces) return null;
		const path = waiting.pop() as string;
		const [left, right] = [bits[bit] === "1", bits[bit + 1] === "1"];
		bit += 2;
		if (right) waiting.push(`${path}1`);
		if (left) waiting.push(`${path}0`);
		if (!left && !right) paths.push(path);
	}
	const isWhole = bits.length - bit < bitsPerDigit && !bits.includes("1", bit);
	return isWhole && paths.length === pieces ? new Shape(paths) : null;
}
