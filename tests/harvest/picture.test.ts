import { deflateSync } from "node:zlib";
import { encode } from "fast-png";
import * as assert from "uvu/assert";
import { isBlank } from "../../harvest/wms/look.ts";
import { test } from "../helpers/suite.ts";
import { blank, drawn, picture } from "./pictures.ts";

test("one colour, or nothing but transparency, is blank; a single pixel is not", () => {
	assert.ok(isBlank(blank));
	assert.ok(isBlank(picture(() => [255, 255, 255, 255])));
	assert.ok(isBlank(picture((x) => [x, x, x, 0])), "colours that are transparent");
	assert.not(isBlank(drawn));
	assert.not(isBlank(picture((x, y) => [x === 63 && y === 63 ? 1 : 0, 0, 0, 255])));
});

test("grey, grey with alpha, colour without alpha, two bytes a sample, a palette", () => {
	const side = 64;
	for (const channels of [1, 2, 3, 4]) {
		for (const depth of [8, 16] as const) {
			const data =
				depth === 8 ? new Uint8Array(side * side * channels) : new Uint16Array(side * side * channels);
			data.fill(7);
			assert.ok(
				isBlank(encode({ width: side, height: side, data, channels, depth })),
				`${channels} ${depth}`,
			);
			data[side * 3 * channels] = 9;
			assert.not(
				isBlank(encode({ width: side, height: side, data, channels, depth })),
				`${channels} ${depth}`,
			);
		}
	}
	assert.ok(isBlank(withPalette(new Uint8Array(65 * 64))));
	const rows = new Uint8Array(65 * 64);
	rows[1000] = 1;
	assert.not(isBlank(withPalette(rows)));
});

/** A PNG of 64 by 64 with a palette of two colours, out of its rows, each with its filter's byte. */
function withPalette(rows: Uint8Array): Uint8Array {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(64, 0);
	header.writeUInt32BE(64, 4);
	header.set([8, 3, 0, 0, 0], 8);
	return png([
		["IHDR", header],
		["PLTE", Buffer.from([0, 0, 0, 255, 0, 0])],
		["IDAT", deflateSync(rows)],
		["IEND", Buffer.alloc(0)],
	]);
}

function png(chunks: [type: string, data: Buffer][]): Uint8Array {
	const parts = chunks.flatMap(([type, data]) => {
		const length = Buffer.alloc(4);
		length.writeUInt32BE(data.length);
		const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
		const check = Buffer.alloc(4);
		check.writeUInt32BE(crc32(body));
		return [length, body, check];
	});
	return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...parts]);
}

/** CRC-32 of PNG (RFC 2083, section 15). */
function crc32(bytes: Uint8Array): number {
	let crc = 0xffffffff;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	}
	return (crc ^ 0xffffffff) >>> 0;
}

test("a file that is not a picture, cut, or larger than requested is not called blank", () => {
	assert.not(isBlank(new Uint8Array(0)));
	assert.not(isBlank(new TextEncoder().encode("<ServiceException/>")));
	for (const length of [8, 20, 33, 50, blank.length - 20]) assert.not(isBlank(blank.subarray(0, length)));
	assert.not(isBlank(picture(() => [0, 0, 0, 0], 65, 64)));
	const huge = Buffer.from(blank);
	huge.writeUInt32BE(1_000_000_000, 16);
	assert.not(isBlank(huge));
	const long = Buffer.concat([blank, Buffer.alloc(100_000)]);
	assert.not(isBlank(long));
});

test.run();
