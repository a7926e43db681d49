import {
	type Drawing,
	type Field,
	fieldNamed,
	isNumberType,
	type Renderer,
} from "../../../registry/description.ts";
import { isObject } from "../../../registry/untrusted.ts";
import { listOf, numberOf, objectOf, textOf, wordOf } from "../../../site/service/decode.ts";
import { objectsIn } from "./answers.ts";
import { type LegendEntry, pairLegend } from "./legend.ts";
import { genericImageOf, symbolImage } from "./symbol.ts";

type Json = Record<string, unknown>;

interface LayerParts {
	fields: Field[];
	geometryType: string;
	legend: LegendEntry[];
}

/** Characters, in every fragment. */
const maxPicturesLength = 256 * 1024;

/**
 * What viewers cannot compute becomes one symbol for all features.
 * @param document `drawingInfo.renderer`, not checked
 */
export function readRenderer(document: unknown, parts: LayerParts): Renderer {
	const renderer = objectOf(document);
	const generic = genericImageOf(parts.geometryType);
	const isClassed = renderer.type === "classBreaks" || renderer.type === "uniqueValue";
	return boundPictures((isClassed ? readClasses : readSimple)(renderer, parts, generic), generic);
}

function readSimple(renderer: Json, { legend }: LayerParts, generic: string): Renderer {
	const { symbol, defaultSymbol, type } = renderer;
	// No other type has a legend entry of all features.
	const isSimple = type === "simple" || type === undefined;
	const drawn = symbolImage(symbol) ?? symbolImage(defaultSymbol) ?? (isSimple ? legend[0]?.image : null);
	return { type: "simple", label: textOf(renderer.label), image: onlyImage(legend) ?? drawn ?? generic };
}

function onlyImage(legend: LegendEntry[]): string | null | undefined {
	return legend.length === 1 ? legend[0]?.image : null;
}

function numberIn(value: unknown): number | null {
	return numberOf(typeof value === "string" && value.trim() !== "" ? Number(value) : value);
}

/** A value of several fields has a part for each field. */
function classesOf({ type, classBreakInfos, uniqueValueInfos, uniqueValueGroups }: Json) {
	const isRange = type === "classBreaks";
	const infos = objectsIn(isRange ? classBreakInfos : uniqueValueInfos);
	if (isRange) return infos.map((info) => ({ info, values: [info.classMaxValue] }));
	if (infos.length > 0) return infos.map((info) => ({ info, values: [info.value] }));
	const classes = objectsIn(uniqueValueGroups).flatMap((group) => objectsIn(group.classes));
	return classes.map((info) => ({ info, values: listOf(info.values) }));
}

export function countClasses(renderer: Json): number {
	return classesOf(renderer).reduce((count, { values }) => count + values.length, 0);
}

function readClasses(renderer: Json, parts: LayerParts, generic: string): Renderer {
	const isRange = renderer.type === "classBreaks";
	const drawn = drawClasses(renderer, parts.legend, generic);
	const hasField = textOf(isRange ? renderer.field : renderer.field1) !== "";
	// Where both are present, the expression is used (ArcGIS Pro SDK, CIMUniqueValueRenderer).
	const isComputed = textOf(renderer.valueExpression).trim() !== "" || isNormalized(renderer);
	if (hasField && !isComputed && drawn.classes.length > 0)
		return isRange ? readBreaks(renderer, drawn, parts.fields) : readUnique(renderer, drawn, parts.fields);
	const { label, image } = drawn.default ?? { label: "", image: onlyImage(parts.legend) ?? generic };
	return { type: "simple", label, image };
}

function isNormalized({ normalizationType, normalizationField }: Json) {
	return !/^$|none$/i.test(textOf(normalizationType)) || textOf(normalizationField) !== "";
}

/** The default symbol's picture comes first. */
function boundPictures(renderer: Renderer, generic: string): Renderer {
	let left = maxPicturesLength;
	const bound = <D extends Drawing>(drawing: D): D => {
		if (drawing.image.length > left) return { ...drawing, image: generic };
		left -= drawing.image.length;
		return drawing;
	};
	if (renderer.type === "simple") return bound(renderer);
	const first = renderer.default && bound(renderer.default);
	return { ...renderer, default: first, classes: (renderer.classes as Drawing[]).map(bound) } as Renderer;
}

