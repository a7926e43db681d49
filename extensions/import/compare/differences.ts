import { isDeepStrictEqual } from "node:util";
import { fragmentTexts } from "../../../registry/texts/pairs.ts";
import { escapeMarkup, shorten } from "../../../registry/untrusted.ts";
import { listOf, objectOf } from "../../../site/service/decode.ts";
import type { Json } from "../dump.ts";

export interface Difference {
	/** What differs, such as `datagrid: columns`. */
	kind: string;
	/** A viewer draws or requests something else because of it. */
	isRelevant: boolean;
	/** `old → new`, as JSON, cut. */
	values?: string;
}

/** Compares a layer's nodes, at v0.9, v1 or v2. A kind occurs once, and is relevant if it is relevant anywhere. */
export function differences(before: Json, now: Json): Difference[] {
	const isOtherForm = isOtherMapServerForm(before, now);
	// RAMP 4.0 refuses a wms layer with them.
	const unread = "layerName" in before ? ["metadataUrl", "catalogueUrl"] : [];
	const kinds = new Map<string, Difference>();
	for (const difference of memberDifferences("", before, now)) {
		const isOfForm = isOtherForm && mapServerMembers.includes(difference.kind);
		const kind = isOfForm ? otherForm : difference.kind;
		const isRelevant = difference.isRelevant && !isOfForm && !unread.includes(kind);
		if (!kinds.get(kind)?.isRelevant) kinds.set(kind, { ...difference, kind, isRelevant });
	}
	return [...kinds.values()];
}

function memberDifferences(within: string, before: Json, now: Json): Difference[] {
	return Object.keys({ ...before, ...now }).flatMap((name): Difference[] => {
		const [old, fresh, kind] = [before[name], now[name], within + name];
		if (isDeepStrictEqual(old, fresh)) return [];
		const isEscaped = typeof old === "string" && escapeMarkup(old) === fresh;
		const isRelevant = !isEscaped && !cosmetic[kind]?.(old, fresh);
		const compose = isRelevant ? composed[kind] : undefined;
		if (!compose) return [{ kind, isRelevant, values: shownChange(old, fresh) }];
		const [{ shape, parts }, other] = [compose(objectOf(old)), compose(objectOf(fresh))];
		const ofShape = memberDifferences(`${kind}: `, shape, other.shape);
		if (ofShape.length > 0) return ofShape;
		return parts.flatMap((part, at) =>
			memberDifferences(`${kind}: `, objectOf(part), objectOf(other.parts[at])),
		);
	});
}

const maxValueLength = 60;

/** The first value that differs within. */
function shownChange(before: unknown, now: unknown) {
	if (typeof before === "object" && typeof now === "object" && before && now) {
		const [old, fresh] = [before as Json, now as Json];
		const names = Object.keys({ ...old, ...fresh });
		const name = names.find((name) => !isDeepStrictEqual(old[name], fresh[name]));
		if (name !== undefined) return shownChange(old[name], fresh[name]);
	}
	const shown = [before, now].map((value) => shorten(JSON.stringify(value) ?? "nothing", maxValueLength));
	return shown.join(" → ");
}

/** Only parts of an equal shape can be compared one by one. */
const composed: Readonly<Record<string, (value: Json) => { shape: Json; parts: unknown[] }>> = {
	datagrid: ({ gridColumns }) => {
		const parts = listOf(gridColumns);
		const columns = parts.map((column) => {
			const { fieldName, id } = objectOf(column);
			return escapeMarkup(String(fieldName || id));
		});
		return { shape: { columns }, parts };
	},
	symbology: ({ valueMaps, rangeMaps, ...drawing }) => {
		const classes = [...listOf(valueMaps), ...listOf(rangeMaps)];
		return { shape: { classes: classes.length }, parts: [drawing, ...classes] };
	},
};

const mapServerMembers = ["layerType", "url", "layerEntries", "nameField"];
const otherForm = "layerType, by the setting V2_MAP_SERVER";

type Test = (before: unknown, now: unknown) => boolean;

const onlyBefore: Test = (_before, now) => now === undefined;
const onlyNow = (before: unknown) => before === undefined || before === null;
const isNoScale: Test = (before, now) => now === 0 && !(typeof before === "number" && before > 0);
const isNumberSort: Test = (_before, now) => now === "num";
const isEmptyField: Test = (before, now) => !before && now === undefined;
const isSameText: Test = (before, now) => String(before ?? "") === String(now ?? "");

const fixedTitles = ["column-icon", "column-details"] as const;

/** Member of a node, of a column or of a symbol → which difference in it no viewer sees, or is better. */
const cosmetic: Readonly<Record<string, Test>> = {
	geometryType: onlyBefore,
	imageUrl: onlyNow,
	symbology: (before) => Object.keys(objectOf(before)).length === 0,
	url: (before, now) => bare(before) === bare(now),
	layerExtent: isProjected,
	aliasMap: (before, now) => isDeepStrictEqual(JSON.parse(escapeMarkup(JSON.stringify(before ?? {}))), now),
	minScale: isNoScale,
	maxScale: isNoScale,
	name: onlyNow,
	nameField: onlyNow,
	// Viewers have the titles of a service's layers from the service.
	layerEntries: (before, now) => isDeepStrictEqual(entryNames(before), entryNames(now)),
	// A release of the older service lost it.
	maxAllowableOffset: onlyNow,
	// The older service sends these in English only.
	"datagrid: title": (before, now) =>
		fixedTitles.some((code) => before === fragmentTexts.en[code] && now === fragmentTexts.fr[code]),
	"datagrid: sortType": isNumberSort,
	"datagrid: type": isNumberSort,
	"symbology: field2": isEmptyField,
	"symbology: field3": isEmptyField,
	"symbology: value": isSameText,
	"symbology: label": isSameText,
};

function bare(address: unknown): unknown {
	return typeof address === "string" ? address.trim().replace(/(?<![/?])[/?]+$/, "") : address;
}

export function entryNames(entries: unknown): unknown[] {
	return listOf(entries).map((entry) => objectOf(entry).id ?? objectOf(entry).index);
}

function isProjected(before: unknown, now: unknown) {
	const [old, fresh] = [objectOf(before), objectOf(now)];
	const differences = ["xmin", "ymin", "xmax", "ymax"].map((side) => Number(old[side]) - Number(fresh[side]));
	if (differences.every((metres) => Math.abs(metres) <= 1)) return true;
	return fresh.xmin !== undefined && ("spatialReference" in old || onlyNow(before));
}

/** Whether both are one layer of a MapServer in v2, as `esriDynamic` and as `esriFeature`. */
function isOtherMapServerForm(before: Json, now: Json) {
	const wholeOf = ({ layerType, url, layerEntries }: Json) => {
		const { index } = objectOf(listOf(layerEntries)[0]);
		return layerType === "esriDynamic" ? `${url}/${index}` : layerType === "esriFeature" ? url : null;
	};
	const [old, fresh] = [wholeOf(before), wholeOf(now)];
	return before.layerType !== now.layerType && old !== null && bare(old) === bare(fresh);
}
