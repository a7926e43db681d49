import { withParameters } from "./address.ts";
import { isGeographic, isLatitudeFirst, type ReferencedBox, wkidOf } from "./boxes.ts";
import { type Capabilities, type CapabilitiesLayer, type Dimension, lineOf } from "./capabilities.ts";

/** @param layer null if the document does not list it */
export function pictureFactsOf(capabilities: Capabilities, layer: CapabilitiesLayer | null): PictureFacts {
	const { version, isOlder, pictureAddress, pictureFormats, root } = capabilities;
	const line = layer ? [...lineOf(layer)] : root ? [root] : [];
	const dimensions = new Map<string, Dimension>();
	for (const { dimensions: layerDimensions } of line.toReversed())
		for (const dimension of layerDimensions) {
			const around = dimensions.get(dimension.name);
			dimensions.set(dimension.name, {
				...dimension,
				hasDefault: dimension.hasDefault || (dimension.last === "" && around?.hasDefault === true),
				last: dimension.last || (around?.last ?? ""),
			});
		}
	return {
		version,
		isOlder,
		address: pictureAddress,
		formats: pictureFormats,
		references: [...new Set(line.flatMap(({ references }) => references))],
		boxes: line.flatMap(({ referenced }) => referenced),
		dimensions: [...dimensions.values()].filter(({ hasDefault, last }) => !hasDefault && last !== ""),
		fixed: layer?.fixed ?? { width: 0, height: 0, isWhole: false },
		style: "",
	};
}

export function referencesFor(facts: PictureFacts, mapWkid: number): string[] {
	const { references, boxes } = facts;
	// Every server supports this one, also where it lists none.
	if (references.length === 0) return ["EPSG:4326"];
	const preferred = [`EPSG:${mapWkid}`, "EPSG:4326", "CRS:84", "EPSG:3857"].filter((reference) =>
		references.includes(reference),
	);
	const projected = references.filter((reference) => wkidOf(reference) !== null);
	const located = boxes
		.map(({ reference }) => reference)
		.filter((reference) => references.includes(reference));
	return [...new Set([...preferred, ...projected, ...located])];
}

/** @param box west, south, east, north in the request's reference; as in the document if that is unknown */
export function pictureAddress(
	{ address, reference, isOlder, parameters }: PictureRequest,
	box: readonly number[],
	{ width, height }: { width: number; height: number },
): string {
	const [west, south, east, north] = box;
	const sides = isLatitudeFirst(reference, isOlder) ? [south, west, north, east] : box;
	return withParameters(address, {
		SERVICE: "WMS",
		REQUEST: "GetMap",
		...parameters,
		[isOlder ? "SRS" : "CRS"]: isOlder && reference === "CRS:84" ? "EPSG:4326" : reference,
		BBOX: sides.join(","),
		WIDTH: `${width}`,
		HEIGHT: `${height}`,
	});
}

/** At the equator, by which servers compute the scale of a picture in degrees (06-042, section 7.2.4.6.9). */
const metresPerDegree = 111_319.49;

/** The pixel of a scale denominator (06-042, section 7.2.4.6.9). */
const pixelMetres = 0.000_28;

/** A length in the unit of the reference. */
export function sideAtScale(reference: string, pixels: number, scale: number): number {
	return (pixels * pixelMetres * scale) / (isGeographic(reference) ? metresPerDegree : 1);
}

/** A scale denominator. */
export function scaleOfBox(reference: string, box: readonly number[], pixels: number): number {
	const [west = 0, , east = 0] = box;
	return ((east - west) * (isGeographic(reference) ? metresPerDegree : 1)) / pixels / pixelMetres;
}

export interface PictureFacts {
	version: string;
	isOlder: boolean;
	/** Address of GetMap; empty if the document has none. */
	address: string;
	formats: readonly string[];
	references: readonly string[];
	boxes: readonly ReferencedBox[];
	/** Dimensions without a default, whose value a request has to name. */
	dimensions: readonly Dimension[];
	fixed: CapabilitiesLayer["fixed"];
	/** Empty for the default style, which every server has to have. */
	style: string;
}

export interface PictureRequest {
	address: string;
	reference: string;
	isOlder: boolean;
	parameters: Readonly<Record<string, string>>;
}

interface PictureOptions {
	address: string;
	names: readonly (string | number)[];
	reference: string;
}

/**
 * The health check, the page's map and thereby the proofs send it.
 * @param facts null without a document: then version 1.3.0, for a PNG at the registered address
 */
export function pictureRequest(
	facts: PictureFacts | null,
	{ address, names, reference }: PictureOptions,
): PictureRequest {
	const isOlder = facts?.isOlder ?? false;
	const format = formatOf(facts?.formats ?? []);
	const dimensions = facts?.dimensions ?? [];
	return {
		address: addressIn(facts?.address ?? "", address),
		reference,
		isOlder,
		parameters: {
			VERSION: isOlder ? olderVersion(facts?.version ?? "") : "1.3.0",
			LAYERS: names.join(","),
			STYLES: facts?.style ?? "",
			FORMAT: format,
			...(!/jpe?g/i.test(format) && { TRANSPARENT: "TRUE" }),
			...Object.fromEntries(dimensions.map(({ parameter, last }) => [parameter, last])),
		},
	};
}

/** Without a valid one in the document, that of the service. */
function addressIn(text: string, address: string): string {
	if (text === "" || !URL.canParse(text, address)) return address;
	const { protocol, href } = new URL(text, address);
	return protocol === "http:" || protocol === "https:" ? href : address;
}

function olderVersion(version: string): string {
	return /^1\.1\.\d$/.test(version) ? version : "1.1.1";
}

/** The best first. */
const formats = [
	/^image\/png$/i,
	/^image\/png\b/i,
	/^image\/(?!svg)\S*png/i,
	/^image\/(?:webp|gif|jpe?g)\b/i,
	/^image\/(?!svg)/i,
];

function formatOf(listed: readonly string[]): string {
	for (const pattern of formats) {
		const format = listed.find((name) => pattern.test(name));
		if (format !== undefined) return format;
	}
	return "image/png";
}
