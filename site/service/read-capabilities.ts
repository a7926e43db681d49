import type { CauseCode } from "../../registry/health.ts";
import { unionOf } from "./boxes.ts";
import { Capabilities, CapabilitiesLayer, listedNames, type OgcService, ownBox } from "./capabilities.ts";
import { BrokenParts, type Parts, textsOf, unzipped } from "./decode.ts";
import { addInnerScales, readMember, withFormats } from "./layer-members.ts";
import type { Bounds } from "./projections.ts";
import { createXmlReader, TreeBuilder, UnreadableXml, type XmlElement } from "./xml.ts";

/** Of a large document: characters of layers' texts, and names of other layers. */
const maxKept = 6_000_000;
const maxNames = 20_000;

/** Projecting the boxes of layers for their groups takes a while. */
const maxProjected = 200;

/** A program's warning may precede the root. */
const maxBeforeRoot = 100_000;

/** What the other members of a layer take in memory, in characters. */
const layerSize = 200;

export class NotCapabilities extends Error {
	constructor(
		readonly code: Extract<CauseCode, "unlike" | "exception" | "cut">,
		readonly words = "",
	) {
		super(code);
	}
}

const roots: Readonly<Record<OgcService, ReadonlySet<string>>> = {
	WMS: new Set(["WMS_Capabilities", "WMT_MS_Capabilities"]),
	WMTS: new Set(["Capabilities"]),
};
const exceptions = new Set(["ServiceExceptionReport", "ExceptionReport", "WMTException"]);

/** Outside of layers: elements with media types, and all that are read. */
const formatLists = new Map([
	["GetMap", "pictureFormats"],
	["GetFeatureInfo", "featureInfoFormats"],
	["GetLegendGraphic", "legendFormats"],
] as const);
const collected = new Set([...formatLists.keys(), "ServiceException", "Exception"]);

/** Elements are compared by local name, in any namespace. @param needed kept however large the document is */
function createBuilder(service: OgcService, needed: ReadonlySet<string>) {
	const capabilities = new Capabilities();
	/** `root` is empty until it has begun. */
	const read = { capabilities, root: "", exception: null as string | null };
	let tree: TreeBuilder | null = null;
	/** The innermost open one. */
	let layer: CapabilitiesLayer | null = null;
	let depth = 0;
	let kept = 0;
	let projected = 0;

	function open(name: string, attributes: XmlElement["attributes"]): void {
		depth += 1;
		if (depth === 1 && (roots[service].has(name) || exceptions.has(name))) begin(name, attributes);
		if (read.root === "") return;
		if (tree) tree.open(name, attributes);
		else if (name === "Layer") {
			layer = new CapabilitiesLayer(attributes, layer, depth);
			if (service === "WMS") capabilities.root ??= layer;
		} else if (layer ? depth === layer.depth + 1 : collected.has(name))
			tree = new TreeBuilder(name, attributes);
	}

	function text(more: string): void {
		tree?.text(more);
	}

	function close(): void {
		if (tree?.close()) {
			if (layer) readMember(layer, tree.root, service);
			else readElement(tree.root);
			tree = null;
		} else if (!tree && layer?.depth === depth) closeLayer(layer);
		depth -= 1;
	}

	function begin(name: string, attributes: XmlElement["attributes"]): void {
		const version = (attributes.version ?? "").trim();
		read.root = name;
		if (exceptions.has(name)) read.exception = "";
		capabilities.version = version;
		// Without a version, the name of the root decides (01-068r3, annex A.1).
		const isNewer = version === "" ? name === "WMS_Capabilities" : !/^(?:0|1\.[0-2])\b/.test(version);
		capabilities.isOlder = service === "WMS" && !isNewer;
	}

	function closeLayer(closed: CapabilitiesLayer): void {
		const { parent } = closed;
		layer = parent;
		if (parent) {
			parent.inner = unionOf(parent.inner, boxIn(closed));
			addInnerScales(parent, closed);
		}
		if (closed.name !== "") keep(closed);
	}

	function boxIn({ box, inner, referenced }: CapabilitiesLayer): Bounds | null {
		if (box || referenced.length === 0 || projected >= maxProjected) return box ?? inner;
		projected += 1;
		return ownBox({ box, referenced }, capabilities.isOlder) ?? inner;
	}

	function keep(closed: CapabilitiesLayer): void {
		const { layers, others } = capabilities;
		const { name, title, abstract, keywords } = closed;
		if (layers.has(name) || others.has(name)) return;
		capabilities.count += 1;
		const texts = [name, title.any, abstract.any, ...keywords.map(([, text]) => text)];
		const size = texts.reduce((sum, { length }) => sum + length, layerSize);
		if (kept + size <= maxKept || needed.has(name)) {
			kept += size;
			layers.set(name, closed);
		} else if (others.size < maxNames) others.add(name);
	}

	function readElement(element: XmlElement): void {
		const { name, text, attributes } = element;
		const formats = (formatLists as ReadonlyMap<string, "pictureFormats">).get(name);
		if (formats) capabilities[formats] = withFormats(capabilities[formats], element);
		if (name === "GetMap") capabilities.pictureAddress ||= addressIn(element);
		if (read.exception !== "" || !/Exception$/.test(name)) return;
		// Without a text, the code and the place of the exception.
		const { code, exceptionCode = code, locator } = attributes;
		read.exception = text.trim().slice(0, 2000) || [exceptionCode, locator].filter(Boolean).join(" ");
	}

	return { read, reader: createXmlReader({ open, text, close }) };
}

function addressIn({ name, attributes, children }: XmlElement): string {
	if (name === "OnlineResource" && attributes.href) return attributes.href.trim();
	if (name === "Post") return "";
	return children.map(addressIn).find(Boolean) ?? "";
}

/**
 * WMS 1.1.1 or 1.3.0 (OGC 01-068r3, 06-042) or WMTS 1.0.0 (07-057r7), part by part, without holding the
 * document.
 * @param names layers that are needed; a document that is not large is kept whole
 * @throws {NotCapabilities} for a service exception, for a document that is cut off, and for any other
 * document
 */
export async function readCapabilities(
	service: OgcService,
	parts: Parts,
	contentType: string,
	names: readonly string[] = [],
): Promise<Capabilities> {
	const { read, reader } = createBuilder(service, new Set(names.flatMap(listedNames)));
	try {
		let length = 0;
		for await (const text of textsOf(unzipped(parts), contentType)) {
			reader.write(text);
			length += text.length;
			if (read.root === "" && length > maxBeforeRoot) break;
		}
	} catch (error) {
		if (error instanceof UnreadableXml) throw new NotCapabilities("unlike");
		throw error instanceof BrokenParts ? new NotCapabilities("cut") : error;
	}
	if (read.exception !== null) throw new NotCapabilities("exception", read.exception);
	if (read.root === "") throw new NotCapabilities("unlike");
	// The missing part may have the layer, so the registration is not surely wrong.
	if (reader.path.length > 0) throw new NotCapabilities("cut");
	return read.capabilities;
}

/** Null for any other document. */
export async function exceptionIn(bytes: Uint8Array, contentType: string): Promise<string | null> {
	return readCapabilities("WMS", [bytes], contentType).then(
		() => null,
		(error) => (error instanceof NotCapabilities && error.code === "exception" ? error.words : null),
	);
}
