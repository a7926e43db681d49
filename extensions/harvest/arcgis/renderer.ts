import { type Drawing, type Field, isNumberType, type Renderer } from "../../../registry/description.ts";
import { isObject, listOf, numberOf, objectOf, textOf, wordOf } from "../../../site/service/answer.ts";
import { genericImageOf, pictureImage, symbolImage } from "./symbol.ts";

type Json = Record<string, unknown>;

interface LayerParts {
	fields: Field[];
	geometryType: string;
	/** The layer's legend; empty if the service has none. */
	legend: LegendEntry[];
}

/** Characters of all pictures of a renderer: they are in every fragment of the layer. */
const maxPicturesLength = 256 * 1024;

/**
 * Converts an ArcGIS renderer to the project's form. Every class has an image: from the legend, else from its symbol, else
 * the generic one. Types other than unique values and class breaks become one symbol, since the viewer throws on them.
 * @param given `drawingInfo.renderer`, not checked
 */
export function readRenderer(given: unknown, parts: LayerParts): Renderer {
	const renderer = objectOf(given);
	return boundPictures(readAny(renderer, parts), genericImageOf(parts.geometryType));
}

function readAny(renderer: Json, parts: LayerParts): Renderer {
	const { type, field, field1, classBreakInfos, uniqueValueInfos } = renderer;
	if (type === "classBreaks" && textOf(field))
		return readBreaks(renderer, listOf(classBreakInfos).filter(isObject), parts);
	if (type === "uniqueValue" && textOf(field1))
		return readUnique(renderer, listOf(uniqueValueInfos).filter(isObject), parts);
	const image = imageOf(parts.legend[0]?.image, [renderer.symbol, renderer.defaultSymbol], parts);
	return { type: "simple", label: textOf(renderer.label), image };
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

function readUnique(renderer: Json, infos: Json[], parts: LayerParts): Renderer {
	const given = [renderer.field1, renderer.field2, renderer.field3].map(textOf).filter((name) => name !== "");
	const fields = given.map((name) => fieldNamed(name, parts.fields)?.name ?? name);
	const delimiter = typeof renderer.fieldDelimiter === "string" ? renderer.fieldDelimiter : ",";
	const onlyField = fieldNamed(fields[0] ?? "", parts.fields);
	const readValue = (info: Json) =>
		fields.length > 1 ? joinedValue(wordOf(info.value), delimiter) : singleValue(info.value, onlyField);
	const drawn = draw(renderer, infos, "value", parts);
	const classes = drawn.classes.map(([info, drawing]) => ({ value: readValue(info), ...drawing }));
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
	const classes = drawn.classes.flatMap(([info, drawing]) => {
		const max = numberOf(info.classMaxValue);
		return max === null ? [] : [{ max, ...drawing }];
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
	const classes = infos.map((info, index): [info: Json, drawing: Drawing] => {
		const image = imageOf(paired.classes[index], [info.symbol], parts);
		return [info, { label: textOf(info.label), image }];
	});
	const image = imageOf(paired.default, [defaultSymbol], parts);
	return { classes, default: label === null ? null : { label, image } };
}

/** The legend's image, else the image of the first symbol that has one, else the generic image. */
function imageOf(image: string | null | undefined, symbols: unknown[], { geometryType }: LayerParts): string {
	const drawn = symbols.map(symbolImage).find((one) => one !== null);
	return image ?? drawn ?? genericImageOf(geometryType);
}

/** An entry of a legend. Its image is a data URI; null if the service's image is not usable. */
export type LegendEntry = ReturnType<typeof readLegend>[number];

/** A class of a renderer that needs an image. */
type LegendClass = { label: string; value: string };

/** Reads the legend of one layer from a `MapServer/legend?f=json`; empty if the layer is not in it. */
export function readLegend(answer: unknown, layerId: number) {
	const layers = listOf(objectOf(answer).layers).filter(isObject);
	const layer = layers.find((candidate) => numberOf(candidate.layerId) === layerId);
	return listOf(layer?.legend)
		.filter(isObject)
		.map((entry) => ({
			label: textOf(entry.label).trim(),
			values: listOf(entry.values).flat().map(wordOf),
			image: pictureImage(entry.contentType, entry.imageData),
		}));
}

/**
 * Finds the image of each class in a layer's legend: by position if the two lists match, since several classes may have
 * the same label; else by the values of the entries, then by label, then the rest by position.
 * @param defaultLabel label of the renderer's default symbol; null if there is none
 * @returns the image of each class, and of the default symbol; null if there is none
 */
export function pairLegend(classes: LegendClass[], defaultLabel: string | null, legend: LegendEntry[]) {
	const defaultIndex = findDefault(classes.length, defaultLabel, legend);
	const entries = legend.filter((_, index) => index !== defaultIndex);
	const paired = pairByPosition(classes, entries) ?? pairByContent(classes, entries);
	return {
		classes: paired.map((entry) => entry?.image ?? null),
		default: legend[defaultIndex]?.image ?? null,
	};
}

const allOthers = "<all other values>";

/** Index of the default symbol's entry, or -1. The legend has this entry only if it is one longer than the classes. */
function findDefault(classes: number, defaultLabel: string | null, legend: LegendEntry[]): number {
	if (defaultLabel === null || legend.length !== classes + 1) return -1;
	const ends = [0, legend.length - 1];
	const named = ends.find((end) => [defaultLabel.trim(), allOthers].includes(legend[end]?.label ?? ""));
	if (named !== undefined && legend[named]?.label !== "") return named;
	const namesValues = legend.some((entry) => entry.values.length > 0);
	const without = ends.find((end) => legend[end]?.values.length === 0);
	return namesValues && without !== undefined ? without : 0;
}

function pairByPosition(classes: LegendClass[], entries: LegendEntry[]): LegendEntry[] | null {
	if (entries.length !== classes.length) return null;
	const isMatch = classes.every(({ label }, index) => {
		const other = entries[index]?.label ?? "";
		return label.trim() === "" || other === "" || label.trim() === other;
	});
	return isMatch ? entries : null;
}

/** Reads each list only once: a service may send a thousand classes, and a legend of a hundred thousand entries. */
function pairByContent(classes: LegendClass[], entries: LegendEntry[]): (LegendEntry | undefined)[] {
	const byValue = new Map<string, LegendEntry>();
	const byLabel = new Map<string, LegendEntry[]>();
	for (const entry of entries) {
		for (const value of entry.values) if (!byValue.has(value)) byValue.set(value, entry);
		const labelled = byLabel.get(entry.label);
		if (labelled) labelled.push(entry);
		else if (entry.label !== "") byLabel.set(entry.label, [entry]);
	}
	const labels = classes.map(({ label }) => label.trim());
	const claimed = new Set(labels);
	const before = new Map<string, number>();
	return classes.map(({ value }, index) => {
		const label = labels[index] ?? "";
		const position = before.get(label) ?? 0;
		before.set(label, position + 1);
		const labelled = byLabel.get(label) ?? [];
		const found = byValue.get(value) ?? labelled[Math.min(position, labelled.length - 1)];
		if (found || entries.length !== classes.length) return found;
		// Takes the entry at the same position, unless its label is another class's.
		const entry = entries[index];
		return entry && !claimed.has(entry.label) ? entry : undefined;
	});
}
