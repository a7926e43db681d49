import { Trouble } from "../../../api/service/net/trouble.ts";
import { causeOf } from "../../../registry/causes.ts";
import type { Bounds } from "../../../site/data/entries.ts";
import { quote } from "../finding.ts";
import { parseXml, type XmlElement } from "./xml.ts";

/** The kinds of services that list their layers in capabilities. */
export type OgcService = "WMS" | "WMTS";

const roots: Record<OgcService, readonly string[]> = {
	WMS: ["WMS_Capabilities", "WMT_MS_Capabilities"],
	WMTS: ["Capabilities"],
};

/** A layer of a GetCapabilities answer that has a name. */
export interface CapabilitiesLayer {
	title: string;
	/** As sent: it may contain markup. */
	abstract: string;
	keywords: string[];
	queryable: boolean;
	/** Media types of the legends of its own styles. The legends of its parents' styles apply to it, too. */
	ownLegendFormats: string[];
	/** Members of the parent apply to it, but are not copied: a document can have tens of thousands of layers and styles. */
	parent: CapabilitiesLayer | null;
	/** Its own box; null if it has none, or an invalid one. */
	box: Bounds | null;
	/** Its own scale denominators, the smallest scale first; 0 is no bound, null if it has none. */
	scales: [min: number, max: number] | null;
}

/** The capabilities of an OGC service. */
export interface Capabilities {
	/** The first layer of a WMS, which contains the others; null if there is none. */
	root: CapabilitiesLayer | null;
	/** Name → layer, in the order of the document. Layers without a name cannot be requested, and are left out. */
	layers: Map<string, CapabilitiesLayer>;
	/** Media types of GetFeatureInfo. */
	featureInfoFormats: string[];
	/** Media types of GetLegendGraphic (Styled Layer Descriptor); empty if the service has no such request. */
	legendFormats: string[];
}

/** Characters of a name or title, and media types or keywords of a list. */
const maxTextLength = 2000;
const maxListed = 100;

/** A layer's box: its own, else that of the nearest parent with one (06-042, section 7.2.4.6.6); null if there is none. */
export function boxOf(layer: CapabilitiesLayer): Bounds | null {
	let one: CapabilitiesLayer | null = layer;
	while (one && !one.box) one = one.parent;
	return one?.box ?? null;
}

/** A layer's scales: its own, else those of the nearest parent with some (06-042, table 6); null if there are none. */
export function scalesOf(layer: CapabilitiesLayer): CapabilitiesLayer["scales"] {
	let one: CapabilitiesLayer | null = layer;
	while (one && !one.scales) one = one.parent;
	return one?.scales ?? null;
}

/** Media types of the legends of a layer's styles and of its parents' styles (06-042, table 6), each once. */
export function legendFormatsOf(layer: CapabilitiesLayer): string[] {
	const formats = new Set<string>();
	for (let one: CapabilitiesLayer | null = layer; one; one = one.parent) {
		for (const format of one.ownLegendFormats) formats.add(format);
	}
	return [...formats];
}

/**
 * Parses a GetCapabilities answer of WMS 1.1.1 or 1.3.0 (OGC 01-068r3, 06-042) or WMTS 1.0.0 (07-057r7). It compares
 * elements by local name, in any namespace.
 * @throws {Trouble} for a service exception, for a document that ends in the middle, and for any other document
 */
export function parseCapabilities(bytes: Uint8Array, contentType: string, service: OgcService): Capabilities {
	const document = parseXml(bytes, contentType);
	const exception = exceptionIn(document);
	if (exception !== null) throw new Trouble("down", causeOf("exception", quote(exception)));
	if (!document || !roots[service].includes(document.name))
		throw new Trouble("wrong", causeOf("not-ogc", service));
	// The missing part may have the layer, so it is not known whether the registration is wrong.
	if (document.isCut) throw new Trouble("down", causeOf("cut"));
	return readCapabilities(document, service);
}

/** The text of a service exception; null for any other document. @param root from `parseXml` */
export function exceptionIn(root: XmlElement | null): string | null {
	if (root?.name !== "ServiceExceptionReport" && root?.name !== "ExceptionReport") return null;
	const all = root.children.flatMap((element) => [element, ...element.children]);
	const text = all.find(({ name }) => name === "ServiceException" || name === "ExceptionText")?.text ?? "";
	return text.trim().slice(0, maxTextLength);
}

