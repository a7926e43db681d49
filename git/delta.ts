/** Most bytes that one instruction copies, and inserts (gitformat-pack(5), "Deltified representation"). */
const mostCopied = 0x10000;
const mostInserted = 0x7f;

/**
 * What has to be done to `base` to get `target`, in the form of a pack: copy what both begin with, insert what is in
 * between, copy what both end with. Two versions of a folder differ in the entry of one file.
 */
export function deltaOf(base: Buffer, target: Buffer): Buffer {
	const shorter = Math.min(base.length, target.length);
	const start = longest(shorter, (length) => base.compare(target, 0, length, 0, length) === 0);
	const end = longest(shorter - start, (length) => {
		return base.compare(target, target.length - length, target.length, base.length - length) === 0;
	});
	return Buffer.concat([
		varint(base.length),
		varint(target.length),
		...copies(0, start),
		...inserts(target.subarray(start, target.length - end)),
		...copies(base.length - end, end),
	]);
}

/** The largest length for which something holds that holds for all smaller ones. */
function longest(most: number, holds: (length: number) => boolean): number {
	let least = 0;
	for (let beyond = most + 1; beyond - least > 1; ) {
		const middle = (least + beyond) >> 1;
		if (holds(middle)) least = middle;
		else beyond = middle;
	}
	return least;
}

/** A number in groups of seven bits, the lowest first. */
export function varint(value: number): Buffer {
	const bytes: number[] = [];
	for (let rest = value; ; rest = Math.floor(rest / 128)) {
		if (rest < 128) return Buffer.from([...bytes, rest]);
		bytes.push((rest & 0x7f) | 0x80);
	}
}

function* copies(offset: number, length: number): Generator<Buffer> {
	for (let at = offset; at < offset + length; at += mostCopied) {
		yield copy(at, Math.min(mostCopied, offset + length - at));
	}
}

/** One instruction: which bytes of offset and size follow, then those that are not 0. */
function copy(offset: number, size: number): Buffer {
	let which = 0x80;
	const given: number[] = [];
	for (let bit = 0; bit < 6; bit += 1) {
		// A size without bytes stands for the most that can be copied.
		const byte = (bit < 4 ? offset >>> (8 * bit) : size >>> (8 * (bit - 4))) & 0xff;
		if (byte === 0) continue;
		which |= 1 << bit;
		given.push(byte);
	}
	return Buffer.from([which, ...given]);
}

function* inserts(bytes: Buffer): Generator<Buffer> {
	for (let at = 0; at < bytes.length; at += mostInserted) {
		const piece = bytes.subarray(at, at + mostInserted);
		yield Buffer.from([piece.length]);
		yield piece;
	}
}
