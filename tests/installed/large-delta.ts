import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

const baseBytes = 1 << 20;

/**
 * A push of about 5 kB whose one delta unpacks to gigabytes, as the bytes that `git push` sends (gitprotocol-pack(5),
 * gitformat-pack(5)): the command to make a branch, and a pack of a blob and of a delta on it.
 */
export function pushOfLargeDelta(gigabytes: number): Buffer {
	const base = Buffer.alloc(baseBytes);
	const copies = gigabytes * 1024;
	// Copies the whole base: an instruction with three bytes of size, and an offset of 0.
	const copy = Buffer.from([0x80 | 0x70, 0x00, 0x00, 0x10]);
	const sizes = Buffer.concat([varint(baseBytes), varint(copies * baseBytes)]);
	const delta = Buffer.concat([sizes, ...Array<Buffer>(copies).fill(copy)]);
	const first = Buffer.concat([objectHead(3, baseBytes), deflateSync(base)]);
	const second = Buffer.concat([objectHead(6, delta.length), offset(first.length), deflateSync(delta)]);
	const head = Buffer.from([...Buffer.from("PACK"), 0, 0, 0, 2, 0, 0, 0, 2]);
	const pack = Buffer.concat([head, first, second]);
	const command = `${"0".repeat(40)} ${"1".repeat(40)} refs/heads/large\0report-status\n`;
	const line = (command.length + 4).toString(16).padStart(4, "0") + command;
	return Buffer.concat([Buffer.from(`${line}0000`), pack, createHash("sha1").update(pack).digest()]);
}

/** A number in groups of seven bits, the lowest first. */
function varint(value: number) {
	const bytes: number[] = [];
	for (let rest = value; ; rest = Math.floor(rest / 128)) {
		bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
		if (rest < 128) return Buffer.from(bytes);
	}
}

/** Type and size of an object of a pack; a size of 16 or more. */
function objectHead(type: number, size: number) {
	return Buffer.concat([Buffer.from([0x80 | (type << 4) | (size % 16)]), varint(Math.floor(size / 16))]);
}

/** The distance to a delta's base, which is the object before it. */
function offset(distance: number) {
	const bytes = [distance & 0x7f];
	for (let rest = distance >> 7; rest > 0; rest >>= 7) {
		rest -= 1;
		bytes.unshift(0x80 | (rest & 0x7f));
	}
	return Buffer.from(bytes);
}
