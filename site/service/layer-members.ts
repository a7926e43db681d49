import { type Lang, langs } from "../../registry/smallkey.ts";
import { numberIn, readGeographicBox, readReferencedBox, referenceOf, wkidOf } from "./boxes.ts";
import type { CapabilitiesLayer, Dimension, OgcService, Scales, Texts } from "./capabilities.ts";
import type { XmlElement } from "./tree.ts";

/** Characters of a name or title, and entries of a list. */
const maxTextLength = 2000;
const maxListed = 100;

/** References of a layer that cannot be projected, boxes in references, and different scales of a group. */
const maxOthers = 10;

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A copy of a text without the text of which it is a part, which would stay in memory otherwise. */
function copied(text: string): string {
	return decoder.decode(encoder.encode(text));
}

/** The text of an element that is kept. */
function textOf({ text }: XmlElement, maxLength = maxTextLength): string {
	return copied(text.trim().slice(0, maxLength));
}

/** The language of an element; empty if it names none, or another one (ISO 639: `fr`, `fra` or `fre`). */
function langOf({ attributes }: XmlElement): Lang | "" {
	const code = attributes.lang?.toLowerCase() ?? "";
	return langs.find((lang) => code.startsWith(lang)) ?? "";
}

function addText(texts: Texts, element: XmlElement, maxLength?: number): void {
	const text = textOf(element, maxLength);
	const lang = langOf(element);
	// A text without a language is for all others.
	const isTagged = texts.any === "" || texts.any === texts.en || texts.any === texts.fr;
	if (isTagged && (texts.any === "" || element.attributes.lang === undefined)) texts.any = text;
	if (lang !== "") texts[lang] ??= text;
}

/** Adds a text to a list, unless it is there already, or the list is full. */
export function addTo(list: string[], text: string, maxLength = maxListed): void {
	const value = copied(text.trim().slice(0, maxTextLength));
	if (value !== "" && list.length < maxLength && !list.includes(value)) list.push(value);
}

/** Adds the texts of the elements `Format` of a request or a style. */
export function addFormats(formats: string[], { children }: XmlElement): void {
	for (const { name, text } of children) if (name === "Format") addTo(formats, text);
}

/** A layer that has nothing yet but the attributes of its element. */
export function emptyLayer(
	attributes: XmlElement["attributes"],
	parent: CapabilitiesLayer | null,
): CapabilitiesLayer {
	const isSet = (name: string) => /^\s*(?:1|true)\s*$/.test(attributes[name] ?? "");
	const sizeOf = (name: "width" | "height") => {
		const side = numberIn(attributes[name === "width" ? "fixedWidth" : "fixedHeight"]);
		return side > 0 && side <= 10_000 ? Math.round(side) : (parent?.fixed[name] ?? 0);
	};
	return {
		title: { any: "" },
		abstract: { any: "" },
		keywords: [],
		// Inherited, unless the layer has its own (06-042, table 6).
		queryable: attributes.queryable === undefined ? (parent?.queryable ?? false) : isSet("queryable"),
		ownLegendFormats: [],
		parent,
		...{ box: null, referenced: [], inner: null, scales: null, innerScales: [] },
		...{ references: [], dimensions: [] },
		fixed: {
			width: sizeOf("width"),
			height: sizeOf("height"),
			isWhole: attributes.noSubsets === undefined ? (parent?.fixed.isWhole ?? false) : isSet("noSubsets"),
		},
	};
}

/**
 * Reads one child of a layer's element.
 * @returns the layer's name, if the child has it: in a WMS an `Identifier` is its number in another list
 */
