import { bitAt } from "./ordered.ts";

/** What is cut into pieces: sorted things, each with an ordered text that no other one has. */
export interface Sorted {
	length: number;
	/** The ordered text of a thing. */
	textAt(index: number): string;
	/** Whether the things from `from` up to `to` (exclusive) fit into one piece. */
	fits(from: number, to: number): boolean;
}

/** A piece: the bits with which all its texts start, and its run of things. */
export interface Piece {
	path: string;
	from: number;
	to: number;
}

/** Most bits of a path: behind them nothing tells two texts apart. */
const mostBits = 6 * 1_200;

/**
 * Cuts sorted things by the bits of their texts: a run that does not fit is halved at its next bit. Where the cuts are
 * depends on nothing but the things themselves, not on the order in which they came: a thing more or less changes the
 * piece that it is in, or splits it in two, or joins it with its neighbour.
 * @param path bits with which all the texts start
 */
export function partition(things: Sorted, path = "", from = 0, to = things.length): Piece[] {
	const pieces: Piece[] = [];
	cut(things, path, from, to, pieces);
	return pieces;
}

function cut(things: Sorted, path: string, from: number, to: number, pieces: Piece[]): void {
	let bits = path;
	let start = from;
	while (start < to) {
		if (to - start === 1 || bits.length >= mostBits || things.fits(start, to)) {
			pieces.push({ path: bits, from: start, to });
			return;
		}
		const middle = firstWithBit(things, bits.length, start, to);
		if (middle > start && middle < to) cut(things, `${bits}0`, start, middle, pieces);
		// With nothing on one side, the other one is the whole run, one bit further down.
		bits += middle === to ? "0" : "1";
		start = middle === to ? start : middle;
	}
}

/** The first of a run whose texts agree in all bits before, and have a 1 here. */
function firstWithBit(things: Sorted, bit: number, from: number, to: number): number {
	let low = from;
	let high = to;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (bitAt(things.textAt(middle), bit) === 1) high = middle;
		else low = middle + 1;
	}
	return low;
}