function readCapabilities(document: XmlElement, service: OgcService): Capabilities {
	const capabilities: Capabilities = {
		root: null,
		layers: new Map(),
		featureInfoFormats: [],
		legendFormats: [],
	};
	// A layer of a WMS may also have an `Identifier`, which is its number in another list and not its name in requests.
	const nameElement = service === "WMTS" ? "Identifier" : "Name";
	readChildren(document, null);
	return capabilities;

	function readChildren(element: XmlElement, parent: CapabilitiesLayer | null): void {
		for (const child of element.children) {
			if (child.name === "GetFeatureInfo") addFormats(capabilities.featureInfoFormats, child);
			else if (child.name === "GetLegendGraphic") addFormats(capabilities.legendFormats, child);
			else readChildren(child, child.name === "Layer" ? readLayer(child, parent) : parent);
		}
	}

	function readLayer(element: XmlElement, parent: CapabilitiesLayer | null): CapabilitiesLayer {
		const layer: CapabilitiesLayer = {
			title: textIn(element, "Title").slice(0, maxTextLength),
			abstract: textIn(element, "Abstract"),
			keywords: [],
			// Inherited, unless the layer has its own (06-042, table 6).
			queryable: /^\s*(?:1|true)\s*$/.test(element.attributes.queryable ?? String(parent?.queryable)),
			ownLegendFormats: [],
			parent,
			box: element.children.map(readBox).findLast((box) => box !== null) ?? null,
			scales: readScales(element),
		};
		for (const { children } of element.children) {
			for (const child of children) {
				if (child.name === "Keyword") addTo(layer.keywords, child.text);
				if (child.name === "LegendURL") addFormats(layer.ownLegendFormats, child);
			}
		}
		const name = textIn(element, nameElement).slice(0, maxTextLength);
		if (name !== "" && !capabilities.layers.has(name)) capabilities.layers.set(name, layer);
		if (service === "WMS") capabilities.root ??= layer;
		return layer;
	}
}

/** The text of the first child with a name; empty if there is none. */
function textIn({ children }: XmlElement, name: string): string {
	return children.find((child) => child.name === name)?.text.trim() ?? "";
}

function addFormats(formats: string[], { children }: XmlElement): void {
	for (const { name, text } of children) if (name === "Format") addTo(formats, text);
}

/** Adds a text to a list, unless the list has it already, or is full. */
function addTo(list: string[], text: string): void {
	const value = text.trim().slice(0, maxTextLength);
	if (value !== "" && list.length < maxListed && !list.includes(value)) list.push(value);
}

/** A box's elements in WMS 1.3.0, and its attributes in WMS 1.1.1 (01-068r3, section 7.1.4.5.6). */
const edges = ["westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude"];
const attributes = ["minx", "miny", "maxx", "maxy"];

/** Reads the box of an element; null if it has none, or an invalid one. */
function readBox(element: XmlElement): Bounds | null {
	let texts: string[] = [];
	if (element.name === "EX_GeographicBoundingBox") texts = edges.map((name) => textIn(element, name));
	if (element.name === "LatLonBoundingBox") texts = attributes.map((name) => element.attributes[name] ?? "");
	// In a WMTS a corner is longitude and latitude, separated by a space (06-121r9, section 10.2).
	if (element.name === "WGS84BoundingBox")
		texts = ["LowerCorner", "UpperCorner"].flatMap((name) => textIn(element, name).split(/\s+/));
	// An empty text is no number.
	const [west = NaN, south = NaN, east = NaN, north = NaN] = texts.map((text) => Number(text.trim() || NaN));
	const isRight = west < east && south < north && west >= -360 && east <= 360 && south >= -90 && north <= 90;
	return isRight ? [west, south, east, north] : null;
}

/** Metres of the diagonal of a pixel of 0.28 mm: a `ScaleHint` is such a diagonal on the ground (01-068r3, section 7.1.4.5.8). */
const pixelDiagonal = 0.00028 * Math.SQRT2;

/** Reads the scales of an element; null if it has none. */
function readScales(element: XmlElement): CapabilitiesLayer["scales"] {
	const { min, max } = element.children.find(({ name }) => name === "ScaleHint")?.attributes ?? {};
	const hints = [max, min].map((text) => Math.round(Number(text ?? 0) / pixelDiagonal));
	const named = ["MaxScaleDenominator", "MinScaleDenominator"].map((name) => Number(textIn(element, name)));
	const numbers = hints.map((hint, at) => named[at] || hint);
	const [smallest = 0, largest = 0] = numbers.map((one) => (one > 0 && one < 1e9 ? one : 0));
	return smallest > 0 || largest > 0 ? [smallest, largest] : null;
}
