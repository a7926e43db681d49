import { SaxesParser, type SaxesTagPlain } from "saxes";
import { decodeXml } from "./decode-xml.ts";

/** The two kinds of services that list their layers in capabilities. */
export type OgcService = "WMS" | "WMTS";

/** Root elements of the capabilities of each kind. */
const roots: Record<OgcService, readonly string[]> = {
	WMS: ["WMS_Capabilities", "WMT_MS_Capabilities"],
	WMTS: ["Capabilities"],
};

/** A layer of a GetCapabilities answer that has a name. */
export interface CapabilitiesLayer {
	title: string;
	/** As it was sent: it may hold markup. */
	abstract: string;
	keywords: string[];
	queryable: boolean;
	/** Media types of the legends of its own styles; those of its parents' styles apply as well. */
	ownLegendFormats: string[];
	/** The layer around it. */
	parent: CapabilitiesLayer | null;
	/** Its own box; null where it has none, or none that is right. */
	box: Box | null;
}

/** A rectangle in longitude and latitude, in degrees. */
export interface Box {
	west: number;
	south: number;
	east: number;
	north: number;
}

/** The extent of a layer: its own box, else that of the nearest parent that has one (06-042, section 7.2.4.6.6); or null. */
export function boxOf(layer: CapabilitiesLayer): Box | null {
	let one: CapabilitiesLayer | null = layer;
	while (one && !one.box) one = one.parent;
	return one?.box ?? null;
}

/** A box of its west, south, east and north in degrees, as texts; null where it is none. */
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

/** What an OGC service says it offers. */
export interface Capabilities {
	/** The first layer of a WMS: the others lie in it. null where there is none. */
	root: CapabilitiesLayer | null;
	/** By name, in the order of the document; layers without a name cannot be requested, and are left out. */
	layers: Map<string, CapabilitiesLayer>;
	/** Media types of GetFeatureInfo. */
	featureInfoFormats: string[];
	/** Media types of GetLegendGraphic (Styled Layer Descriptor); empty where the service has none. */
	legendFormats: string[];
}

/** A GetCapabilities answer: what it offers, an exception's text, or neither where it is no such document. */
export type CapabilitiesAnswer =
	| { capabilities: Capabilities }
	| { capabilities: null; exception: string | null };

/** Deepest nesting of elements, longest text of one element, and most media types of one list, that are read. */
const maxDepth = 200;
const maxTextLength = 2000;
const maxAbstractLength = 16_000;
const maxFormats = 100;
const maxKeywords = 100;

/** Most errors of a document that is read all the same. */
const maxErrors = 1000;

/**
 * Reads a GetCapabilities answer, of WMS 1.1.1 or 1.3.0 (OGC 01-068r3, 06-042) or WMTS 1.0.0 (07-057r7), or a service
 * exception. Elements are known by their local names, whatever their namespace. No entity but XML's own five is expanded.
 */
export function parseCapabilities(
	bytes: Uint8Array,
	contentType: string,
	service: OgcService = "WMS",
): CapabilitiesAnswer {
	const reader = new Reader(service);
	const text = decodeXml(bytes, contentType);
	if (text === null) return { capabilities: null, exception: null };
	const parser = new SaxesParser({ xmlns: false });
	let errors = 0;
	// A document that is not quite well formed is still read. But each error costs what reading a page of it does.
	parser.on("error", () => {
		errors += 1;
		if (errors > maxErrors) throw new Unreadable();
	});
	parser.on("opentag", (tag) => reader.open(tag));
	parser.on("text", (part) => reader.text(part));
	parser.on("cdata", (part) => reader.text(part));
	parser.on("closetag", () => reader.close());
	try {
		parser.write(text).close();
	} catch (error) {
		if (!(error instanceof Unreadable)) throw error;
		return { capabilities: null, exception: null };
	}
	return reader.answer();
}

/** The document is nested too deep, or is no XML. */
class Unreadable extends Error {}

/** A `Layer` element while it is being read. */
interface OpenLayer extends CapabilitiesLayer {
	name: string;
}

