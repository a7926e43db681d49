import { type Lang, langs } from "../../registry/smallkey.ts";
import { numberIn, readGeographicBox, readReferencedBox, referenceOf, wkidOf } from "./boxes.ts";
import type { CapabilitiesLayer, Dimension, OgcService, Scales, Texts } from "./capabilities.ts";
import type { XmlElement } from "./xml.ts";

/** Characters of a name or title. */
const maxTextLength = 2000;
const maxAbstractLength = 16_000;
const maxListed = 100;

/** Unprojectable references, referenced boxes, dimensions, and scales of a group. */
const maxOthers = 10;

/** A part of the document's text would keep all of it in memory. */
function copy(text: string): string {
	return new TextDecoder().decode(new TextEncoder().encode(text));
}

function textOf({ text }: XmlElement, maxLength = maxTextLength): string {
	return copy(text.trim().slice(0, maxLength));
}

/** Empty for other languages (ISO 639: `fr`, `fra` or `fre`). */
function langOf({ attributes }: XmlElement): Lang | "" {
	const code = attributes.lang?.toLowerCase() ?? "";
	return langs.find((lang) => code.startsWith(lang)) ?? "";
}

function withText(texts: Texts, element: XmlElement, maxLength?: number): Texts {
	const text = textOf(element, maxLength);
	const lang = langOf(element);
	// A text without a language is for all other languages.
	const isTagged = texts.any === "" || texts.any === texts.en || texts.any === texts.fr;
	const any = isTagged && (texts.any === "" || element.attributes.lang === undefined) ? text : texts.any;
	return { ...texts, any, ...(lang !== "" && texts[lang] === undefined && { [lang]: text }) };
}

function withEntry(list: readonly string[], text: string, maxLength = maxListed): readonly string[] {
	const value = text.trim().slice(0, maxTextLength);
	return value === "" || list.length >= maxLength || list.includes(value) ? list : [...list, copy(value)];
}

export function withFormats(formats: readonly string[], { children }: XmlElement): readonly string[] {
	let all = formats;
	for (const { name, text } of children) if (name === "Format") all = withEntry(all, text);
	return all;
}

export function readMember(layer: CapabilitiesLayer, element: XmlElement, service: OgcService): void {
	const { name, children } = element;
	// In a WMS an `Identifier` is its number in another list.
	if (name === (service === "WMTS" ? "Identifier" : "Name")) layer.name ||= textOf(element);
	if (name === "Title") layer.title = withText(layer.title, element);
	if (name === "Abstract") layer.abstract = withText(layer.abstract, element, maxAbstractLength);
	if (name === "CRS" || name === "SRS")
		for (const reference of element.text.split(/\s+/).map(referenceOf)) {
			const maxLength = wkidOf(reference) === null ? maxOthers : maxListed;
			layer.references = withEntry(layer.references, reference, maxLength);
		}
	if (name === "Dimension" || name === "Extent") readDimension(layer, element);
	if (/Scale/.test(name)) readScale(layer, element);
	const style = name === "Style" && children.find((child) => /^(?:Name|Identifier)$/.test(child.name));
	if (style) layer.style ||= textOf(style);
	layer.box = readGeographicBox(element) ?? layer.box;
	const box = layer.referenced.length < maxOthers && readReferencedBox(element);
	if (box) layer.referenced = [...layer.referenced, { ...box, reference: copy(box.reference) }];
	for (const child of children) {
		if (child.name === "Keyword") addKeyword(layer, child);
		if (child.name === "LegendURL") layer.ownLegendFormats = withFormats(layer.ownLegendFormats, child);
	}
}

function addKeyword(layer: CapabilitiesLayer, element: XmlElement) {
	const { keywords } = layer;
	const [lang, text] = [langOf(element), textOf(element)];
	const isListed = keywords.some((keyword) => keyword[0] === lang && keyword[1] === text);
	if (text !== "" && keywords.length < maxListed && !isListed) layer.keywords = [...keywords, [lang, text]];
}

/** Metres. A pixel has 0.28 mm; a `ScaleHint` is its diagonal on the ground (01-068r3, section 7.1.4.5.8). */
const pixelDiagonal = 0.00028 * Math.SQRT2;

function readScale(layer: CapabilitiesLayer, { name, text, attributes }: XmlElement): void {
	const bound = (value: number) => (value > 0 && value < 1e9 ? value : 0);
	const unbounded: Scales = { smallest: 0, largest: 0, isHint: false };
	const before = layer.scales ?? unbounded;
	const member = name === "MaxScaleDenominator" ? "smallest" : "largest";
	const value = /^M(?:ax|in)ScaleDenominator$/.test(name) ? bound(numberIn(text)) : 0;
	if (value > 0) layer.scales = { ...(before.isHint ? unbounded : before), [member]: value };
	if (name !== "ScaleHint" || layer.scales) return;
	const [smallest = 0, largest = 0] = [attributes.max, attributes.min].map((hint) =>
		bound(Math.round(numberIn(hint) / pixelDiagonal)),
	);
	if (smallest > 0 || largest > 0) layer.scales = { smallest, largest, isHint: true };
}

const noDimension: Dimension = { parameter: "", name: "", hasDefault: false, last: "" };

/** WMS 1.1.1 has values and default of a dimension in an `Extent` (01-068r3, annex C). */
function readDimension(layer: CapabilitiesLayer, { text, attributes }: XmlElement): void {
	const { dimensions } = layer;
	const name = copy((attributes.name ?? "").trim().toLowerCase());
	if (name === "" || dimensions.length >= maxOthers) return;
	const before = dimensions.find((item) => item.name === name) ?? noDimension;
	// Values are separated by commas; an interval is `first/last/step` (06-042, annex C).
	const interval = (text.split(",").findLast((value) => value.trim() !== "") ?? "").split("/");
	const last = copy((interval[1] ?? interval[0] ?? "").trim().slice(0, maxListed));
	const dimension: Dimension = {
		parameter: /^(?:time|elevation)$/.test(name)
			? name.toUpperCase()
			: `DIM_${name.replace(/^dim_/, "").toUpperCase()}`,
		name,
		hasDefault: before.hasDefault || (attributes.default ?? "").trim() !== "",
		last: last || before.last,
	};
	layer.dimensions = [...dimensions.filter((item) => item !== before), dimension];
}

export function addInnerScales(group: CapabilitiesLayer, { scales, innerScales }: CapabilitiesLayer): void {
	for (const inner of scales ? [scales] : innerScales) {
		const listed = group.innerScales;
		const isListed = listed.some((a) => a.smallest === inner.smallest && a.largest === inner.largest);
		if (!isListed && listed.length < maxOthers) group.innerScales = [...listed, inner];
	}
}
