import { isDeepStrictEqual } from "node:util";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { fragmentTexts } from "../../../registry/texts/filled.ts";
import { escapeMarkup } from "../../../registry/untrusted-text.ts";
import { isObject, listOf, objectOf } from "../../../site/service/decode.ts";

export { isObject, listOf, objectOf };

export type Json = Record<string, unknown>;

export function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** The node of a fragment (`{"layers":{"wms":[node]}}`, `{"layers":{"feature":[node]}}`, `{"layers":[node]}`), or null. */
export function nodeIn(fragment: unknown): Json | null {
	const { layers } = objectOf(fragment);
	const { wms, feature } = objectOf(layers);
	const [node] = [...listOf(layers), ...listOf(wms), ...listOf(feature)];
	return isObject(node) ? node : null;
}

/** What differs, in words that name no single layer, and whether a viewer draws or requests something else because of it. */
type Difference = readonly [kind: string, isRelevant: boolean];

/** Compares a layer's nodes, at v0.9, v1 or v2. @returns each kind of difference, and whether it is relevant */
export function differences(before: Json, now: Json): ReadonlyMap<string, boolean> {
	const isOtherForm = isOtherMapServerForm(before, now);
	const all = memberNames(before, now).flatMap((name) => {
		const [old, fresh] = [before[name], now[name]];
		if (isDeepStrictEqual(old, fresh)) return [];
		if (name === "datagrid") return gridDifferences(columnsOf(old), columnsOf(fresh));
		if (name === "symbology") return symbologyDifferences(objectOf(old), objectOf(fresh));
		if (isOtherForm && mapServerMembers.includes(name))
			return [cosmetic("a layer of a MapServer in the form of V2_MAP_SERVER")];
		const missing = onlyNow(old) ? ": only now" : fresh === undefined ? ": only before" : "";
		return memberDifferences(name, old, fresh, name + missing);
	});
	return new Map(all);
}

const memberNames = (before: Json, now: Json) => Object.keys({ ...before, ...now });

/** @param otherwise the kind of the difference, unless the rule, or the escaping of markup, makes it cosmetic */
function memberDifferences(rule: string, before: unknown, now: unknown, otherwise: string): Difference[] {
	if (isDeepStrictEqual(before, now)) return [];
	const [isCosmetic, kind = ""] = rules[rule] ?? [];
	if (isCosmetic?.(before, now)) return [cosmetic(kind)];
	if (typeof before === "string" && escapeMarkup(before) === now) return [cosmetic(escapedMarkup)];
	return [relevant(otherwise)];
}

const escapedMarkup = "a text that a viewer would run as HTML: made harmless";

const cosmetic = (kind: string): Difference => [kind, false];
const relevant = (kind: string): Difference => [kind, true];

type Test = (before: unknown, now: unknown) => boolean;

const onlyBefore: Test = (_before, now) => now === undefined;
const onlyNow = (before: unknown) => before === undefined || before === null;
const isNoScale: Test = (before, now) => now === 0 && !(typeof before === "number" && before > 0);
const isNumberSort: Test = (_before, now) => now === "num";
const isEmptyField: Test = (before, now) => !before && now === undefined;

const wmsMetadata = "metadata of a wms layer, which RAMP 4.0 refuses: left out";
const noScale = "an impossible scale";
const numberColumn = "columns of numbers that sort as numbers";
const emptyField = "symbology: an empty second or third field";

/** Member of a node, of a `column` of its grid or of its `symbol`s → which difference in it is cosmetic, and its kind. */
const rules: Readonly<Record<string, readonly [isCosmetic: Test, kind: string]>> = {
	geometryType: [onlyBefore, "geometryType: no viewer reads it"],
	imageUrl: [onlyNow, "a picture of a wms layer for the list of layers"],
	metadataUrl: [onlyBefore, wmsMetadata],
	catalogueUrl: [onlyBefore, wmsMetadata],
	url: [(before, now) => bare(before) === bare(now), "a slash or a ? at the end of the address: left out"],
	layerExtent: [isProjected, "an extent in the map's spatial reference"],
	aliasMap: [sameMembers, escapedMarkup],
	minScale: [isNoScale, noScale],
	maxScale: [isNoScale, noScale],
	name: [onlyNow, "a name that was missing"],
	layerEntries: [sameEntries, "titles of a service's layers: viewers have them from the service"],
	maxAllowableOffset: [onlyNow, "an offset that a release of the older service lost"],
	"column title": [
		(before, now) => fixedTitles.get(String(before)) === now,
		"French titles of the fixed columns",
	],
	"column sortType": [isNumberSort, numberColumn],
	"column type": [isNumberSort, numberColumn],
	"symbol field2": [isEmptyField, emptyField],
	"symbol field3": [isEmptyField, emptyField],
	"symbol value": [
		(before, now) => String(before) === String(now),
		"symbology: values of a number field as numbers at v0.9, as texts at v1",
	],
	"symbol label": [(before, now) => (before ?? "") === (now ?? ""), "symbology: an empty label"],
};

function bare(address: unknown): unknown {
	return typeof address === "string" ? address.trim().replace(/(?<![/?])[/?]+$/, "") : address;
}

function sameEntries(before: unknown, now: unknown): boolean {
	return isDeepStrictEqual(entryNames(before), entryNames(now));
}

export function entryNames(entries: unknown): unknown[] {
	return listOf(entries).map((entry) => objectOf(entry).id ?? objectOf(entry).index);
}

