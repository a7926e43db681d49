import { type Drawing, type Field, isNumberType, type Renderer } from "../../registry/description.ts";
import { isObject, listOf, numberOf, objectOf, textOf, wordOf } from "../answer.ts";
import { type LegendEntry, pairLegend } from "./legend.ts";
import { genericImageOf, symbolImage } from "./symbol.ts";

type Json = Record<string, unknown>;

interface LayerParts {
	fields: Field[];
	geometryType: string;
	/** The layer's legend; empty if the service has none. */
	legend: LegendEntry[];
}

/** Classes of a renderer: each one is an image in every fragment. */
export const maxClasses = 1000;

/** Characters of all pictures of a renderer: they are in every fragment of the layer. */
const maxPicturesLength = 256 * 1024;

/**
 * Converts an ArcGIS renderer to the project's form. Every class has an image: from the legend, else from its symbol, else
 * the generic one. Types other than unique values and class breaks become one symbol, since the viewer throws on them.
 * @param given `drawingInfo.renderer`, not checked
 * @returns null if it has more than 1,000 classes
 */
export function readRenderer(given: unknown, parts: LayerParts): Renderer | null {
	const renderer = objectOf(given);
	const isBreaks = renderer.type === "classBreaks";
	const infos = listOf(isBreaks ? renderer.classBreakInfos : renderer.uniqueValueInfos);
	if (infos.length > maxClasses) return null;
	const read = readerOf(renderer)(renderer, infos.filter(isObject), parts);
	return boundPictures(read, genericImageOf(parts.geometryType));
}

function readerOf({ type, field, field1 }: Json) {
	if (type === "classBreaks" && textOf(field)) return readBreaks;
	return type === "uniqueValue" && textOf(field1) ? readUnique : readSimple;
}

/** Replaces each picture beyond the limit by a generic image. The default symbol's picture comes first. */
function boundPictures(renderer: Renderer, generic: string): Renderer {
	let left = maxPicturesLength;
	const bound = <D extends Drawing>(drawing: D): D => {
		left -= drawing.image.length;
		if (left >= 0) return drawing;
		left += drawing.image.length;
		return { ...drawing, image: generic };
	};
	if (renderer.type === "simple") return bound(renderer);
	const first = renderer.default && bound(renderer.default);
	// TypeScript cannot express that the classes keep their type.
	return { ...renderer, default: first, classes: (renderer.classes as Drawing[]).map(bound) } as Renderer;
}

function readSimple(renderer: Json, _infos: Json[], parts: LayerParts): Renderer {
	const image = imageOf(parts.legend[0]?.image, [renderer.symbol, renderer.defaultSymbol], parts);
	return { type: "simple", label: textOf(renderer.label), image };
}

function readUnique(renderer: Json, infos: Json[], parts: LayerParts): Renderer {
	const given = [renderer.field1, renderer.field2, renderer.field3].map(textOf).filter((name) => name !== "");
	const fields = given.map((name) => fieldNamed(name, parts.fields)?.name ?? name);
	const delimiter = typeof renderer.fieldDelimiter === "string" ? renderer.fieldDelimiter : ",";
	const onlyField = fieldNamed(fields[0] ?? "", parts.fields);
	const readValue = (info: Json) =>
		fields.length > 1 ? joinedValue(wordOf(info.value), delimiter) : singleValue(info.value, onlyField);
	const drawn = draw(renderer, infos, "value", parts);
	const classes = infos.map((info, index) => ({
		value: readValue(info),
		...(drawn.classes[index] as Drawing),
	}));
	return { type: "unique", fields, default: drawn.default, classes };
}

/** The viewer joins the values of several fields with a comma and a space, whatever delimiter the service uses. */
function joinedValue(value: string, delimiter: string): string {
	if (delimiter.trim() === "" || delimiter === ", ") return value;
	return value
		.split(delimiter)
		.map((part) => part.trim())
		.join(", ");
}

/** The viewer compares values with `===`, but ArcGIS writes the values of number fields as text. */
function singleValue(value: unknown, field: Field | undefined): string | number {
	const text = wordOf(value);
	const isNumber = field && isNumberType(field.type) && text.trim() !== "" && Number.isFinite(Number(text));
	return isNumber ? Number(text) : text;
}

/** Finds a field by its name: ArcGIS ignores the case of names, the viewer does not. */
function fieldNamed(name: string, fields: Field[]): Field | undefined {
	const exact = fields.find((field) => field.name === name);
	return exact ?? fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

function readBreaks(renderer: Json, infos: Json[], parts: LayerParts): Renderer {
	const drawn = draw(renderer, infos, "classMaxValue", parts);
	const classes = infos.flatMap((info, index) => {
		const max = numberOf(info.classMaxValue);
		return max === null ? [] : [{ max, ...(drawn.classes[index] as Drawing) }];
	});
	// In the viewer each class starts at the end of the class before it.
	classes.sort((one, other) => one.max - other.max);
	const given = textOf(renderer.field);
	const field = fieldNamed(given, parts.fields)?.name ?? given;
	const min = numberOf(renderer.minValue) ?? numberOf(infos[0]?.classMinValue) ?? classes[0]?.max ?? 0;
	return { type: "breaks", field, min, default: drawn.default, classes };
}

/** Draws each class, and the default symbol if there is one. @param name the member of a class with its value */
function draw(renderer: Json, infos: Json[], name: "value" | "classMaxValue", parts: LayerParts) {
	const { defaultSymbol } = renderer;
	const label = isObject(defaultSymbol) ? textOf(renderer.defaultLabel) : null;
	const keys = infos.map((info) => ({ label: textOf(info.label), value: wordOf(info[name]) }));
	const paired = pairLegend(keys, label, parts.legend);
	const classes = infos.map((info, index): Drawing => {
		return { label: textOf(info.label), image: imageOf(paired.classes[index], [info.symbol], parts) };
	});
	const image = imageOf(paired.default, [defaultSymbol], parts);
	return { classes, default: label === null ? null : { label, image } };
}

/** The legend's image, else the image of the first symbol that has one, else the generic image. */
function imageOf(image: string | null | undefined, symbols: unknown[], { geometryType }: LayerParts): string {
	const drawn = symbols.map(symbolImage).find((one) => one !== null);
	return image ?? drawn ?? genericImageOf(geometryType);
}
