import type { CauseCode } from "../data/health.ts";
import { unionOf } from "./boxes.ts";
import { Capabilities, CapabilitiesLayer, listedNames, type OgcService, ownBox } from "./capabilities.ts";
import { decodeParts } from "./document-text.ts";
import { BrokenParts, type Parts, unzip } from "./gzip.ts";
import { addInnerScales, readMember, withFormats } from "./layer-members.ts";
import type { Bounds } from "./projections.ts";
import { TreeBuilder, UnreadableXml, type XmlElement, XmlReader } from "./xml.ts";

/** A large document keeps so many characters of layers, and names of other layers. */
const maxKept = 6_000_000;
const maxNames = 20_000;

/** Projecting boxes takes long. */
const maxProjected = 200;

/** A program's warning may precede the root. */
const maxBeforeRoot = 100_000;

/** What a layer's other members take, in characters. */
const layerSize = 200;

export class NotCapabilities extends Error {
	constructor(
		readonly code: Extract<CauseCode, "unlike" | "exception" | "cut">,
		readonly words = "",
	) {
		super(code);
	}
}

const roots = { WMS: ["WMS_Capabilities", "WMT_MS_Capabilities"], WMTS: ["Capabilities"] };
const exceptions = ["ServiceExceptionReport", "ExceptionReport", "WMTException"];

const collected = new Set(["GetMap", "GetFeatureInfo", "GetLegendGraphic", "ServiceException", "Exception"]);

/** Elements are compared by local name, in any namespace. */
class Builder {
	readonly capabilities = new Capabilities();
	root = "";
	exception: string | null = null;
	#tree: TreeBuilder | null = null;
	#layer: CapabilitiesLayer | null = null;
	#depth = 0;
	#kept = 0;
	#projected = 0;

	constructor(
		readonly service: OgcService,
		readonly needed: ReadonlySet<string>,
	) {}

	open(name: string, attributes: XmlElement["attributes"]): void {
		this.#depth += 1;
		if (this.#depth === 1) this.#begin(name, attributes.version?.trim() ?? "");
		if (this.root === "") return;
		if (this.#tree) return this.#tree.open(name, attributes);
		const layer = this.#layer;
		if (name === "Layer") {
			this.#layer = new CapabilitiesLayer(attributes, layer, this.#depth);
			if (this.service === "WMS") this.capabilities.root ??= this.#layer;
		} else if (layer ? this.#depth === layer.depth + 1 : collected.has(name))
			this.#tree = new TreeBuilder(name, attributes);
	}

	text(text: string): void {
		this.#tree?.text(text);
	}

	close(): void {
		const tree = this.#tree;
		const layer = this.#layer;
		if (tree?.close()) {
			if (layer) readMember(layer, tree.root, this.service);
			else this.#readElement(tree.root);
			this.#tree = null;
		} else if (!tree && layer?.depth === this.#depth) this.#closeLayer(layer);
		this.#depth -= 1;
	}

	#begin(name: string, version: string) {
		const isException = exceptions.includes(name);
		if (!isException && !roots[this.service].includes(name)) return;
		this.root = name;
		if (isException) this.exception = "";
		this.capabilities.version = version;
		// Without a version, the name of the root decides (01-068r3, annex A.1).
		const isNewer = version === "" ? name === "WMS_Capabilities" : !/^(?:0|1\.[0-2])\b/.test(version);
		this.capabilities.isOlder = this.service === "WMS" && !isNewer;
	}

	#closeLayer(layer: CapabilitiesLayer) {
		const { parent } = layer;
		this.#layer = parent;
		if (parent) {
			parent.inner = unionOf(parent.inner, this.#boxIn(layer));
			addInnerScales(parent, layer);
		}
		if (layer.name !== "") this.#keep(layer);
	}

	#boxIn({ box, inner, referenced }: CapabilitiesLayer): Bounds | null {
		if (box || referenced.length === 0 || this.#projected >= maxProjected) return box ?? inner;
		this.#projected += 1;
		return ownBox({ box, referenced }, this.capabilities.isOlder) ?? inner;
	}

	#keep(layer: CapabilitiesLayer) {
		const { layers, others } = this.capabilities;
		const { name, title, abstract, keywords } = layer;
		if (layers.has(name) || others.has(name)) return;
		this.capabilities.count += 1;
		const texts = [name, title.any, abstract.any, ...keywords.map(([, text]) => text)];
		const size = texts.join("").length + layerSize;
		if (this.#kept + size <= maxKept || this.needed.has(name)) {
			this.#kept += size;
			layers.set(name, layer);
		} else if (others.size < maxNames) others.add(name);
	}

	#readElement(element: XmlElement) {
		const { capabilities } = this;
		const { name, text, attributes } = element;
		if (name === "GetMap") {
			capabilities.pictureFormats = withFormats(capabilities.pictureFormats, element);
			capabilities.pictureAddress ||= addressIn(element);
		}
		if (name === "GetFeatureInfo")
			capabilities.featureInfoFormats = withFormats(capabilities.featureInfoFormats, element);
		if (name === "GetLegendGraphic")
			capabilities.legendFormats = withFormats(capabilities.legendFormats, element);
		if (this.exception !== "" || !/Exception$/.test(name)) return;
		const { code, exceptionCode = code, locator } = attributes;
		this.exception = text.trim().slice(0, 2000) || [exceptionCode, locator].filter(Boolean).join(" ");
	}
}

function addressIn({ name, attributes, children }: XmlElement): string {
	if (name === "OnlineResource" && attributes.href) return attributes.href.trim();
	if (name === "Post") return "";
	return children.map(addressIn).find(Boolean) ?? "";
}

/**
 * WMS 1.1.1 or 1.3.0 (OGC 01-068r3, 06-042) or WMTS 1.0.0 (07-057r7), without holding the document.
 * @param names layers that are kept however large the document is
 * @throws {NotCapabilities} also for an exception, and for a document that is cut off
 */
export async function readCapabilities(
	service: OgcService,
	parts: Parts,
	contentType: string,
	names: readonly string[] = [],
): Promise<Capabilities> {
	const builder = new Builder(service, new Set(names.flatMap(listedNames)));
	const reader = new XmlReader(builder);
	try {
		let length = 0;
		for await (const text of decodeParts(unzip(parts), contentType)) {
			reader.write(text);
			length += text.length;
			if (builder.root === "" && length > maxBeforeRoot) break;
		}
	} catch (error) {
		if (error instanceof UnreadableXml) throw new NotCapabilities("unlike");
		throw error instanceof BrokenParts ? new NotCapabilities("cut") : error;
	}
	const { root, exception, capabilities } = builder;
	if (exception !== null) throw new NotCapabilities("exception", exception);
	if (root === "") throw new NotCapabilities("unlike");
	// The missing part may have the layer.
	if (reader.path.length > 0) throw new NotCapabilities("cut");
	return capabilities;
}

/** Null for any other document. */
export async function exceptionIn(bytes: Uint8Array, contentType: string): Promise<string | null> {
	return readCapabilities("WMS", [bytes], contentType).then(
		() => null,
		(error) => (error instanceof NotCapabilities && error.code === "exception" ? error.words : null),
	);
}
