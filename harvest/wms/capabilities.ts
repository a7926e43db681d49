import { SaxesParser, type SaxesTagNS } from "saxes";

/** A layer that can be asked for, out of a GetCapabilities answer. */
export interface CapabilitiesLayer {
	title: string;
	queryable: boolean;
	/** Media types of the legends of its styles and of its parents' styles. */
	legendFormats: string[];
}

/** What a WMS says it offers. */
export interface Capabilities {
	/** By name; layers without a name cannot be asked for, and are left out. */
	layers: Map<string, CapabilitiesLayer>;
	/** Media types of GetFeatureInfo. */
	featureInfoFormats: string[];
	/** Media types of GetLegendGraphic (Styled Layer Descriptor); empty where the service has none. */
	legendFormats: string[];
}

/** A GetCapabilities answer: what it offers, an exception's text, or neither where it is no WMS document. */
export type CapabilitiesAnswer =
	| { capabilities: Capabilities }
	| { capabilities: null; exception: string | null };

/** Deepest nesting of elements, and longest text of one element, that are read. */
const maxDepth = 200;
const maxTextLength = 2000;

/**
 * Reads a GetCapabilities answer, of WMS 1.1.1 or 1.3.0 (OGC 01-068r3, 06-042), or a service exception. Elements are
 * known by their local names, whatever their namespace. No entity but XML's own five is expanded.
 */
export function parseCapabilities(bytes: Uint8Array, contentType: string): CapabilitiesAnswer {
	const reader = new Reader();
	const text = decodeXml(bytes, contentType);
	if (text === null) return { capabilities: null, exception: null };
	const parser = new SaxesParser({ xmlns: true });
	// A document that is not quite well formed is still read: it is the service's fault, and nobody's business here.
	parser.on("error", () => {});
	parser.on("opentag", (tag) => reader.open(tag));
	parser.on("text", (part) => reader.text(part));
	parser.on("cdata", (part) => reader.text(part));
	parser.on("closetag", () => reader.close());
	try {
		parser.write(text).close();
	} catch (error) {
		if (!(error instanceof TooDeep)) throw error;
		return { capabilities: null, exception: null };
	}
	return reader.answer();
}

/**
 * The text of an XML document: by byte order mark, else by the encoding of its content type, else by that of its
 * declaration, else UTF-8 (RFC 7303, section 3). null where the encoding is not known.
 */
export function decodeXml(bytes: Uint8Array, contentType: string): string | null {
	const start = new TextDecoder("latin1").decode(bytes.subarray(0, 200));
	const declared = /^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1];
	const sent = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
	const label = markOf(bytes) ?? sent ?? declared ?? "utf-8";
	try {
		return new TextDecoder(label).decode(bytes);
	} catch {
		return null;
	}
}

function markOf(bytes: Uint8Array): string | null {
	if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
	if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
	return null;
}

class TooDeep extends Error {}

/** A `Layer` element while it is read. */
interface OpenLayer extends CapabilitiesLayer {
	name: string;
}

/** Collects what matters while the parser walks the document. */
class Reader {
	readonly #path: string[] = [];
	readonly #open: OpenLayer[] = [];
	readonly #capabilities: Capabilities = { layers: new Map(), featureInfoFormats: [], legendFormats: [] };
	#text = "";
	#exception: string | null = null;
	#root = "";

	open(tag: SaxesTagNS): void {
		if (this.#path.length === 0) this.#root = tag.local;
		this.#path.push(tag.local);
		if (this.#path.length > maxDepth) throw new TooDeep();
		this.#text = "";
		if (tag.local === "Layer") this.#openLayer(tag);
	}

	text(part: string): void {
		if (this.#text.length < maxTextLength) this.#text += part.slice(0, maxTextLength);
	}

	close(): void {
		const element = this.#path.pop() ?? "";
		const text = this.#text.trim();
		this.#text = "";
		const parent = this.#path.at(-1) ?? "";
		const layer = this.#open.at(-1);
		if (element === "Layer") this.#closeLayer();
		else if (parent === "Layer" && layer) readLayerElement(layer, element, text);
		else if (element === "Format") this.#readFormat(parent, text, layer);
		else if (element === "ServiceException" || element === "ExceptionText") this.#exception ??= text;
	}

	answer(): CapabilitiesAnswer {
		if (this.#root === "WMS_Capabilities" || this.#root === "WMT_MS_Capabilities") {
			return { capabilities: this.#capabilities };
		}
		const isException = this.#root === "ServiceExceptionReport" || this.#root === "ExceptionReport";
		return { capabilities: null, exception: isException ? (this.#exception ?? "") : null };
	}

	/** A layer has the styles of its parent, and its `queryable` where it has none itself (06-042, table 6). */
	#openLayer(tag: SaxesTagNS): void {
		const parent = this.#open.at(-1);
		const own = tag.attributes.queryable?.value.trim();
		const queryable = own === undefined ? (parent?.queryable ?? false) : own === "1" || own === "true";
		this.#open.push({ name: "", title: "", queryable, legendFormats: [...(parent?.legendFormats ?? [])] });
	}

	#closeLayer(): void {
		const layer = this.#open.pop();
		if (!layer || layer.name === "") return;
		const { name, ...rest } = layer;
		if (!this.#capabilities.layers.has(name)) this.#capabilities.layers.set(name, rest);
	}

	#readFormat(parent: string, text: string, layer: OpenLayer | undefined): void {
		if (parent === "LegendURL") layer?.legendFormats.push(text);
		if (parent === "GetFeatureInfo") this.#capabilities.featureInfoFormats.push(text);
		if (parent === "GetLegendGraphic") this.#capabilities.legendFormats.push(text);
	}
}

function readLayerElement(layer: OpenLayer, element: string, text: string): void {
	if (element === "Name") layer.name = text;
	if (element === "Title") layer.title = text;
}
