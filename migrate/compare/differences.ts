import { isDeepStrictEqual } from "node:util";
import { escapeMarkup } from "../../registry/markup.ts";
import { type Json, listOf, objectOf } from "./json.ts";

/** A difference between two nodes of one layer. */
export interface Difference {
	/** Whether it makes a viewer draw or request something else. If not, it is an improvement, or no viewer reads it. */
	isRelevant: boolean;
	/** What differs, in words that name no single layer. */
	kind: string;
}

/** Compares one member; null if the rule does not apply. */
type Rule = (before: unknown, now: unknown) => Difference | null;

/** Compares a layer's node on the older service with the one on this service, at v0.9, v1 or v2. */
export function differences(before: Json, now: Json): Difference[] {
	const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
	const found = names.flatMap((name) => memberDifferences(name, before[name], now[name], before, now));
	const kinds = new Map(found.map((difference) => [difference.kind, difference]));
	return [...kinds.values()];
}

function memberDifferences(
	name: string,
	before: unknown,
	now: unknown,
	all: Json,
	allNow: Json,
): Difference[] {
	if (isDeepStrictEqual(before, now)) return [];
	if (name === "datagrid") return gridDifferences(columnsOf(before), columnsOf(now));
	if (name === "symbology") return symbologyDifferences(objectOf(before), objectOf(now));
	if (isOtherMapServerForm(name, all, allNow))
		return [cosmetic("a layer of a MapServer in the form of V2_MAP_SERVER")];
	for (const rule of rules[name] ?? []) {
		const difference = rule(before, now);
		if (difference) return [difference];
	}
	if (typeof before === "string" && escapeMarkup(before) === now) return [cosmetic(escapedMarkup)];
	if (before === undefined || before === null) return [relevant(`${name}: only now`)];
	return [relevant(now === undefined ? `${name}: only before` : name)];
}

const escapedMarkup = "a text that a viewer would run as HTML: made harmless";

function cosmetic(kind: string): Difference {
	return { isRelevant: false, kind };
}

function relevant(kind: string): Difference {
	return { isRelevant: true, kind };
}

function unless(isKnown: (before: unknown, now: unknown) => boolean, kind: string): Rule {
	return (before, now) => (isKnown(before, now) ? cosmetic(kind) : null);
}

const onlyBefore = (_before: unknown, now: unknown) => now === undefined;
const onlyNow = (before: unknown) => before === undefined || before === null;

/** The rules of each member, in order: the first that applies decides. */
const rules: Readonly<Record<string, Rule[]>> = {
	geometryType: [unless(onlyBefore, "geometryType: no viewer reads it")],
	imageUrl: [unless(onlyNow, "a picture of a wms layer for the list of layers")],
	metadataUrl: [unless(onlyBefore, "metadata of a wms layer, which RAMP 4.0 refuses: left out")],
	catalogueUrl: [unless(onlyBefore, "metadata of a wms layer, which RAMP 4.0 refuses: left out")],
	url: [
		unless((before, now) => bare(before) === bare(now), "a slash or a ? at the end of the address: left out"),
	],
	layerExtent: [unless(isProjected, "an extent in the map's spatial reference")],
	aliasMap: [unless(sameMembers, escapedMarkup)],
	minScale: [unless(isNoScale, "a scale that is none")],
	maxScale: [unless(isNoScale, "a scale that is none")],
	name: [unless(onlyNow, "a name where there was none")],
	layerEntries: [unless(sameEntries, "titles of a service's layers: viewers have them from the service")],
	maxAllowableOffset: [unless(onlyNow, "an offset that a release of the older service lost")],
};

function bare(address: unknown): unknown {
	return typeof address === "string" ? address.trim().replace(/(?<![/?])[/?]+$/, "") : address;
}

/** Whether two lists name the same layers of a service, ignoring other members. */
function sameEntries(before: unknown, now: unknown): boolean {
	const named = (entries: unknown) =>
		listOf(entries).map((entry) => objectOf(entry).id ?? objectOf(entry).index);
	return isDeepStrictEqual(named(before), named(now));
}

function isNoScale(before: unknown, now: unknown): boolean {
	return now === 0 && !(typeof before === "number" && before > 0);
}

