import { getArea, getIntersection } from "ol/extent.js";
import type {
	FeatureDescription,
	Field,
	LangDescription,
	NamedDescription,
} from "../../registry/description.ts";
import { isCopyOf, normalized, seriesStep } from "./names.ts";

type Trait =
	| ("name" | "geometry" | "fields" | "place" | "scale" | "symbols" | "count")
	| ("title" | "abstract" | "keywords");

/** Texts have no words of a language, and may quote a service. */
export interface Evidence {
	trait: Trait;
	before: string;
	after: string;
	agrees: boolean;
}

/** `same`: in every row. `perhaps`: in the most important rows. null: in too few, or one of them cannot be compared. */
export interface Agreement {
	sure: "same" | "perhaps" | null;
	rows: Evidence[];
}

/** Of the earlier fields. */
const minShare = 0.75;

/** Of the places of two layers, as a share of their union. */
const minOverlap = 0.8;

/** Of the number of features, as a share of the larger one. */
const maxGrowth = 0.1;

/** From which a renamed layer is identified by its fields: many layers share two or three. */
const minFields = 4;

/** From which a layer with another title is identified by its abstract. */
const minAbstractLength = 30;

/** Degrees to which shorter sides are extended: a point has no area. */
const minSide = 0.001;

type LayerDescription = FeatureDescription | NamedDescription;

interface Comparison extends Agreement {
	/** Before and after: in these the layers of a series differ. */
	names: [before: string, after: string][];
}

/** @param before the last known description of a layer @param after one from another address */
export function agreementOf(before: LangDescription, after: LangDescription): Agreement {
	if ("entries" in before || "entries" in after) return { sure: null, rows: [] };
	const { sure, rows, names } = compare(before, after);
	const paths = [pathOf(before), pathOf(after)] as const;
	if (sure === null || isCopyOf(...paths) || isHidden(before, after)) return { sure: null, rows };
	const steps = [...names, paths].map((pair) => seriesStep(...pair)).filter((step) => step !== null);
	if (steps.length === 0) return { sure, rows };
	// Another layer of a series is never the same; perhaps, if it is a later one that is new.
	return { sure: before.siblings && steps.every((step) => step === "later") ? "perhaps" : null, rows };
}

function compare(before: LayerDescription, after: LayerDescription): Comparison {
	if ("renderer" in before && "renderer" in after) return compareFeatures(before, after);
	if ("layers" in before && "layers" in after) return compareNamed(before, after);
	return { sure: null, rows: [], names: [] };
}

function compareFeatures(before: FeatureDescription, after: FeatureDescription): Comparison {
	const [fields, fieldsAfter] = [fieldsOf(before), fieldsOf(after)];
	const rows = [
		rowOf("name", before.name, after.name),
		rowOf("geometry", before.geometry_type, after.geometry_type),
		fieldsRow(fields, fieldsAfter),
		placeRow(before, after),
		rowOf("scale", scalesOf(before), scalesOf(after)),
		rowOf("symbols", symbolsOf(before), symbolsOf(after)),
		countRow(before.count, after.count),
	].flat();
	return { sure: sureOfFeatures(fields, fieldsAfter, rows), rows, names: [[before.name, after.name]] };
}

function compareNamed(before: NamedDescription, after: NamedDescription): Comparison {
	const rows = [
		rowOf("title", before.title, after.title),
		rowOf("abstract", before.abstract, after.abstract),
		placeRow(before, after),
		rowOf("scale", scalesOf(before), scalesOf(after), hasSameScales(before, after)),
		rowOf("keywords", before.keywords?.toSorted().join(", "), after.keywords?.toSorted().join(", ")),
	].flat();
	const [layers, layersAfter] = [before.layers.join("\n"), after.layers.join("\n")];
	const titles: [string, string] = [before.title ?? "", after.title ?? ""];
	return { sure: sureOfNamed(rows, layers === layersAfter), rows, names: [[layers, layersAfter], titles] };
}

/** Folder and service on an ArcGIS server, else the whole path. */
function pathOf({ service_url }: LayerDescription): string {
	const { pathname } = new URL(service_url);
	return /\/services\/(.*?\/(?:Map|Feature)Server)(?=\/|$)/i.exec(pathname)?.[1] ?? pathname;
}

/** Whether name or title agree too: in these the layers of a series differ. */
export function hasItsName({ sure, rows }: Agreement): boolean {
	return sure !== null && rows.every((row) => row.agrees || (row.trait !== "name" && row.trait !== "title"));
}

function sureOfFeatures(
	fields: string[],
	fieldsAfter: string[],
	rows: readonly Evidence[],
): Agreement["sure"] {
	const common = fields.filter((field) => fieldsAfter.includes(field)).length;
	if (!agrees(rows, "geometry") || fields.length === 0 || common / fields.length < minShare) return null;
	const isSame = rows.every((row) => row.agrees || row.trait === "name");
	if (agrees(rows, "name")) return isSame ? "same" : "perhaps";
	return isSame && fields.length >= minFields && agrees(rows, "place") ? "perhaps" : null;
}

