import {
	type Drawing,
	type Field,
	fieldNamed,
	isNumberType,
	type Renderer,
} from "../../../registry/description.ts";
import { isObject, listOf, numberOf, objectOf, textOf, wordOf } from "../../../site/service/decode.ts";
import { genericImageOf, type LegendEntry, pairLegend, symbolImage } from "./symbol.ts";

type Json = Record<string, unknown>;

interface LayerParts {
	fields: Field[];
	geometryType: string;
	legend: LegendEntry[];
}

/** Characters, in every fragment of the layer. */
const maxPicturesLength = 256 * 1024;

/**
 * What viewers cannot compute becomes one symbol for all features.
 * @param document `drawingInfo.renderer`, not checked
 */
export function readRenderer(document: unknown, parts: LayerParts): Renderer {
	const renderer = objectOf(document);
	const isClassed = renderer.type === "classBreaks" || renderer.type === "uniqueValue";
	const read = isClassed ? readClasses(renderer, parts) : readSimple(renderer, parts);
	return boundPictures(read, genericImageOf(parts.geometryType));
}

function readSimple(renderer: Json, parts: LayerParts): Renderer {
	const { symbol, defaultSymbol, type } = renderer;
	// The entries of several are of sizes or colours, none of which all features have.
	const isSimple = type === "simple" || type === undefined;
	const drawn = [symbol, defaultSymbol].map(symbolImage).find((image) => image !== null);
	const other = isSimple ? parts.legend[0]?.image : null;
	const image = onlyEntry(parts) ?? drawn ?? other ?? genericImageOf(parts.geometryType);
	return { type: "simple", label: textOf(renderer.label), image };
}

function onlyEntry({ legend }: LayerParts): string | null | undefined {
	return legend.length === 1 ? legend[0]?.image : null;
}

interface RendererClass {
	info: Json;
	/** Of unique values. Of several fields, one value has a part for each. */
	values: unknown[];
}

function numberIn(value: unknown): number | null {
	return numberOf(typeof value === "string" && value.trim() !== "" ? Number(value) : value);
}

function classesOf({ type, classBreakInfos, uniqueValueInfos, uniqueValueGroups }: Json): RendererClass[] {
	const ranges = listOf(classBreakInfos).filter(isObject);
	if (type === "classBreaks") return ranges.map((info) => ({ info, values: [info.classMaxValue] }));
	const infos = listOf(uniqueValueInfos).filter(isObject);
	if (infos.length > 0) return infos.map((info) => ({ info, values: [info.value] }));
	const groups = listOf(uniqueValueGroups).filter(isObject);
	const classes = groups.flatMap((group) => listOf(group.classes).filter(isObject));
	return classes.map((info) => ({ info, values: listOf(info.values) }));
}

export function countClasses(renderer: Json): number {
	return classesOf(renderer).reduce((count, { values }) => count + values.length, 0);
}

/** If viewers cannot sort features into the classes, all features have one picture. */
function readClasses(renderer: Json, parts: LayerParts): Renderer {
	const isRange = renderer.type === "classBreaks";
	const drawn = drawClasses(renderer, isRange, parts);
	const hasField = textOf(isRange ? renderer.field : renderer.field1) !== "";
	// Where both are present, the expression is used (ArcGIS Pro SDK, CIMUniqueValueRenderer).
	const isComputed = textOf(renderer.valueExpression).trim() !== "" || isNormalized(renderer);
	if (hasField && !isComputed && drawn.classes.length > 0)
		return isRange ? readBreaks(renderer, drawn, parts) : readUnique(renderer, drawn, parts);
	const label = drawn.default?.label ?? "";
	const image = drawn.default?.image ?? onlyEntry(parts) ?? genericImageOf(parts.geometryType);
	return { type: "simple", label, image };
}

function isNormalized({ normalizationType, normalizationField }: Json): boolean {
	return !/^$|none$/i.test(textOf(normalizationType)) || textOf(normalizationField) !== "";
}

/** The default symbol's picture comes first. */
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
	return { ...renderer, default: first, classes: (renderer.classes as Drawing[]).map(bound) } as Renderer;
}

const nullWord = /^<null>$/i;

