import { bitAt, digits, toDigits, valueAt } from "./ordered.ts";

/** Bits of a layer's number, and characters of the 64 that hold them. */
export const numberBits = 24;
export const numberLength = numberBits / 6;

const octalBits = 3;

/** The first `length` octal figures of a number. */
export function octalsOf(number: string, length: number): string {
	let octals = "";
	for (let place = 0; place < length; place += 1) {
		const value = valueAt(number, place >> 1);
		octals += place % 2 === 0 ? value >> octalBits : value & 7;
	}
	return octals;
}

function toInteger(number: string): number {
	let value = 0;
	for (let index = 0; index < numberLength; index += 1) value = value * 64 + valueAt(number, index);
	return value;
}

/** The first `length` bits of a number. */
export function leadingBits(number: string, length: number): number {
	return length === 0 ? 0 : toInteger(number) >>> (numberBits - length);
}

/** The least number that starts with some octal figures. */
function firstOf(octals: string): number {
	return octals === "" ? 0 : Number.parseInt(octals, 8) * rangeOf(octals);
}

/** How many numbers start with some octal figures. */
function rangeOf(octals: string): number {
	return 2 ** (numberBits - octals.length * octalBits);
}

/**
 * Numbers as a short text of the 64 characters: first how many low bits each gap has, then the gaps, each from the
 * number before to the next one, less one, as Rice codes: the high part in ones with a zero behind them, then the low
 * bits. Ones fill up the last character.
 * @param numbers sorted, each once, at least one
 * @param octals with which all of them start
 */
export function packNumbers(numbers: readonly string[], octals = ""): string {
	const lowBits = lowBitsOf(rangeOf(octals) / numbers.length);
	const bits = new BitWriter();
	let next = firstOf(octals);
	for (const number of numbers) {
		const value = toInteger(number);
		const gap = value - next;
		for (let ones = gap >>> lowBits; ones > 0; ones -= 1) bits.write(1);
		bits.write(0);
		for (let bit = lowBits - 1; bit >= 0; bit -= 1) bits.write((gap >>> bit) & 1);
		next = value + 1;
	}
	return (digits[lowBits] as string) + bits.end();
}

/** Reads what `packNumbers` wrote; of another text whatever numbers it holds. */
export function unpackNumbers(text: string, octals = ""): string[] {
	const lowBits = valueAt(text, 0);
	const end = text.length * 6;
	const numbers: string[] = [];
	let bit = 6;
	for (let next = firstOf(octals); ; ) {
		let gap = 0;
		while (bit < end && bitAt(text, bit) === 1) {
			gap += 1;
			bit += 1;
		}
		bit += 1;
		if (bit + lowBits > end) return numbers;
		for (const last = bit + lowBits; bit < last; bit += 1) gap = gap * 2 + bitAt(text, bit);
		const value = next + gap;
		if (value >= 2 ** numberBits) return numbers;
		numbers.push(toDigits(value, numberLength));
		next = value + 1;
	}
}

/** Gaps of this mean are shortest with so many low bits: the logarithm of the mean's half-life. */
function lowBitsOf(mean: number): number {
	return Math.max(0, Math.floor(Math.log2(mean * Math.LN2)));
}

class BitWriter {
	#text = "";
	#value = 0;
	#filled = 0;

	write(bit: number): void {
		this.#value = this.#value * 2 + bit;
		this.#filled += 1;
		if (this.#filled < 6) return;
		this.#text += digits[this.#value];
		this.#value = 0;
		this.#filled = 0;
	}

	end(): string {
		while (this.#filled > 0) this.write(1);
		return this.#text;
	}
}
