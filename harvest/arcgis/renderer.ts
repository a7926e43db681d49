import { type Drawing, type Field, isNumberType, type Renderer } from "../../registry/description.ts";
import { isObject, listOf, numberOf, objectOf, textOf, wordOf } from "../answer.ts";
import { type LegendEntry, type Paired, pairLegend } from "./legend.ts";
import { genericImageOf, symbolImage } from "./symbol.ts";

export interface LayerParts {
	fields: Field[];
	geometryType: string;
	/** The layer's legend; empty where the service has none. */
	legend: LegendEntry[];
}

/** Most classes of a renderer that are taken over: each one is an image in every fragment. */
export const maxClasses = 1000;

/** Longest that a renderer's pictures may be together, in characters: they are in every fragment of the layer. */
const maxPictures = 256 * 1024;

/**
 * An ArcGIS renderer in neutral form; an image for every class: from the legend, else from its symbol, else a plain one.
 * Any type but unique values and class breaks becomes one symbol, since the viewer throws on others.
 * @param given `drawingInfo.renderer`, whatever it holds
 * @returns null where it has more than 1,000 classes
 */
export function readRenderer(given: unknown, parts: LayerParts): Renderer | null {
	const renderer = objectOf(given);
	const infos = listOf(
		renderer.type === "classBreaks" ? renderer.classBreakInfos : renderer.uniqueValueInfos,
	);
	if (infos.length > maxClasses) return null;
	return boundPictures(readAny(renderer, infos.filter(isObject), parts), genericImageOf(parts.geometryType));
}

function readAny(
	renderer: Record<string, unknown>,
	classes: Record<string, unknown>[],
	parts: LayerParts,
): Renderer {
	if (renderer.type === "uniqueValue" && textOf(renderer.field1)) return readUnique(renderer, classes, parts);
	if (renderer.type === "classBreaks" && textOf(renderer.field)) return readBreaks(renderer, classes, parts);
	return readSimple(renderer, parts);
}

/** The renderer with a plain image in place of each picture past the limit; the default symbol's has precedence. */
function boundPictures(renderer: Renderer, plain: string): Renderer {
	let left = maxPictures;
	const bound = <D extends Drawing>(drawing: D): D => {
		left -= drawing.image.length;
		if (left >= 0) return drawing;
		left += drawing.image.length;
		return { ...drawing, image: plain };
	};
	if (renderer.type === "simple") return bound(renderer);
	const first = renderer.default && bound(renderer.default);
	// TypeScript cannot express that the classes keep their kind.
	return { ...renderer, default: first, classes: (renderer.classes as Drawing[]).map(bound) } as Renderer;
}

function readSimple(renderer: Record<string, unknown>, parts: LayerParts): Renderer {
	const image =
		parts.legend[0]?.image ??
		symbolImage(renderer.symbol) ??
		symbolImage(renderer.defaultSymbol) ??
		genericImageOf(parts.geometryType);
	return { type: "simple", label: textOf(renderer.label), image };
}

function readUnique(
	renderer: Record<string, unknown>,
	infos: Record<string, unknown>[],
	parts: LayerParts,
): Renderer {
	const given = [renderer.field1, renderer.field2, renderer.field3].map(textOf).filter((name) => name !== "");
	const fields = given.map((name) => fieldNamed(name, parts.fields)?.name ?? name);
	const delimiter = typeof renderer.fieldDelimiter === "string" ? renderer.fieldDelimiter : ",";
	const onlyField = fieldNamed(fields[0] ?? "", parts.fields);
	const readValue = (info: Record<string, unknown>) =>
		fields.length > 1 ? joinedValue(wordOf(info.value), delimiter) : singleValue(info.value, onlyField);
	const keys = infos.map((info) => ({ label: textOf(info.label), value: wordOf(info.value) }));
	const paired = pairLegend(keys, defaultLabel(renderer), parts.legend);
	const classes = infos.map((info, index) => ({
		value: readValue(info),
		...drawing(info, paired.classes[index] ?? null, parts),
	}));
	return { type: "unique", fields, default: readDefault(renderer, paired, parts), classes };
}

/** The viewer joins the values of several fields with a comma and a space, whatever the service joins them with. */
function joinedValue(value: string, delimiter: string): string {
	if (delimiter.trim() === "" || delimiter === ", ") return value;
	return value
		.split(delimiter)
		.map((part) => part.trim())
		.join(", ");
}

/** The viewer compares with `===`, and ArcGIS writes the values of number fields as text. */
function singleValue(value: unknown, field: Field | undefined): string | number {
	const text = wordOf(value);
	const isNumber = field && isNumberType(field.type) && text.trim() !== "" && Number.isFinite(Number(text));
	return isNumber ? Number(text) : text;
}

/** A field by its name; ArcGIS does not mind its case, the viewer does. */
function fieldNamed(name: string, fields: Field[]): Field | undefined {
	const exact = fields.find((field) => field.name === name);
	return exact ?? fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

function readBreaks(
	renderer: Record<string, unknown>,
	infos: Record<string, unknown>[],
	parts: LayerParts,
): Renderer {
	const keys = infos.map((info) => ({ label: textOf(info.label), value: wordOf(info.classMaxValue) }));
	const paired = pairLegend(keys, defaultLabel(renderer), parts.legend);
	const classes = infos.flatMap((info, index) => {
		const max = numberOf(info.classMaxValue);
		return max === null ? [] : [{ max, ...drawing(info, paired.classes[index] ?? null, parts) }];
	});
	// The viewer takes each class to start where the one before it ends.
	classes.sort((one, other) => one.max - other.max);
	const given = textOf(renderer.field);
	const field = fieldNamed(given, parts.fields)?.name ?? given;
	const min = numberOf(renderer.minValue) ?? numberOf(infos[0]?.classMinValue) ?? classes[0]?.max ?? 0;
	return { type: "breaks", field, min, default: readDefault(renderer, paired, parts), classes };
}

function drawing(info: Record<string, unknown>, image: string | null, parts: LayerParts): Drawing {
	const drawn = image ?? symbolImage(info.symbol) ?? genericImageOf(parts.geometryType);
	return { label: textOf(info.label), image: drawn };
}

function defaultLabel(renderer: Record<string, unknown>): string | null {
	return isObject(renderer.defaultSymbol) ? textOf(renderer.defaultLabel) : null;
}

function readDefault(renderer: Record<string, unknown>, paired: Paired, parts: LayerParts): Drawing | null {
	const label = defaultLabel(renderer);
	if (label === null) return null;
	const drawn = paired.default ?? symbolImage(renderer.defaultSymbol) ?? genericImageOf(parts.geometryType);
	return { label, image: drawn };
}
