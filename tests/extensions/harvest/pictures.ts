import { encode } from "fast-png";
import { pictureSide as side } from "../../../extensions/harvest/wms/places.ts";

/** A picture whose pixels are what `paint` says of each position: red, green, blue, alpha. */
export function picture(paint: (x: number, y: number) => number[], width = side, height = side): Uint8Array {
	const data = new Uint8Array(width * height * 4);
	for (let index = 0; index < width * height; index += 1) {
		data.set(paint(index % width, Math.floor(index / width)), index * 4);
	}
	return encode({ width, height, data, channels: 4 });
}

export const blank = picture(() => [0, 0, 0, 0]);

export const drawn = picture((x, y) => (x === 40 && y === 20 ? [200, 0, 0, 255] : [0, 0, 0, 0]));