function isProjected(before: unknown, now: unknown): boolean {
	const sides = ["xmin", "ymin", "xmax", "ymax"];
	if (!sides.every((side) => Number.isFinite(objectOf(now)[side]))) return false;
	const isRounded = sides.every(
		(side) => Math.abs(Number(objectOf(before)[side]) - Number(objectOf(now)[side])) <= 1,
	);
	return isRounded || "spatialReference" in objectOf(before) || onlyNow(before);
}

function sameMembers(before: unknown, now: unknown): boolean {
	const escaped = (value: unknown) => (typeof value === "string" ? escapeMarkup(value) : value);
	const spelled = Object.entries(objectOf(before)).map((entry) => entry.map(escaped));
	return isDeepStrictEqual(Object.fromEntries(spelled), now);
}

const fixedTitles = new Map<string, string>(
	(["column-icon", "column-details"] as const).map((code) => [
		fragmentTexts.en[code],
		fragmentTexts.fr[code],
	]),
);

function columnsOf(datagrid: unknown): Json[] {
	return listOf(objectOf(datagrid).gridColumns).map(objectOf);
}

function gridDifferences(before: Json[], now: Json[]): Difference[] {
	const idsOf = (columns: Json[]) =>
		columns.map(({ fieldName, id }) => escapeMarkup(String(fieldName || id)));
	if (!isDeepStrictEqual(idsOf(before), idsOf(now)))
		return [relevant("datagrid: other columns, or in another order")];
	return before.flatMap((column, index) => {
		const fresh = now[index] as Json;
		return memberNames(column, fresh).flatMap((name) =>
			memberDifferences(`column ${name}`, column[name], fresh[name], `datagrid: ${name} of a column`),
		);
	});
}

const classLists = ["valueMaps", "rangeMaps"];

function symbologyDifferences(before: Json, now: Json): Difference[] {
	if (Object.keys(before).length === 0) return [cosmetic("symbols that were missing")];
	const inner = classLists.flatMap((list) => {
		const [old, fresh] = [listOf(before[list]), listOf(now[list])];
		if (old.length !== fresh.length) return [relevant("symbology: another number of classes")];
		return old.flatMap((drawing, index) => symbolDifferences(objectOf(drawing), objectOf(fresh[index])));
	});
	return [...symbolDifferences(before, now), ...inner];
}

function symbolDifferences(before: Json, now: Json): Difference[] {
	const names = memberNames(before, now).filter((name) => !classLists.includes(name));
	return names.flatMap((name) =>
		memberDifferences(`symbol ${name}`, before[name], now[name], `symbology: ${name}`),
	);
}

const mapServerMembers = ["layerType", "url", "layerEntries", "nameField"];

/** Whether two nodes of v2 name the same layer of a MapServer, one as `esriDynamic` and the other as `esriFeature`. */
function isOtherMapServerForm(before: Json, now: Json): boolean {
	const wholeOf = ({ layerType, url, layerEntries }: Json) => {
		const { index } = objectOf(listOf(layerEntries)[0]);
		return layerType === "esriDynamic" ? `${url}/${index}` : layerType === "esriFeature" ? url : null;
	};
	const [old, fresh] = [wholeOf(before), wholeOf(now)];
	return before.layerType !== now.layerType && old !== null && bare(old) === bare(fresh);
}

/** The targets of the older service; each release served at most two of them. */
export const comparedTargets = ["v0.9", "v1", "v2"] as const satisfies readonly TargetName[];
export type ComparedTarget = (typeof comparedTargets)[number];

/** `node`: null if the service has no such layer; `failure`: why it cannot be read. */
export type Read = { node: Json | null } | { failure: string };

export interface Finding {
	/** `relevant`: a viewer draws or requests something else. `missing`: only the older service has the layer. */
	class: "relevant" | "cosmetic" | "missing" | "unreadable";
	kind: string;
	targets: Set<ComparedTarget>;
	smallkeys: Set<string>;
}

/** Kinds of difference that are listed: their texts have names that a service chooses. */
const maxKinds = 1_000;

export class Comparison {
	readonly findings = new Map<string, Finding>();
	/** Smallkeys with a layer on the older service; `fresh`: on the newer one. */
	readonly old = new Set<string>();
	readonly fresh = new Set<string>();

	add(kindOf: Finding["class"], text: string, target: ComparedTarget, smallkey: string): void {
		const { findings } = this;
		const isListed = findings.size < maxKinds || findings.has(`${kindOf} ${text}`);
		const kind = isListed ? text : "another difference";
		const key = `${kindOf} ${kind}`;
		const fresh: Finding = { class: kindOf, kind, targets: new Set(), smallkeys: new Set() };
		const finding = findings.get(key) ?? fresh;
		finding.targets.add(target);
		finding.smallkeys.add(smallkey);
		findings.set(key, finding);
	}

	compare(target: ComparedTarget, smallkey: string, before: Read, now: Read): void {
		if ("failure" in before || before.node) this.old.add(smallkey);
		if ("failure" in before) return this.add("unreadable", before.failure, target, smallkey);
		if ("failure" in now) return this.add("relevant", now.failure, target, smallkey);
		if (now.node) this.fresh.add(smallkey);
		if (!before.node) return;
		if (!now.node) return this.add("missing", "not there", target, smallkey);
		for (const [kind, isRelevant] of differences(before.node, now.node))
			this.add(isRelevant ? "relevant" : "cosmetic", kind, target, smallkey);
	}
}
