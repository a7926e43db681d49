import { groupBy } from "../../../registry/untrusted.ts";
import { listOf, numberOf, objectOf, textOf, wordOf } from "../../../site/service/decode.ts";
import { objectsIn } from "./answers.ts";
import { pictureImage } from "./symbol.ts";

/** `image`: a data URI; null if it is not usable. */
export type LegendEntry = ReturnType<typeof readLegend>[number];

type LegendClass = { label: string; values: string[] };

export function readLegend(answer: unknown, layerId: number | null) {
	const layer = objectsIn(objectOf(answer).layers).find((other) => numberOf(other.layerId) === layerId);
	return objectsIn(layer?.legend).map((entry) => ({
		label: textOf(entry.label).trim(),
		values: listOf(entry.values).flat().map(wordOf),
		image: pictureImage(entry),
	}));
}

/**
 * By position if the two lists match, since several classes may have one label; else by value, by label, by position.
 * @param defaultLabel null without a default symbol
 */
export function pairLegend(classes: LegendClass[], defaultLabel: string | null, legend: LegendEntry[]) {
	const defaultEntry = findDefault(classes, defaultLabel, legend);
	const entries = legend.filter((entry) => entry !== defaultEntry);
	const isSameList = classes.every(({ label }, index) => {
		const other = entries[index]?.label ?? "";
		return label === "" || other === "" || label === other;
	});
	const isPaired = isSameList && entries.length === classes.length;
	return { classes: isPaired ? entries : pairByContent(classes, entries), default: defaultEntry };
}

const allOthers = "<all other values>";

/** The first or last entry of a legend that has one entry more than there are classes. */
function findDefault(
	classes: LegendClass[],
	defaultLabel: string | null,
	legend: LegendEntry[],
): LegendEntry | undefined {
	const [first] = legend;
	if (!first || defaultLabel === null || legend.length !== classes.length + 1) return undefined;
	const ends = [first, legend.at(-1) ?? first];
	const labelled = ends.find(({ label }) => label === defaultLabel.trim() || label === allOthers);
	if (labelled && labelled.label !== "") return labelled;
	const hasValues = legend.some(({ values }) => values.length > 0);
	return (hasValues && ends.find(({ values }) => values.length === 0)) || first;
}

/** Reads each list once: a legend may have a hundred thousand entries. */
function pairByContent(classes: LegendClass[], entries: LegendEntry[]): (LegendEntry | undefined)[] {
	const pairs = entries.flatMap((entry) => entry.values.map((value) => [value, entry] as const));
	const byValue = new Map(pairs.reverse());
	const byLabel = groupBy(entries, ({ label }) => label);
	const labels = new Set(classes.map(({ label }) => label));
	return classes.map(({ label, values }, index) => {
		const labelled = (label !== "" && byLabel.get(label)) || [];
		const next = labelled.length > 1 ? labelled.shift() : labelled[0];
		const entry = values.map((value) => byValue.get(value)).find(Boolean) ?? next;
		const same = entries.length === classes.length ? entries[index] : undefined;
		return entry ?? (same && !labels.has(same.label) ? same : undefined);
	});
}
