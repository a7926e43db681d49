/**
 * Sixty-four characters in ASCII order: texts of them compare as the bits that they stand for, six a character.
 * They are those of base64url (RFC 4648, section 5) in another order.
 */
export const digits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/** The number of each digit, by its character's code. */
const values = new Uint8Array(128);
for (let value = 0; value < digits.length; value += 1) values[digits.charCodeAt(value)] = value;

/** Bits of one character. */
export const bitsPerDigit = 6;

/** The 6-bit number of a character of `digits`; 0 for anything else. */
export function valueAt(text: string, index: number): number {
	return values[text.charCodeAt(index)] ?? 0;
}

/** A number below 64^`length` as `length` characters. */
export function toDigits(number: number, length: number): string {
	let text = "";
	for (let rest = number, left = length; left > 0; left -= 1, rest = Math.floor(rest / 64)) {
		text = (digits[rest % 64] as string) + text;
	}
	return text;
}

/** One bit of an ordered text; 0 behind its end. */
export function bitAt(text: string, bit: number): 0 | 1 {
	const digit = Math.floor(bit / bitsPerDigit);
	if (digit >= text.length) return 0;
	const shift = bitsPerDigit - 1 - (bit % bitsPerDigit);
	return ((valueAt(text, digit) >> shift) & 1) as 0 | 1;
}

/** The bits of each digit, as `0` and `1`. */
const sixes = Array.from(digits, (_, value) => value.toString(2).padStart(bitsPerDigit, "0"));

/** Whether a text is one: there is no other character in it. */
export function isOrdered(text: string): boolean {
	return /^[-0-9A-Z_a-z]*$/.test(text);
}

/** The first `length` bits of an ordered text, as `0` and `1`. */
export function bitsOf(text: string, length = text.length * bitsPerDigit): string {
	let bits = "";
	for (let digit = 0; digit * bitsPerDigit < length; digit += 1) bits += sixes[valueAt(text, digit)];
	return bits.slice(0, length);
}

/** The least ordered text that starts with these bits. */
export function textOfBits(bits: string): string {
	const padded = bits.padEnd(Math.ceil(bits.length / bitsPerDigit) * bitsPerDigit, "0");
	return padded.replace(/[01]{6}/g, (six) => digits[Number.parseInt(six, 2)] as string);
}

/** Marks of what is no letter and no digit in a key; every mark sorts before them. */
const marks = "=:.-_+/,";
/** What ends a word, so that `rail` comes before `railway`. */
const end = 0;
const firstMark = 1;
const firstFigure = firstMark + marks.length;
const firstLetter = firstFigure + 10;
/** Announces a UTF-16 unit in three further characters. */
const escapeValue = 63;

/** The digits of each ASCII character: nearly all that there are. */
const ofAscii = Array.from({ length: 128 }, (_, code) => digitsOf(String.fromCharCode(code)));

function digitsOf(unit: string): string {
	const mark = marks.indexOf(unit);
	if (mark >= 0) return digits[firstMark + mark] as string;
	if (unit >= "0" && unit <= "9") return digits[firstFigure + Number(unit)] as string;
	if (unit >= "a" && unit <= "z") return digits[firstLetter + unit.charCodeAt(0) - 97] as string;
	return (digits[escapeValue] as string) + toDigits(unit.charCodeAt(0), 3);
}

/**
 * A text as an ordered text, without an end: whatever starts with it has an ordered text that starts with this one.
 * Capitals are not expected here: they count as any other character.
 */
export function orderedPrefix(text: string): string {
	let ordered = "";
	for (let index = 0; index < text.length; index += 1)
		ordered += ofAscii[text.charCodeAt(index)] ?? digitsOf(text.charAt(index));
	return ordered;
}

/** A whole text as an ordered text: no other one starts with it. */
export function orderedText(text: string): string {
	return orderedPrefix(text) + (digits[end] as string);
}

/** The beginning of a text that an ordered text stands for: as far as its whole characters go. */
export function readOrdered(ordered: string): string {
	let text = "";
	for (let index = 0; index < ordered.length; index += 1) {
		const value = valueAt(ordered, index);
		if (value === end) break;
		if (value === escapeValue) {
			if (index + 3 >= ordered.length) break;
			const unit = [1, 2, 3].reduce((sum, step) => sum * 64 + valueAt(ordered, index + step), 0);
			text += String.fromCharCode(unit);
			index += 3;
		} else if (value >= firstLetter) text += String.fromCharCode(97 + value - firstLetter);
		else if (value >= firstFigure) text += String(value - firstFigure);
		else text += marks[value - firstMark] ?? "";
	}
	return text;
}
