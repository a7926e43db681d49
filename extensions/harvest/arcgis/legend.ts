import { isObject, listOf, numberOf, objectOf, textOf, wordOf } from "../../../site/service/decode.ts";
import { pictureImage } from "./symbol.ts";

/** An entry of a legend. Its image is a data URI; null if the service's image is not usable. */
export type LegendEntry = ReturnType<typeof readLegend>[number];

type LegendClass = { label: string; values: string[] };

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
	return classes.map(({ values }, index) => {
		const label = labels[index] ?? "";
		const position = before.get(label) ?? 0;
		before.set(label, position + 1);
		const labelled = byLabel.get(label) ?? [];
		const entry =
			values.map((value) => byValue.get(value)).find(Boolean) ??
			labelled[Math.min(position, labelled.length - 1)];
		if (entry || entries.length !== classes.length) return entry;
		// Takes the entry at the same position, unless its label is another class's.
		const same = entries[index];
		return same && !claimed.has(same.label) ? same : undefined;
	});
}
