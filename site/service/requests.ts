import { wkidOf } from "./boxes.ts";
import {
	anySize,
	Capabilities,
	type CapabilitiesLayer,
	type Dimension,
	type OgcService,
	withParents,
} from "./capabilities.ts";

/** Names have any case (06-042, section 6.8.1). ArcGIS Server does not read `+` as a space. */
export function withParameters(
	address: string,
	query: Readonly<Record<string, string>>,
	removed = /^$/,
): string {
	if (!URL.canParse(address)) return address;
	const url = new URL(address);
	const names = new Set(Object.keys(query).map((name) => name.toUpperCase()));
	for (const name of [...url.searchParams.keys()])
		if (names.has(name.toUpperCase()) || removed.test(name)) url.searchParams.delete(name);
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name.toUpperCase(), text);
	url.search = url.searchParams.toString().replaceAll("+", "%20");
	url.hash = "";
	return url.href;
}

const versions: Readonly<Record<OgcService, string>> = { WMS: "1.3.0", WMTS: "1.0.0" };

/**
 * A WMTS may be registered with the document's own address (07-057r7, section 10).
 * @param layer for services that can describe one layer alone
 */
export function capabilitiesAddress(
	service: OgcService,
	address: string,
	{ layer, hasVersion = true }: { layer?: string | undefined; hasVersion?: boolean } = {},
): string {
	if (!URL.canParse(address)) return address;
	if (service === "WMTS" && /\.xml$/i.test(new URL(address).pathname)) return address;
	const query = {
		service,
		request: "GetCapabilities",
		...(hasVersion && { version: versions[service] }),
		// GeoMet reads `layer`, and others read `layers`.
		...(layer !== undefined && { layer, layers: layer }),
	};
	return withParameters(address, query, hasVersion ? undefined : /^version$/i);
}

export type PictureFacts = ReturnType<typeof pictureFactsOf>;

export type PictureRequest = ReturnType<typeof pictureRequest>;

export function pictureFactsOf(capabilities: Capabilities, layer: CapabilitiesLayer | null) {
	const { version, isOlder, pictureAddress, pictureFormats, root } = capabilities;
	const innermost = layer ?? root;
	const line = innermost ? [...withParents(innermost)] : [];
	const dimensions = new Map<string, Dimension>();
	for (const dimension of line.toReversed().flatMap((part) => part.dimensions)) {
		const { name, hasDefault, last } = dimension;
		const around = dimensions.get(name);
		dimensions.set(name, {
			...dimension,
			hasDefault: hasDefault || (last === "" && around?.hasDefault === true),
			last: last || (around?.last ?? ""),
		});
	}
	return {
		version,
		isOlder,
		/** The address of GetMap; empty if the document has none. */
		address: pictureAddress,
		formats: pictureFormats,
		references: [...new Set(line.flatMap(({ references }) => references))],
		boxes: line.flatMap(({ referenced }) => referenced),
		/** Those without a default: a request has to name their value. */
		dimensions: [...dimensions.values()].filter(({ hasDefault, last }) => !hasDefault && last !== ""),
		fixed: layer?.fixed ?? anySize,
		/** Every server has a default style. */
		style: "",
	};
}

export function referencesFor({ references, boxes }: PictureFacts, mapWkid: number): string[] {
	// Every server supports this one.
	if (references.length === 0) return ["EPSG:4326"];
	const preferred = [`EPSG:${mapWkid}`, "EPSG:4326", "CRS:84", "EPSG:3857"];
	const projected = references.filter((reference) => wkidOf(reference) !== null);
	const located = boxes.map(({ reference }) => reference);
	const all = new Set([...preferred, ...projected, ...located]);
	return [...all].filter((reference) => references.includes(reference));
}

/** The pixel of a scale denominator (06-042, section 7.2.4.6.9). */
export const pixelMetres = 0.000_28;

/** The health check, the map and the proofs send it. @param facts null: version 1.3.0, and PNG */
export function pictureRequest(
	facts: PictureFacts | null,
	{ address, names, reference }: { address: string; names: readonly (string | number)[]; reference: string },
) {
	const { version, isOlder, formats, dimensions, style, ...document } = facts ?? withoutDocument;
	const [format = "image/png"] = bestFormats.flatMap((best) => formats.find((name) => best.test(name)) ?? []);
	const older = /^1\.1\.\d$/.test(version) ? version : "1.1.1";
	const { address: listed } = document;
	const href = listed !== "" && URL.canParse(listed, address) ? new URL(listed, address).href : "";
	return {
		address: /^https?:/.test(href) ? href : address,
		reference,
		isOlder,
		parameters: {
			VERSION: isOlder ? older : "1.3.0",
			LAYERS: names.join(","),
			STYLES: style,
			FORMAT: format,
			...(!/jpe?g/i.test(format) && { TRANSPARENT: "TRUE" }),
			...Object.fromEntries(dimensions.map(({ parameter, last }) => [parameter, last])),
		} as Record<string, string>,
	};
}

const withoutDocument = pictureFactsOf(new Capabilities(), null);

const bestFormats = [
	/^image\/png$/i,
	/^image\/png\b/i,
	/^image\/(?!svg)\S*png/i,
	/^image\/(?:webp|gif|jpe?g)\b/i,
	/^image\/(?!svg)/i,
];
