/** One symbol of a fragment. */
export interface LayerSymbol {
	imageUrl: string;
	label: string;
}

/** The symbols of a layer, in the form of fragments for RAMP 4.0 to 5.5. */
export type Symbology =
	| ({ type: "simple" } & LayerSymbol)
	| {
			type: "uniqueValue";
			field1: string;
			field2?: string;
			field3?: string;
			valueMaps: (LayerSymbol & { value: string | number })[];
			defaultImageUrl?: string;
			label?: string;
	  }
	| {
			type: "classBreaks";
			field: string;
			minValue: number;
			rangeMaps: (LayerSymbol & { maxValue: number })[];
			defaultImageUrl?: string;
			label?: string;
	  };

/** The symbol of a feature, chosen as in RAMP 4.0; null if it has none. */
export function symbolOf(symbology: Symbology, attributes: Record<string, unknown>): LayerSymbol | null {
	if (symbology.type === "simple") return symbology;
	const found =
		symbology.type === "uniqueValue" ? uniqueOf(symbology, attributes) : rangeOf(symbology, attributes);
	return found ?? defaultOf(symbology);
}

/** Finds a unique value. Values are compared with their types: 1 is not "1". Values of several fields are joined. */
function uniqueOf(
	{ field1, field2, field3, valueMaps }: Extract<Symbology, { type: "uniqueValue" }>,
	attributes: Record<string, unknown>,
): LayerSymbol | undefined {
	const fields = [field1, field2, field3].filter((field): field is string => Boolean(field));
	const value =
		fields.length === 1 ? attributes[field1] : fields.map((field) => attributes[field]).join(", ");
	return valueMaps.find((one) => one.value === value);
}

function rangeOf(
	{ field, minValue, rangeMaps }: Extract<Symbology, { type: "classBreaks" }>,
	attributes: Record<string, unknown>,
): LayerSymbol | undefined {
	const value = attributes[field];
	if (typeof value !== "number" || value < minValue) return undefined;
	return rangeMaps.find(({ maxValue }) => value <= maxValue);
}

function defaultOf({ defaultImageUrl, label }: Exclude<Symbology, { type: "simple" }>): LayerSymbol | null {
	return defaultImageUrl ? { imageUrl: defaultImageUrl, label: label ?? "" } : null;
}

/** All symbols, in the order of the legend. */
export function symbolsOf(symbology: Symbology): LayerSymbol[] {
	if (symbology.type === "simple") return [symbology];
	const maps = symbology.type === "uniqueValue" ? symbology.valueMaps : symbology.rangeMaps;
	const rest = defaultOf(symbology);
	return rest ? [...maps, rest] : maps;
}

/** CSS colours of a line or an area; null for none. */
export interface Colours {
	stroke: string | null;
	fill: string | null;
	/** Width of the line, in pixels. */
	width: number;
}

/** Pixels with less alpha than this belong to the background. */
const minAlpha = 40;

/**
 * The colours in the picture of a line's or an area's symbol. The colour in the middle is the fill, and the most frequent
 * other colour is the outline. Fragments have symbols only as pictures; viewers draw the shapes themselves.
 * @param pixels red, green, blue and alpha of each pixel, row by row
 */
export function coloursOf(
	pixels: Uint8ClampedArray,
	width: number,
	height: number,
	isArea: boolean,
): Colours {
	const counts = new Map<string, number>();
	for (let offset = 0; offset < pixels.length; offset += 4) {
		const colour = readPixel(pixels, offset);
		if (colour) counts.set(colour, (counts.get(colour) ?? 0) + 1);
	}
	const byCount = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
	if (!isArea) return { stroke: byCount[0] ?? "rgb(90 90 90)", fill: null, width: 2.5 };
	const middle = readPixel(pixels, ((height >> 1) * width + (width >> 1)) * 4);
	const stroke = byCount.find((colour) => colour !== middle) ?? middle;
	return { stroke: stroke ?? "rgb(90 90 90)", fill: middle, width: 1.2 };
}

/** The CSS colour of a pixel; null if it is nearly transparent. */
function readPixel(pixels: Uint8ClampedArray, offset: number): string | null {
	const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(offset, offset + 4);
	if (alpha < minAlpha) return null;
	return alpha === 255
		? `rgb(${red} ${green} ${blue})`
		: `rgb(${red} ${green} ${blue} / ${(alpha / 255).toFixed(2)})`;
}
