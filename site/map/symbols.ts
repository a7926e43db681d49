/** One symbol, as fragments have it. */
export interface Drawn {
	imageUrl: string;
	label: string;
}

/** How features are drawn, as fragments of RAMP 4.0 to 5.5 say it. */
export type Symbology =
	| ({ type: "simple" } & Drawn)
	| {
			type: "uniqueValue";
			field1: string;
			field2?: string;
			field3?: string;
			valueMaps: (Drawn & { value: string | number })[];
			defaultImageUrl?: string;
			label?: string;
	  }
	| {
			type: "classBreaks";
			field: string;
			minValue: number;
			rangeMaps: (Drawn & { maxValue: number })[];
			defaultImageUrl?: string;
			label?: string;
	  };

/** The symbol of a feature, as RAMP 4.0 chooses it; null where it has none. */
export function symbolOf(symbology: Symbology, attributes: Record<string, unknown>): Drawn | null {
	if (symbology.type === "simple") return symbology;
	const found =
		symbology.type === "uniqueValue" ? uniqueOf(symbology, attributes) : rangeOf(symbology, attributes);
	return found ?? defaultOf(symbology);
}

/** Values are compared as they are: a number is not its text. Those of several fields are joined. */
function uniqueOf(
	{ field1, field2, field3, valueMaps }: Extract<Symbology, { type: "uniqueValue" }>,
	attributes: Record<string, unknown>,
): Drawn | undefined {
	const fields = [field1, field2, field3].filter((field): field is string => Boolean(field));
	const value =
		fields.length === 1 ? attributes[field1] : fields.map((field) => attributes[field]).join(", ");
	return valueMaps.find((one) => one.value === value);
}

function rangeOf(
	{ field, minValue, rangeMaps }: Extract<Symbology, { type: "classBreaks" }>,
	attributes: Record<string, unknown>,
): Drawn | undefined {
	const value = attributes[field];
	if (typeof value !== "number" || value < minValue) return undefined;
	return rangeMaps.find(({ maxValue }) => value <= maxValue);
}

function defaultOf({ defaultImageUrl, label }: Exclude<Symbology, { type: "simple" }>): Drawn | null {
	return defaultImageUrl ? { imageUrl: defaultImageUrl, label: label ?? "" } : null;
}

/** Every symbol, in the order of the legend. */
export function symbolsOf(symbology: Symbology): Drawn[] {
	if (symbology.type === "simple") return [symbology];
	const maps = symbology.type === "uniqueValue" ? symbology.valueMaps : symbology.rangeMaps;
	const rest = defaultOf(symbology);
	return rest ? [...maps, rest] : maps;
}

/** Colours of a line or an area, as CSS has them; null: none. */
export interface Colours {
	stroke: string | null;
	fill: string | null;
	/** Of the line, in pixels. */
	width: number;
}

/** Pixels less opaque than this are the background. */
const leastAlpha = 40;

/**
 * The colours in a picture of a line's or an area's symbol: what is in its middle fills, what is at its edge and
 * different is the outline. Fragments have pictures of symbols only, and viewers draw the shapes themselves.
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

/** A pixel as CSS has it; null where it is nearly transparent. */
function readPixel(pixels: Uint8ClampedArray, offset: number): string | null {
	const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(offset, offset + 4);
	if (alpha < leastAlpha) return null;
	return alpha === 255
		? `rgb(${red} ${green} ${blue})`
		: `rgb(${red} ${green} ${blue} / ${(alpha / 255).toFixed(2)})`;
}
