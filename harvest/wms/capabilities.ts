import { SaxesParser, type SaxesTagPlain } from "saxes";
import { decodeXml } from "./decode-xml.ts";

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
	parent: CapabilitiesLayer | null;
	/** Its own box; null if it has none, or an invalid one. */
	box: Box | null;
}

/** A rectangle in longitude and latitude, in degrees. */
export interface Box {
	west: number;
	south: number;
	east: number;
	north: number;
}

/** A layer's box: its own, else that of the nearest parent with one (06-042, section 7.2.4.6.6); null if there is none. */
export function boxOf(layer: CapabilitiesLayer): Box | null {
	let one: CapabilitiesLayer | null = layer;
	while (one && !one.box) one = one.parent;
	return one?.box ?? null;
}

/** Parses a box from west, south, east and north in degrees; null if it is invalid. */
function readBox(texts: readonly string[]): Box | null {
	const [west = NaN, south = NaN, east = NaN, north = NaN] = texts.map((text) => {
		return text.trim() === "" ? NaN : Number(text);
	});
	const isRight = west < east && south < north && west >= -360 && east <= 360 && south >= -90 && north <= 90;
	return isRight ? { west, south, east, north } : null;
}

/** Media types of the legends of a layer's styles and of its parents' styles (06-042, table 6), each once. */
export function legendFormatsOf(layer: CapabilitiesLayer): string[] {
	const formats = new Set<string>();
	for (let one: CapabilitiesLayer | null = layer; one; one = one.parent) {
		for (const format of one.ownLegendFormats) formats.add(format);
	}
	return [...formats];
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

/** A parsed answer: the capabilities, or an exception's text. Both are null if it is another document. */
export type CapabilitiesAnswer =
	| { capabilities: Capabilities }
	| { capabilities: null; exception: string | null };

/** Limits: nesting of elements, characters of an element's text, media types of a list, keywords of a layer. */
const maxDepth = 200;
const maxTextLength = 2000;
const maxAbstractLength = 16_000;
const maxFormats = 100;
const maxKeywords = 100;

/** Errors in a document that are tolerated. */
const maxErrors = 1000;

/**
 * Parses a GetCapabilities answer of WMS 1.1.1 or 1.3.0 (OGC 01-068r3, 06-042) or WMTS 1.0.0 (07-057r7), or a service
 * exception. It compares elements by local name, in any namespace. It expands only the five entities of XML itself.
 */
export function parseCapabilities(
	bytes: Uint8Array,
	contentType: string,
	service: OgcService = "WMS",
): CapabilitiesAnswer {
	const unreadable = { capabilities: null, exception: null };
	const text = decodeXml(bytes, contentType);
	if (text === null) return unreadable;
	const reader = createReader(service);
	const parser = new SaxesParser({ xmlns: false });
	let errors = 0;
	// A document that is not quite well formed is still parsed. The limit is there because each error costs much time.
	parser.on("error", () => {
		errors += 1;
		if (errors > maxErrors) throw new Unreadable();
	});
	parser.on("opentag", reader.open);
	parser.on("text", reader.text);
	parser.on("cdata", reader.text);
	parser.on("closetag", reader.close);
	try {
		parser.write(text).close();
	} catch (error) {
		if (!(error instanceof Unreadable)) throw error;
		return unreadable;
	}
	return reader.answer();
}

/** The document is nested too deep, or has too many errors. */
class Unreadable extends Error {}

/** A `Layer` element while it is being read. */
interface OpenLayer extends CapabilitiesLayer {
	name: string;
}

/** A box's elements in WMS 1.3.0, and its attributes in WMS 1.1.1 (01-068r3, section 7.1.4.5.6). */
const edges = ["westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude"];
const attributes = ["minx", "miny", "maxx", "maxy"];

/** Creates the handlers that collect the capabilities while the parser reads the document. */
function createReader(service: OgcService) {
	const path: string[] = [];
	const openLayers: OpenLayer[] = [];
	/** All layers, in the order of their start tags: a group comes before its layers. */
	const layers: OpenLayer[] = [];
	const capabilities: Capabilities = {
		root: null,
		layers: new Map(),
		featureInfoFormats: [],
		legendFormats: [],
	};
	/** Element → text, for the elements of the current box. */
	const sides = new Map<string, string>();
	let textOfElement = "";
	let exception: string | null = null;
	let root = "";

	function open(tag: SaxesTagPlain): void {
		const local = tag.name.slice(tag.name.indexOf(":") + 1);
		if (path.length === 0) root = local;
		path.push(local);
		if (path.length > maxDepth) throw new Unreadable();
		textOfElement = "";
		if (local === "Layer") openLayer(tag);
		if (local === "LatLonBoundingBox") setBox(attributes.map((name) => tag.attributes[name] ?? ""));
	}

	function text(part: string): void {
		const maxLength = path.at(-1) === "Abstract" ? maxAbstractLength : maxTextLength;
		if (textOfElement.length < maxLength) textOfElement += part.slice(0, maxLength);
	}

	function close(): void {
		const element = path.pop() ?? "";
		const text = textOfElement.trim();
		textOfElement = "";
		const parent = path.at(-1) ?? "";
		const layer = openLayers.at(-1);
		const side = (name: string) => sides.get(name) ?? "";
		if (element === "EX_GeographicBoundingBox") setBox(edges.map(side));
		// In a WMTS a corner is longitude and latitude, separated by a space (06-121r9, section 10.2).
		if (element === "WGS84BoundingBox")
			setBox(["LowerCorner", "UpperCorner"].flatMap((name) => side(name).split(/\s+/)));
		if (element === "Layer") openLayers.pop();
		else if (parent === "Layer" && layer) readLayerElement(layer, element, text);
		else if (parent === "EX_GeographicBoundingBox" || parent === "WGS84BoundingBox") sides.set(element, text);
		else if (element === "Keyword" && layer && path.at(-2) === "Layer") readKeyword(layer, text);
		else if (element === "Format") readFormat(parent, text, layer);
		else if (element === "ServiceException" || element === "ExceptionText") exception ??= text;
	}

	function answer(): CapabilitiesAnswer {
		if (!roots[service].includes(root)) {
			const isException = root === "ServiceExceptionReport" || root === "ExceptionReport";
			return { capabilities: null, exception: isException ? (exception ?? "") : null };
		}
		for (const layer of layers) {
			const { name } = layer;
			if (name !== "" && !capabilities.layers.has(name)) capabilities.layers.set(name, layer);
		}
		return { capabilities };
	}

	/** A layer inherits its parent's styles, and its `queryable` unless it has its own (06-042, table 6). */
	function openLayer(tag: SaxesTagPlain): void {
		const parent = openLayers.at(-1) ?? null;
		const own = tag.attributes.queryable?.trim();
		const queryable = own === undefined ? (parent?.queryable ?? false) : own === "1" || own === "true";
		// Inherited members are not copied: a document can have tens of thousands of layers and styles.
		const texts = { name: "", title: "", abstract: "", keywords: [] };
		const layer = { ...texts, queryable, ownLegendFormats: [], parent, box: null };
		if (service === "WMS") capabilities.root ??= layer;
		openLayers.push(layer);
		layers.push(layer);
	}

	function setBox(texts: readonly string[]): void {
		const layer = openLayers.at(-1);
		if (layer) layer.box = readBox(texts) ?? layer.box;
		sides.clear();
	}

	/** A layer of a WMS may also have an `Identifier`, which is its number in another list and not its name in requests. */
	function readLayerElement(layer: OpenLayer, element: string, text: string): void {
		if (element === (service === "WMTS" ? "Identifier" : "Name")) layer.name = text;
		if (element === "Title") layer.title = text;
		if (element === "Abstract") layer.abstract = text;
	}

	function readFormat(parent: string, text: string, layer: OpenLayer | undefined): void {
		if (parent === "LegendURL" && layer) addFormat(layer.ownLegendFormats, text);
		if (parent === "GetFeatureInfo") addFormat(capabilities.featureInfoFormats, text);
		if (parent === "GetLegendGraphic") addFormat(capabilities.legendFormats, text);
	}

	return { open, text, close, answer };
}

function readKeyword(layer: CapabilitiesLayer, text: string): void {
	if (text !== "" && layer.keywords.length < maxKeywords) layer.keywords.push(text);
}

function addFormat(formats: string[], format: string): void {
	if (formats.length < maxFormats && !formats.includes(format)) formats.push(format);
}