export function readMember(layer: CapabilitiesLayer, element: XmlElement, service: OgcService): string {
	const { name, children } = element;
	if (name === (service === "WMTS" ? "Identifier" : "Name")) return textOf(element);
	if (name === "Title") addText(layer.title, element);
	if (name === "Abstract") addText(layer.abstract, element, 16_000);
	if (name === "CRS" || name === "SRS")
		for (const text of element.text.split(/\s+/)) addReference(layer, text);
	if (name === "Dimension" || name === "Extent") readDimension(layer, element);
	if (/Scale/.test(name)) readScale(layer, element);
	layer.box = readGeographicBox(element) ?? layer.box;
	const referenced = layer.referenced.length < maxOthers && readReferencedBox(element);
	if (referenced) layer.referenced.push(referenced);
	for (const child of children) {
		if (child.name === "Keyword") addKeyword(layer, child);
		if (child.name === "LegendURL") addFormats(layer.ownLegendFormats, child);
	}
	return "";
}

function addKeyword({ keywords }: CapabilitiesLayer, element: XmlElement): void {
	const [lang, text] = [langOf(element), textOf(element)];
	const isKnown = keywords.some((known) => known[0] === lang && known[1] === text);
	if (text !== "" && keywords.length < maxListed && !isKnown) keywords.push([lang, text]);
}

function addReference({ references }: CapabilitiesLayer, text: string): void {
	const reference = referenceOf(text);
	if (reference !== "") addTo(references, reference, wkidOf(reference) === null ? maxOthers : maxListed);
}

/** Metres of the diagonal of a pixel of 0.28 mm: a `ScaleHint` is such a diagonal on the ground (01-068r3, section 7.1.4.5.8). */
const pixelDiagonal = 0.00028 * Math.SQRT2;

/** Reads a bound of a layer's scales, or its hint, which does not replace a bound. */
function readScale(layer: CapabilitiesLayer, { name, text, attributes }: XmlElement): void {
	const bound = (value: number) => (value > 0 && value < 1e9 ? value : 0);
	const known: Scales = layer.scales ?? { smallest: 0, largest: 0, isHint: false };
	if (name === "MaxScaleDenominator" || name === "MinScaleDenominator") {
		const value = bound(numberIn(text));
		if (value === 0) return;
		const exact = known.isHint ? { smallest: 0, largest: 0 } : known;
		layer.scales = {
			...exact,
			[name === "MaxScaleDenominator" ? "smallest" : "largest"]: value,
			isHint: false,
		};
	}
	if (name !== "ScaleHint" || layer.scales) return;
	const [smallest = 0, largest = 0] = [attributes.max, attributes.min].map((hint) =>
		bound(Math.round(numberIn(hint) / pixelDiagonal)),
	);
	if (smallest > 0 || largest > 0) layer.scales = { smallest, largest, isHint: true };
}

/** Reads a dimension: in WMS 1.1.1 its values and its default are in an `Extent` (01-068r3, annex C). */
function readDimension({ dimensions }: CapabilitiesLayer, { text, attributes }: XmlElement): void {
	const name = (attributes.name ?? "").trim().toLowerCase();
	if (name === "" || dimensions.length >= maxOthers) return;
	const known = dimensions.find((one) => one.name === name);
	const dimension: Dimension = known ?? {
		parameter: parameterOf(name),
		name: copied(name),
		hasDefault: false,
		last: "",
	};
	if (!known) dimensions.push(dimension);
	if ((attributes.default ?? "").trim() !== "") dimension.hasDefault = true;
	// Values are separated by commas; an interval is `first/last/step` (06-042, annex C).
	const last = (text.split(",").findLast((value) => value.trim() !== "") ?? "").trim().split("/");
	const value = (last.length > 1 ? last[1] : last[0])?.trim() ?? "";
	if (value !== "") dimension.last = copied(value.slice(0, maxListed));
}

function parameterOf(name: string): string {
	return name === "time" || name === "elevation"
		? name.toUpperCase()
		: `DIM_${name.replace(/^dim_/, "").toUpperCase()}`;
}

/** Adds the scales of a layer to those of the group around it. */
export function addInnerScales(group: CapabilitiesLayer, { scales, innerScales }: CapabilitiesLayer): void {
	for (const one of scales ? [scales] : innerScales) {
		const isKnown = group.innerScales.some(
			(known) => known.smallest === one.smallest && known.largest === one.largest,
		);
		if (!isKnown && group.innerScales.length < maxOthers) group.innerScales.push(one);
	}
}
