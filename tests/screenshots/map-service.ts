import { encode } from "fast-png";

/** An answer to a page that replaces one from the network. */
export interface MapAnswer {
	status: number;
	contentType: string;
	body: Buffer;
}

/** A rectangle of the map, and the size of the requested picture. */
interface Wanted {
	xmin: number;
	ymin: number;
	xmax: number;
	ymax: number;
	width: number;
	height: number;
}

type Colour = readonly [number, number, number];

/** Colours that are distinct on a light and on a dark map. */
const colours: readonly Colour[] = [
	[31, 120, 180],
	[51, 160, 44],
	[227, 100, 20],
	[178, 34, 80],
];

/** Size of the largest hill in metres, and of the smaller ones on it. */
const hills = [900_000, 520_000, 310_000, 170_000];
/** Height between two lines, and how far from a line still belongs to it. */
const lineEvery = 0.5;
const lineWidth = 0.035;

/**
 * Answers like a WMS or an ArcGIS service. Its layers are contour lines of generated hills, each layer with its own place
 * and colour. Deterministic.
 */
export function answerAsMapService(address: URL): MapAnswer {
	const wanted = wantedOf(address);
	const name = `${address.pathname}?${parameterOf(address, "layers")}`;
	if (wanted) return { status: 200, contentType: "image/png", body: drawHills(wanted, hashOf(name)) };
	if (parameterOf(address, "request").toLowerCase() === "getlegendgraphic")
		return { status: 200, contentType: "image/png", body: drawLegend(hashOf(name)) };
	return { status: 404, contentType: "text/plain", body: Buffer.alloc(0) };
}

function parameterOf({ searchParams }: URL, name: string): string {
	return [...searchParams].find(([key]) => key.toLowerCase() === name)?.[1] ?? "";
}

function wantedOf(address: URL): Wanted | null {
	const box = parameterOf(address, "bbox").split(",").map(Number);
	const size = parameterOf(address, "size").split(",");
	const [width, height] = [
		Number(parameterOf(address, "width") || size[0]),
		Number(parameterOf(address, "height") || size[1]),
	];
	const isWanted = box.length === 4 && box.every(Number.isFinite) && width > 0 && height > 0;
	const [xmin = 0, ymin = 0, xmax = 0, ymax = 0] = box;
	return isWanted && width * height < 1e8 ? { xmin, ymin, xmax, ymax, width, height } : null;
}

function hashOf(text: string): number {
	let hash = 7;
	for (const unit of text) hash = (hash * 31 + (unit.codePointAt(0) ?? 0)) % 100_003;
	return hash;
}

function drawHills({ xmin, ymin, xmax, ymax, width, height }: Wanted, seed: number): Buffer {
	const data = new Uint8Array(width * height * 4);
	const colour = colours[seed % colours.length] as Colour;
	const heightAt = heightOf(seed);
	for (let row = 0; row < height; row += 1) {
		const y = ymax - ((ymax - ymin) * row) / height;
		for (let column = 0; column < width; column += 1) {
			const x = xmin + ((xmax - xmin) * column) / width;
			const over = heightAt(x, y) / lineEvery;
			const alpha = over < 1 ? 0 : over - Math.floor(over) < lineWidth / lineEvery ? 230 : 40;
			if (alpha === 0) continue;
			const at = (row * width + column) * 4;
			data.set(colour, at);
			data[at + 3] = alpha;
		}
	}
	return Buffer.from(encode({ width, height, data, channels: 4 }));
}

/** The height of a layer's hills at a place. */
function heightOf(seed: number): (x: number, y: number) => number {
	const all = hills.map((size, at) => {
		const turn = seed + at * 1.7;
		return { size, turn, cos: Math.cos(turn), sin: Math.sin(turn), share: 0.9 ** at };
	});
	return (x, y) => {
		let sum = 0;
		for (const { size, turn, cos, sin, share } of all)
			sum +=
				Math.sin((x * cos + y * sin) / size + turn) * Math.sin((y * cos - x * sin) / size + seed) * share;
		return sum;
	};
}

function drawLegend(seed: number): Buffer {
	const [width, height] = [40, 20];
	const colour = colours[seed % colours.length] as Colour;
	const data = new Uint8Array(width * height * 4);
	for (let at = 0; at < width * height; at += 1) {
		const isLine = Math.abs(Math.floor(at / width) - height / 2) < 2;
		data.set([...colour, isLine ? 230 : 40], at * 4);
	}
	return Buffer.from(encode({ width, height, data, channels: 4 }));
}
