import { getArea, getIntersection } from "ol/extent.js";
import type {
	FeatureDescription,
	Field,
	LangDescription,
	NamedDescription,
} from "../../registry/description.ts";
import { isCopyOf, normalize, seriesStep } from "./names.ts";

type Trait =
	| ("name" | "geometry" | "fields" | "place" | "scale" | "symbols" | "count")
	| ("title" | "abstract" | "keywords");

/** Texts for readers of any language, which may quote a service. */
interface Evidence {
	trait: Trait;
	before: string;
	after: string;
	agrees: boolean;
}

/** `same`: every row agrees. `perhaps`: the most important rows do. null: too few do, or the layers cannot be compared. */
export interface Agreement {
	sure: "same" | "perhaps" | null;
	rows: Evidence[];
}

const minShareOfFields = 0.75;

const minOverlap = 0.8;

/** A share of the larger number of features. */
const maxCountChange = 0.1;

/** Many layers share two or three fields. */
const minFieldsOfRenamed = 4;

const minLengthOfAbstract = 30;

/** A point has no area. */
const minSideDegrees = 0.001;

type LayerDescription = FeatureDescription | NamedDescription;

/** @param before the last known description of a layer @param after one from another address */
export function agreementOf(before: LangDescription, after: LangDescription): Agreement {
	if ("entries" in before || "entries" in after) return { sure: null, rows: [] };
	const { sure, rows } = compare(before, after);
	if (sure === null || isCopyOf(pathOf(before), pathOf(after)) || isHidden(before, after))
		return { sure: null, rows };
	const namesAfter = seriesNames(after);
	const steps = seriesNames(before)
		.map((name, at) => seriesStep(name, namesAfter[at] ?? ""))
		.filter((step) => step !== null);
	if (steps.length === 0) return { sure, rows };
	// Another layer of a series is never the same; perhaps, if it is a later one that is new.
	return { sure: before.siblings && steps.every((step) => step === "later") ? "perhaps" : null, rows };
}

/** The layers of a series differ in these. */
function seriesNames(layer: LayerDescription) {
	const names = "renderer" in layer ? [layer.name] : [layer.layers.join("\n"), layer.title ?? ""];
	return [...names, pathOf(layer)];
}

function compare(before: LayerDescription, after: LayerDescription): Agreement {
	if ("renderer" in before && "renderer" in after) return compareFeatures(before, after);
	if ("layers" in before && "layers" in after) return compareNamed(before, after);
	return { sure: null, rows: [] };
}

function compareFeatures(before: FeatureDescription, after: FeatureDescription): Agreement {
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
	return { sure: sureOfFeatures(fields, fieldsAfter, rows), rows };
}

function compareNamed(before: NamedDescription, after: NamedDescription): Agreement {
	const rows = [
		rowOf("title", before.title, after.title),
		rowOf("abstract", before.abstract, after.abstract),
		placeRow(before, after),
		rowOf("scale", scalesOf(before), scalesOf(after), hasSameScales(before, after)),
		rowOf("keywords", before.keywords?.toSorted().join(", "), after.keywords?.toSorted().join(", ")),
	].flat();
	return { sure: sureOfNamed(rows, before.layers.join("\n") === after.layers.join("\n")), rows };
}

/** Folder and service on an ArcGIS server, else the whole path. */
function pathOf({ service_url }: LayerDescription) {
	const { pathname } = new URL(service_url);
	return /\/services\/(.*?\/(?:Map|Feature)Server)(?=\/|$)/i.exec(pathname)?.[1] ?? pathname;
}

/** Whether name or title agree too: in these the layers of a series differ. */
export function hasItsName({ sure, rows }: Agreement): boolean {
	return sure !== null && rows.every((row) => row.agrees || (row.trait !== "name" && row.trait !== "title"));
}

function sureOfFeatures(fields: string[], fieldsAfter: string[], rows: Evidence[]): Agreement["sure"] {
	const common = fields.filter((field) => fieldsAfter.includes(field)).length;
	if (!agrees(rows, "geometry") || fields.length === 0 || common / fields.length < minShareOfFields)
		return null;
	const isSame = rows.every((row) => row.agrees || row.trait === "name");
	if (agrees(rows, "name")) return isSame ? "same" : "perhaps";
	return isSame && fields.length >= minFieldsOfRenamed && agrees(rows, "place") ? "perhaps" : null;
}

