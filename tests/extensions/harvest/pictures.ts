import { encode } from "fast-png";
import { pictureSide as side } from "../../../extensions/harvest/wms/places.ts";

/** A picture whose pixels are what `paint` says of each position: red, green, blue, alpha. */
export function picture(paint: (x: number, y: number) => number[]): Uint8Array {
	const pixels = Array.from({ length: side * side }, (_, at) => paint(at % side, Math.floor(at / side)));
	return encode({ width: side, height: side, data: new Uint8Array(pixels.flat()), channels: 4 });
}

export const blank = picture(() => [0, 0, 0, 0]);

export const drawn = picture((x, y) => (x === 40 && y === 20 ? [200, 0, 0, 255] : [0, 0, 0, 0]));