/** @param isSameName in the WMS */
function sureOfNamed(rows: readonly Evidence[], isSameName: boolean): Agreement["sure"] {
	// Many layers may have the same title and lie in the same place.
	const isTelling = isSameName || agrees(rows, "abstract") || agrees(rows, "keywords");
	if (agrees(rows, "title") && (isSameName || rows.length > 1))
		return isTelling && rows.length > 1 && rows.every((row) => row.agrees) ? "same" : "perhaps";
	const abstract = agrees(rows, "abstract")?.before ?? "";
	return abstract.length >= minAbstractLength && agrees(rows, "place") ? "perhaps" : null;
}

function agrees(rows: readonly Evidence[], trait: Trait): Evidence | undefined {
	return rows.find((row) => row.trait === trait && row.agrees);
}

function rowOf(
	trait: Trait,
	before = "",
	after = "",
	agrees = normalized(before) === normalized(after),
): Evidence[] {
	return before === "" && after === "" ? [] : [{ trait, before, after, agrees }];
}

function fieldsRow(fields: string[], fieldsAfter: string[]): Evidence[] {
	const onlyIn = (all: string[], others: string[], sign: string) =>
		all.filter((field) => !others.includes(field)).map((field) => sign + field);
	const changes = [...onlyIn(fields, fieldsAfter, "-"), ...onlyIn(fieldsAfter, fields, "+")];
	const text = [fieldsAfter.length, changes.join(", ")].filter(Boolean).join(": ");
	return rowOf("fields", `${fields.length}`, text, changes.length === 0);
}

/** In upper case: a server's database decides on the case of names. */
function fieldsOf({ fields }: FeatureDescription): string[] {
	const textOf = ({ name, type }: Field) => `${name.toUpperCase()} (${type.replace("esriFieldType", "")})`;
	return [...new Set(fields.map(textOf))];
}

/** Without the pictures, which a newer server draws in another way. */
function symbolsOf({ renderer }: FeatureDescription): string {
	if (renderer.type === "simple") return renderer.label;
	const by = renderer.type === "unique" ? renderer.fields.join(", ") : renderer.field;
	return `${by}: ${renderer.classes.map(({ label }) => label).join(", ")}`;
}

function scalesOf({ min_scale = 0, max_scale = 0 }: LayerDescription): string {
	return min_scale === 0 && max_scale === 0 ? "" : `1:${min_scale || "∞"} – 1:${max_scale}`;
}

/** Version 1.1.1 of WMS says scales in pixels whose size each server chooses. */
const maxHintFactor = 2;

function hasSameScales(before: LayerDescription, after: LayerDescription): boolean {
	return (["min_scale", "max_scale"] as const).every((name) => {
		const [smaller = 0, larger = 0] = [before[name] ?? 0, after[name] ?? 0].sort((a, b) => a - b);
		return smaller === larger || (smaller > 0 && larger / smaller < maxHintFactor);
	});
}

/** Whether the layer is not drawn where or at scales at which it was before. */
function isHidden(before: LayerDescription, after: LayerDescription): boolean {
	if (overlapOf(before, after) === 0) return true;
	if (!("renderer" in before) && hasSameScales(before, after)) return false;
	const smallest = ({ min_scale }: LayerDescription) => min_scale || Number.POSITIVE_INFINITY;
	return smallest(after) < smallest(before) || (after.max_scale ?? 0) > (before.max_scale ?? 0);
}

function countRow(before: number | null, after: number | null): Evidence[] {
	if (before === null || after === null) return [];
	const isNear = Math.abs(before - after) <= maxGrowth * Math.max(before, after);
	return rowOf("count", `${before}`, `${after}`, isNear);
}

function placeRow(before: LangDescription, after: LangDescription): Evidence[] {
	const overlap = overlapOf(before, after);
	if (overlap === null) return [];
	return rowOf("place", before.bounds?.join(", "), after.bounds?.join(", "), overlap >= minOverlap);
}

/** The intersection of two rectangles as a share of their union; null if one of them is not known. */
function overlapOf(before: LangDescription, after: LangDescription): number | null {
	if (!before.bounds || !after.bounds) return null;
	const [first, second] = [widened(before.bounds), widened(after.bounds)];
	const both = getArea(getIntersection(first, second));
	return both / (getArea(first) + getArea(second) - both);
}

function widened([west = 0, south = 0, east = 0, north = 0]: readonly number[]): number[] {
	return [west, south, Math.max(east, west + minSide), Math.max(north, south + minSide)];
}