function sureOfNamed(rows: Evidence[], isSameName: boolean): Agreement["sure"] {
	// Many layers may have the same title and lie in the same place.
	const isTelling = isSameName || agrees(rows, "abstract") || agrees(rows, "keywords");
	if (agrees(rows, "title") && (isSameName || rows.length > 1))
		return isTelling && rows.length > 1 && rows.every((row) => row.agrees) ? "same" : "perhaps";
	const abstract = agrees(rows, "abstract")?.before ?? "";
	return abstract.length >= minLengthOfAbstract && agrees(rows, "place") ? "perhaps" : null;
}

function agrees(rows: Evidence[], trait: Trait) {
	return rows.find((row) => row.trait === trait && row.agrees);
}

function rowOf(
	trait: Trait,
	before = "",
	after = "",
	agrees = normalize(before) === normalize(after),
): Evidence[] {
	return before === "" && after === "" ? [] : [{ trait, before, after, agrees }];
}

function fieldsRow(fields: string[], fieldsAfter: string[]) {
	const onlyIn = (all: string[], others: string[], sign: string) =>
		all.filter((field) => !others.includes(field)).map((field) => sign + field);
	const changes = [...onlyIn(fields, fieldsAfter, "-"), ...onlyIn(fieldsAfter, fields, "+")];
	const text = [fieldsAfter.length, changes.join(", ")].filter(Boolean).join(": ");
	return rowOf("fields", `${fields.length}`, text, changes.length === 0);
}

/** A server's database decides on the case of names. */
function fieldsOf({ fields }: FeatureDescription) {
	const textOf = ({ name, type }: Field) => `${name.toUpperCase()} (${type.replace("esriFieldType", "")})`;
	return [...new Set(fields.map(textOf))];
}

/** A newer server draws other pictures. */
function symbolsOf({ renderer }: FeatureDescription) {
	if (renderer.type === "simple") return renderer.label;
	const fields = renderer.type === "unique" ? renderer.fields.join(", ") : renderer.field;
	return `${fields}: ${renderer.classes.map(({ label }) => label).join(", ")}`;
}

function scalesOf({ min_scale = 0, max_scale = 0 }: LayerDescription) {
	return min_scale === 0 && max_scale === 0 ? "" : `1:${min_scale || "∞"} – 1:${max_scale}`;
}

/** Each server of WMS 1.1.1 chooses a size of pixels. */
const maxHintFactor = 2;

function hasSameScales(before: LayerDescription, after: LayerDescription) {
	return (["min_scale", "max_scale"] as const).every((name) => {
		const [smaller = 0, larger = 0] = [before[name] ?? 0, after[name] ?? 0].sort((a, b) => a - b);
		return smaller === larger || (smaller > 0 && larger / smaller < maxHintFactor);
	});
}

/** Whether the layer is no longer drawn at its earlier place or scales. */
function isHidden(before: LayerDescription, after: LayerDescription) {
	if (overlapOf(before, after) === 0) return true;
	if (!("renderer" in before) && hasSameScales(before, after)) return false;
	const smallest = ({ min_scale }: LayerDescription) => min_scale || Number.POSITIVE_INFINITY;
	return smallest(after) < smallest(before) || (after.max_scale ?? 0) > (before.max_scale ?? 0);
}

function countRow(before: number | null, after: number | null) {
	if (before === null || after === null) return [];
	const isNear = Math.abs(before - after) <= maxCountChange * Math.max(before, after);
	return rowOf("count", `${before}`, `${after}`, isNear);
}

function placeRow(before: LangDescription, after: LangDescription) {
	const overlap = overlapOf(before, after);
	if (overlap === null) return [];
	return rowOf("place", before.bounds?.join(", "), after.bounds?.join(", "), overlap >= minOverlap);
}

/** The intersection as a share of the union; null if one of the bounds is not known. */
function overlapOf(before: LangDescription, after: LangDescription): number | null {
	if (!before.bounds || !after.bounds) return null;
	const [first, second] = [widen(before.bounds), widen(after.bounds)];
	const both = getArea(getIntersection(first, second));
	return both / (getArea(first) + getArea(second) - both);
}

function widen([west = 0, south = 0, east = 0, north = 0]: readonly number[]) {
	return [west, south, Math.max(east, west + minSideDegrees), Math.max(north, south + minSideDegrees)];
}
