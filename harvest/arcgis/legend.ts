import { isObject, listOf, numberOf, objectOf, textOf, wordOf } from "../answer.ts";
import { pictureImage } from "./symbol.ts";

/** One entry of a layer's legend. */
export interface LegendEntry {
	label: string;
	/** Values of the class that it stands for; older servers name none. */
	values: string[];
	/** A data URI; null where the service's image is not usable. */
	image: string | null;
}

/** A class of a renderer that needs an image. */
export interface LegendClass {
	label: string;
	value: string;
}

/** The legend of one layer out of a `MapServer/legend?f=json`; empty where the layer is not in it. */
export function readLegend(answer: unknown, layerId: number): LegendEntry[] {
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

/** What a legend says: an image for each class and for the default symbol, or null where it has none for it. */
export interface Paired {
	classes: (string | null)[];
	default: string | null;
}

/**
 * Finds the image of each class in a layer's legend: by position where the two lists fit, since several classes may
 * have one label; else by the values that the entries name, then by label, then by position for what is left.
 * @param defaultLabel label of the renderer's default symbol; null where it has none
 */
export function pairLegend(
	classes: LegendClass[],
	defaultLabel: string | null,
	legend: LegendEntry[],
): Paired {
	const defaultIndex = findDefault(classes.length, defaultLabel, legend);
	const entries = legend.filter((_, index) => index !== defaultIndex);
	const paired =
		pairByPosition(classes, entries) ?? classes.map((one, index) => find(one, index, classes, entries));
	return {
		classes: paired.map((entry) => entry?.image ?? null),
		default: legend[defaultIndex]?.image ?? null,
	};
}

/** The label that ArcGIS gives its default symbol. */
const allOthers = "<all other values>";

/** Index of the default symbol's entry, or -1. There is room for it where the legend is one longer than the classes. */
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
	const fits = classes.every(({ label }, index) => {
		const other = entries[index]?.label ?? "";
		return label.trim() === "" || other === "" || label.trim() === other;
	});
	return fits ? entries : null;
}

function find(
	wanted: LegendClass,
	index: number,
	classes: LegendClass[],
	entries: LegendEntry[],
): LegendEntry | undefined {
	const byValue = entries.find((entry) => entry.values.includes(wanted.value));
	if (byValue) return byValue;
	const label = wanted.label.trim();
	const labelled = label === "" ? [] : entries.filter((entry) => entry.label === label);
	const before = classes.slice(0, index).filter((one) => one.label.trim() === label).length;
	if (labelled.length > 0) return labelled[Math.min(before, labelled.length - 1)];
	return entries.length === classes.length ? unclaimed(index, classes, entries) : undefined;
}

/** The entry at the same position, where no class has its label. */
function unclaimed(index: number, classes: LegendClass[], entries: LegendEntry[]): LegendEntry | undefined {
	const entry = entries[index];
	return classes.some((one) => one.label.trim() === entry?.label) ? undefined : entry;
}