function readUnique(renderer: Json, drawn: Drawn, parts: LayerParts): Renderer {
	const names = [renderer.field1, renderer.field2, renderer.field3].map(textOf).filter((name) => name !== "");
	const fields = names.map((name) => fieldNamed(name, parts.fields)?.name ?? name);
	const values = drawn.classes.flatMap(({ values }) => values);
	const onlyField = fieldNamed(fields[0] ?? "", parts.fields);
	const split = fields.length > 1 ? splitter(renderer.fieldDelimiter, values, fields.length) : null;
	const classValue = (value: unknown) =>
		split
			? split(value).map(joinedPart).join(", ")
			: singleValue(Array.isArray(value) ? value[0] : value, onlyField);
	const classes = drawn.classes.flatMap(({ values, drawing }) =>
		values.map((value) => ({ value: classValue(value), ...drawing })),
	);
	return { type: "unique", fields, default: drawn.default, classes };
}

/** Viewers join the values of several fields with a comma and a space. */
function joinedPart(part: string): string {
	return nullWord.test(part.trim()) ? "null" : part;
}

/** Some services write a space behind each delimiter that does not say so; a value of spaces is kept. */
function splitter(fieldDelimiter: unknown, values: readonly unknown[], count: number) {
	const delimiter = typeof fieldDelimiter === "string" ? fieldDelimiter : ",";
	if (delimiter === "") return (value: unknown) => [wordOf(value)];
	const rest = values.flatMap((value) => wordOf(value).split(delimiter).slice(1));
	const isSpaced = rest.length > 0 && rest.every((part) => /^ \S/.test(part));
	const between = isSpaced ? `${delimiter} ` : delimiter;
	return (value: unknown): string[] => {
		if (Array.isArray(value)) return value.map((part) => (part === null ? "null" : wordOf(part)));
		const parts = wordOf(value).split(between);
		return parts.length > count && delimiter.trim() === "" ? [wordOf(value)] : parts;
	};
}

/** Viewers compare with `===`, but ArcGIS writes the values of number fields as text. */
function singleValue(value: unknown, field: Field | undefined): string | number | null {
	const text = wordOf(value);
	if (value === null || nullWord.test(text.trim())) return null;
	const isNumber = field && isNumberType(field.type) && text.trim() !== "" && Number.isFinite(Number(text));
	return isNumber ? Number(text) : text;
}

function readBreaks(renderer: Json, drawn: Drawn, parts: LayerParts): Renderer {
	const classes = drawn.classes.map(({ info, drawing }) => ({
		max: numberIn(info.classMaxValue) ?? 0,
		...drawing,
	}));
	// In the viewer each class starts at the end of the class before it.
	classes.sort((a, b) => a.max - b.max);
	const name = textOf(renderer.field);
	const field = fieldNamed(name, parts.fields)?.name ?? name;
	const min = numberIn(renderer.minValue) ?? lowestOf(drawn, classes[0]?.max ?? 0);
	return { type: "breaks", field, min, default: drawn.default, classes };
}

/** At the lowest start of a class; without one, the first class has every value up to its end. */
function lowestOf({ classes }: Drawn, firstMax: number): number {
	const starts = classes.flatMap(({ info }) => numberIn(info.classMinValue) ?? []);
	const lowest = starts.reduce((low, start) => Math.min(low, start), Number.POSITIVE_INFINITY);
	return lowest <= firstMax ? lowest : -Number.MAX_VALUE;
}

interface Drawn {
	classes: (RendererClass & { drawing: Drawing })[];
	default: Drawing | null;
}

function drawClasses(renderer: Json, isRange: boolean, parts: LayerParts): Drawn {
	const all = classesOf(renderer);
	const { defaultSymbol, fieldDelimiter } = renderer;
	const label = isObject(defaultSymbol) ? textOf(renderer.defaultLabel) : null;
	const delimiter = textOf(fieldDelimiter) || ",";
	const textsOf = (value: unknown) =>
		Array.isArray(value) ? value.map(wordOf).join(delimiter) : wordOf(value);
	const keys = all.map(({ info, values }) => ({ label: textOf(info.label), values: values.map(textsOf) }));
	const paired = pairLegend(keys, label, parts.legend);
	const classes = all.map(({ info, values }, index) => {
		const image = imageOf(paired.classes[index], info.symbol, parts);
		return { info, values, drawing: { label: textOf(info.label), image } };
	});
	const image = imageOf(paired.default, defaultSymbol, parts);
	return {
		classes: classes.filter(({ info, values }) =>
			isRange ? numberIn(info.classMaxValue) !== null : values.length > 0,
		),
		default: label === null ? null : { label, image },
	};
}

function imageOf(image: string | null | undefined, symbol: unknown, { geometryType }: LayerParts): string {
	return image ?? symbolImage(symbol) ?? genericImageOf(geometryType);
}