/** Whether two extents may be equal in different spatial references. */
function isProjected(before: unknown, now: unknown): boolean {
	const sides = ["xmin", "ymin", "xmax", "ymax"];
	if (!sides.every((side) => Number.isFinite(objectOf(now)[side]))) return false;
	const isRounded = sides.every(
		(side) => Math.abs(Number(objectOf(before)[side]) - Number(objectOf(now)[side])) <= 1,
	);
	return isRounded || "spatialReference" in objectOf(before) || before === undefined || before === null;
}

function sameMembers(before: unknown, now: unknown): boolean {
	const spelled = Object.entries(objectOf(before)).map(([name, alias]) => [
		escapeMarkup(name),
		typeof alias === "string" ? escapeMarkup(alias) : alias,
	]);
	return isDeepStrictEqual(Object.fromEntries(spelled), now);
}

const fixedTitles: Readonly<Record<string, string>> = { Icon: "Icône", Details: "Détails" };

function gridDifferences(before: Json[], now: Json[]): Difference[] {
	const idsOf = (columns: Json[]) =>
		columns.map(({ fieldName, id }) => escapeMarkup(String(fieldName || id)));
	if (!isDeepStrictEqual(idsOf(before), idsOf(now)))
		return [relevant("datagrid: other columns, or in another order")];
	return before.flatMap((column, index) => columnDifferences(column, now[index] as Json));
}

function columnDifferences(before: Json, now: Json): Difference[] {
	const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
	return names.flatMap((name) => {
		const [one, other] = [before[name], now[name]];
		if (isDeepStrictEqual(one, other)) return [];
		if (name === "title" && fixedTitles[String(one)] === other)
			return [cosmetic("French titles of the fixed columns")];
		if (other === "num") return [cosmetic("columns of numbers that sort as numbers")];
		if (typeof one === "string" && escapeMarkup(one) === other) return [cosmetic(escapedMarkup)];
		return [relevant(`datagrid: ${name} of a column`)];
	});
}

function symbologyDifferences(before: Json, now: Json): Difference[] {
	if (Object.keys(before).length === 0) return [cosmetic("symbols where there were none")];
	const lists = ["valueMaps", "rangeMaps"] as const;
	const members = Object.keys({ ...before, ...now }).filter((name) => !lists.some((list) => list === name));
	const own = members.flatMap((name) => drawingDifferences(name, before[name], now[name]));
	const inner = lists.flatMap((list) => classDifferences(before[list], now[list]));
	return [...own, ...inner];
}

function classDifferences(before: unknown, now: unknown): Difference[] {
	const [one, other] = [listOf(before), listOf(now)];
	if (one.length !== other.length) return [relevant("symbology: another number of classes")];
	return one.flatMap((drawing, index) => {
		const [old, fresh] = [objectOf(drawing), objectOf(other[index])];
		return Object.keys({ ...old, ...fresh }).flatMap((name) =>
			drawingDifferences(name, old[name], fresh[name]),
		);
	});
}

function drawingDifferences(name: string, before: unknown, now: unknown): Difference[] {
	if (isDeepStrictEqual(before, now)) return [];
	const isEmptyField = /^field[23]$/.test(name) && !before && now === undefined;
	if (isEmptyField) return [cosmetic("symbology: an empty second or third field")];
	if (name === "value" && String(before) === String(now))
		return [cosmetic("symbology: values of a number field as numbers at v0.9, as texts at v1")];
	if (name === "label" && (before ?? "") === (now ?? "")) return [cosmetic("symbology: an empty label")];
	if (typeof before === "string" && escapeMarkup(before) === now) return [cosmetic(escapedMarkup)];
	return [relevant(`symbology: ${name}`)];
}

/** Whether two nodes of v2 name the same layer of a MapServer, one as `esriDynamic` and the other as `esriFeature`. */
function isOtherMapServerForm(name: string, before: Json, now: Json): boolean {
	if (!["layerType", "url", "layerEntries", "nameField"].includes(name)) return false;
	const wholeOf = ({ layerType, url, layerEntries }: Json) => {
		const { index } = objectOf(listOf(layerEntries)[0]);
		return layerType === "esriDynamic" ? `${url}/${index}` : layerType === "esriFeature" ? url : null;
	};
	return (
		before.layerType !== now.layerType &&
		wholeOf(before) !== null &&
		bare(wholeOf(before)) === bare(wholeOf(now))
	);
}

function columnsOf(datagrid: unknown): Json[] {
	return listOf(objectOf(datagrid).gridColumns).map(objectOf);
}
