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

/** The place of what differs, which names no single layer, and whether a viewer draws or requests something else because of it. */
type Difference = readonly [kind: string, isRelevant: boolean];

/** Compares a layer's nodes, at v0.9, v1 or v2. @returns each kind of difference, and whether it is relevant */
export function differences(before: Json, now: Json): ReadonlyMap<string, boolean> {
	const isOtherForm = isOtherMapServerForm(before, now);
	const all = memberNames(before, now).flatMap((name) => {
		const [old, fresh] = [before[name], now[name]];
		if (isDeepStrictEqual(old, fresh)) return [];
		if (name === "datagrid") return gridDifferences(columnsOf(old), columnsOf(fresh));
		if (name === "symbology") return symbologyDifferences(objectOf(old), objectOf(fresh));
		if (isOtherForm && mapServerMembers.includes(name)) return [[otherForm, false]] satisfies Difference[];
		return memberDifferences(name, old, fresh);
	});
	// A kind that is relevant anywhere is relevant.
	return new Map(all.sort(([, a], [, b]) => Number(a) - Number(b)));
}

const memberNames = (before: Json, now: Json) => Object.keys({ ...before, ...now });

function memberDifferences(kind: string, before: unknown, now: unknown): Difference[] {
	if (isDeepStrictEqual(before, now)) return [];
	const isEscaped = typeof before === "string" && escapeMarkup(before) === now;
	return [[kind, !isEscaped && !cosmetic[kind]?.(before, now)]];
}

type Test = (before: unknown, now: unknown) => boolean;

const onlyBefore: Test = (_before, now) => now === undefined;
const onlyNow = (before: unknown) => before === undefined || before === null;
const isNoScale: Test = (before, now) => now === 0 && !(typeof before === "number" && before > 0);
const isNumberSort: Test = (_before, now) => now === "num";
const isEmptyField: Test = (before, now) => !before && now === undefined;
const isSameText: Test = (before, now) => String(before ?? "") === String(now ?? "");

/** Member of a node, of a column of its grid or of its symbols → which difference in it no viewer sees, or is a better one. */
const cosmetic: Readonly<Record<string, Test>> = {
	geometryType: onlyBefore,
	imageUrl: onlyNow,
	// RAMP 4.0 refuses a wms layer with them.
	metadataUrl: onlyBefore,
	catalogueUrl: onlyBefore,
	url: (before, now) => bare(before) === bare(now),
	layerExtent: isProjected,
	aliasMap: sameMembers,
	minScale: isNoScale,
	maxScale: isNoScale,
	name: onlyNow,
	// Viewers have the titles of a service's layers from the service.
	layerEntries: (before, now) => isDeepStrictEqual(entryNames(before), entryNames(now)),
	// A release of the older service lost it.
	maxAllowableOffset: onlyNow,
	"datagrid: title": (before, now) => fixedTitles.get(String(before)) === now,
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
	if (!isDeepStrictEqual(idsOf(before), idsOf(now))) return [["datagrid: columns", true]];
	return before.flatMap((column, index) => allDifferences("datagrid", column, now[index] as Json));
}

function allDifferences(place: string, before: Json, now: Json): Difference[] {
	return memberNames(before, now).flatMap((name) =>
		memberDifferences(`${place}: ${name}`, before[name], now[name]),
	);
}

function symbologyDifferences(before: Json, now: Json): Difference[] {
	if (Object.keys(before).length === 0) return [["symbology", false]];
	const [{ valueMaps, rangeMaps, ...old }, { valueMaps: values, rangeMaps: ranges, ...fresh }] = [
		before,
		now,
	];
	const classes = [...listOf(valueMaps), ...listOf(rangeMaps)];
	const freshClasses = [...listOf(values), ...listOf(ranges)];
	if (classes.length !== freshClasses.length) return [["symbology: classes", true]];
	const drawings = [[old, fresh], ...classes.map((drawing, at) => [drawing, freshClasses[at]])];
	return drawings.flatMap(([a, b]) => allDifferences("symbology", objectOf(a), objectOf(b)));
}

const mapServerMembers = ["layerType", "url", "layerEntries", "nameField"];
const otherForm = "V2_MAP_SERVER";

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