const nullWord = /^<null>$/i;

function readUnique(renderer: Json, drawn: DrawnClasses, fields: Field[]): Renderer {
	const { field1, field2, field3, fieldDelimiter } = renderer;
	const names = [field1, field2, field3].map(textOf).filter(Boolean);
	const first = fieldNamed(names[0] ?? "", fields);
	const values = drawn.classes.flatMap(({ values }) => values);
	const split = names.length > 1 && createSplitter(fieldDelimiter, values, names.length);
	// Viewers join the values of several fields with a comma and a space.
	const classValue = (value: unknown) =>
		split ? split(value).map(partText).join(", ") : singleValue([value].flat()[0], first);
	const classes = drawn.classes.flatMap(({ values, drawing }) =>
		values.map((value) => ({ value: classValue(value), ...drawing })),
	);
	const fieldNames = names.map((name) => fieldName(name, fields));
	return { type: "unique", fields: fieldNames, default: drawn.default, classes };
}

/** The name has the case that it has in the features. */
function fieldName(name: string, fields: Field[]) {
	return fieldNamed(name, fields)?.name ?? name;
}

function partText(part: string) {
	return nullWord.test(part.trim()) ? "null" : part;
}

/** Some services add a space to each delimiter. A value of spaces is kept. */
function createSplitter(fieldDelimiter: unknown, values: readonly unknown[], count: number) {
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

/** Viewers compare with `===`, and ArcGIS writes numbers as text. */
function singleValue(value: unknown, field: Field | undefined): string | number | null {
	const text = wordOf(value);
	if (value === null || nullWord.test(text.trim())) return null;
	const isNumber = field && isNumberType(field.type) && text.trim() !== "" && Number.isFinite(Number(text));
	return isNumber ? Number(text) : text;
}

function readBreaks(renderer: Json, drawn: DrawnClasses, fields: Field[]): Renderer {
	const classes = drawn.classes.map(({ info, drawing }) => ({
		max: numberIn(info.classMaxValue) ?? 0,
		...drawing,
	}));
	// A viewer starts each class at the end of the class before it.
	classes.sort((a, b) => a.max - b.max);
	const starts = drawn.classes.flatMap(({ info }) => numberIn(info.classMinValue) ?? []);
	const lowest = Math.min(...starts);
	// Without a start, the first class has every value up to its end.
	const start = lowest <= (classes[0]?.max ?? 0) ? lowest : -Number.MAX_VALUE;
	const min = numberIn(renderer.minValue) ?? start;
	const field = fieldName(textOf(renderer.field), fields);
	return { type: "breaks", field, min, default: drawn.default, classes };
}

type DrawnClasses = ReturnType<typeof drawClasses>;

function drawClasses(renderer: Json, legend: LegendEntry[], generic: string) {
	const { type, defaultSymbol, fieldDelimiter } = renderer;
	const all = classesOf(renderer);
	const defaultLabel = isObject(defaultSymbol) ? textOf(renderer.defaultLabel) : null;
	const delimiter = textOf(fieldDelimiter) || ",";
	const keys = all.map(({ info, values }) => ({
		label: textOf(info.label).trim(),
		values: values.map((value) => [value].flat().map(wordOf).join(delimiter)),
	}));
	const entries = pairLegend(keys, defaultLabel, legend);
	const draw = (label: string, symbol: unknown, entry?: LegendEntry): Drawing => {
		return { label, image: entry?.image ?? symbolImage(symbol) ?? generic };
	};
	const classes = all.map(({ info, values }, at) => {
		return { info, values, drawing: draw(textOf(info.label), info.symbol, entries.classes[at]) };
	});
	return {
		classes: classes.filter(({ info, values }) =>
			type === "classBreaks" ? numberIn(info.classMaxValue) !== null : values.length > 0,
		),
		default: defaultLabel === null ? null : draw(defaultLabel, defaultSymbol, entries.default),
	};
}