/** Collects what matters while the parser walks the document. */
class Reader {
	readonly #path: string[] = [];
	readonly #open: OpenLayer[] = [];
	/** All layers, in the order in which they begin: a group comes before its layers. */
	readonly #layers: OpenLayer[] = [];
	readonly #service: OgcService;
	readonly #capabilities: Capabilities = {
		root: null,
		layers: new Map(),
		featureInfoFormats: [],
		legendFormats: [],
	};
	/** Element → text of the box that is being read. */
	readonly #sides = new Map<string, string>();
	#text = "";
	#exception: string | null = null;
	#root = "";

	constructor(service: OgcService) {
		this.#service = service;
	}

	open(tag: SaxesTagPlain): void {
		const local = tag.name.slice(tag.name.indexOf(":") + 1);
		if (this.#path.length === 0) this.#root = local;
		this.#path.push(local);
		if (this.#path.length > maxDepth) throw new Unreadable();
		this.#text = "";
		if (local === "Layer") this.#openLayer(tag);
		// The box of WMS 1.1.1 is in attributes (01-068r3, section 7.1.4.5.6).
		if (local === "LatLonBoundingBox")
			this.#setBox(["minx", "miny", "maxx", "maxy"].map((name) => tag.attributes[name] ?? ""));
	}

	text(part: string): void {
		const longest = this.#path.at(-1) === "Abstract" ? maxAbstractLength : maxTextLength;
		if (this.#text.length < longest) this.#text += part.slice(0, longest);
	}

	close(): void {
		const element = this.#path.pop() ?? "";
		const text = this.#text.trim();
		this.#text = "";
		const parent = this.#path.at(-1) ?? "";
		const layer = this.#open.at(-1);
		const side = (name: string) => this.#sides.get(name) ?? "";
		if (element === "EX_GeographicBoundingBox") this.#setBox(edges.map(side));
		// A corner of a WMTS: longitude and latitude with a space between them (06-121r9, section 10.2).
		if (element === "WGS84BoundingBox")
			this.#setBox(["LowerCorner", "UpperCorner"].flatMap((name) => side(name).split(/\s+/)));
		if (element === "Layer") this.#open.pop();
		else if (parent === "Layer" && layer) this.#readLayerElement(layer, element, text);
		else if (parent === "EX_GeographicBoundingBox" || parent === "WGS84BoundingBox")
			this.#sides.set(element, text);
		else if (element === "Keyword" && layer && this.#path.at(-2) === "Layer") readKeyword(layer, text);
		else if (element === "Format") this.#readFormat(parent, text, layer);
		else if (element === "ServiceException" || element === "ExceptionText") this.#exception ??= text;
	}

	answer(): CapabilitiesAnswer {
		if (roots[this.#service].includes(this.#root)) {
			for (const layer of this.#layers) this.#addLayer(layer);
			return { capabilities: this.#capabilities };
		}
		const isException = this.#root === "ServiceExceptionReport" || this.#root === "ExceptionReport";
		return { capabilities: null, exception: isException ? (this.#exception ?? "") : null };
	}

	/** A layer has the styles of its parent, and its `queryable` where it has none itself (06-042, table 6). */
	#openLayer(tag: SaxesTagPlain): void {
		const parent = this.#open.at(-1);
		const own = tag.attributes.queryable?.trim();
		const queryable = own === undefined ? (parent?.queryable ?? false) : own === "1" || own === "true";
		// Inherited members are not copied: a document can have tens of thousands of layers and styles.
		const texts = { name: "", title: "", abstract: "", keywords: [] };
		const layer = { ...texts, queryable, ownLegendFormats: [], parent: parent ?? null, box: null };
		if (this.#service === "WMS") this.#capabilities.root ??= layer;
		this.#open.push(layer);
		this.#layers.push(layer);
	}

	#setBox(texts: readonly string[]): void {
		const layer = this.#open.at(-1);
		if (layer) layer.box = readBox(texts) ?? layer.box;
		this.#sides.clear();
	}

	#addLayer(layer: OpenLayer): void {
		const { layers } = this.#capabilities;
		if (layer.name !== "" && !layers.has(layer.name)) layers.set(layer.name, layer);
	}

	/** A layer of a WMS may have an `Identifier`, too: its number in another list, not the name in requests. */
	#readLayerElement(layer: OpenLayer, element: string, text: string): void {
		if (element === (this.#service === "WMTS" ? "Identifier" : "Name")) layer.name = text;
		if (element === "Title") layer.title = text;
		if (element === "Abstract") layer.abstract = text;
	}

	#readFormat(parent: string, text: string, layer: OpenLayer | undefined): void {
		if (parent === "LegendURL" && layer) addFormat(layer.ownLegendFormats, text);
		if (parent === "GetFeatureInfo") addFormat(this.#capabilities.featureInfoFormats, text);
		if (parent === "GetLegendGraphic") addFormat(this.#capabilities.legendFormats, text);
	}
}

/** Names of the edges of a box in WMS 1.3.0. */
const edges = ["westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude"];

function readKeyword(layer: CapabilitiesLayer, text: string): void {
	if (text !== "" && layer.keywords.length < maxKeywords) layer.keywords.push(text);
}

function addFormat(formats: string[], format: string): void {
	if (formats.length < maxFormats && !formats.includes(format)) formats.push(format);
}
