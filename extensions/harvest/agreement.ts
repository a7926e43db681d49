import { getArea, getIntersection } from "ol/extent.js";
import type {
	FeatureDescription,
	Field,
	LangDescription,
	NamedDescription,
} from "../../registry/description.ts";
import { isCopyOf, normalized, seriesStep } from "./names.ts";

/** Texts have no words of a language, and may quote a service. */
export interface Evidence {
	trait:
		| "name"
		| "geometry"
		| "fields"
		| "place"
		| "scale"
		| "symbols"
		| "count"
		| "title"
		| "abstract"
		| "keywords";
	before: string;
	after: string;
	agrees: boolean;
}

/** `same`: in every row. `perhaps`: in the most important rows. null: in too few, or one of them cannot be compared. */
export interface Agreement {
	sure: "same" | "perhaps" | null;
	rows: Evidence[];
}

const minShare = 0.75;

/** Of the union of two rectangles. */
const minOverlap = 0.8;

/** Relative. */
const maxGrowth = 0.1;

/** From which a renamed layer is identified by its fields: many layers share two or three. */
const minFields = 4;

/** From which a layer with another title is identified by its abstract. */
const minAbstractLength = 30;

/** Degrees to which shorter sides are extended: a point has no area. */
const minSide = 0.001;

type LayerDescription = FeatureDescription | NamedDescription;

export function agreementOf(known: LangDescription, found: LangDescription): Agreement {
	if ("entries" in known || "entries" in found) return { sure: null, rows: [] };
	const paths = [known, found].map(pathOf) as [string, string];
	const { sure, rows } = rowsOf(known, found);
	return { sure: isCopyOf(...paths) ? null : inSeries(sure, known, ...paths), rows };
}

function rowsOf(known: LayerDescription, found: LayerDescription): Agreement {
	const [before, after] = [known.bounds, found.bounds];
	const overlap = before && after ? overlapOf(before, after) : null;
	const place =
		overlap === null ? [] : rowOf("place", before?.join(", "), after?.join(", "), overlap >= minOverlap);
	if ("renderer" in known && "renderer" in found) {
		const rows = [
			rowOf("name", known.name, found.name),
			rowOf("geometry", known.geometry_type, found.geometry_type),
			fieldsRow(known, found),
			place,
			rowOf("scale", scalesOf(known), scalesOf(found)),
			rowOf("symbols", symbolsOf(known), symbolsOf(found)),
			countRow(known.count, found.count),
		].flat();
		const sure = overlap === 0 || hides(known, found) ? null : sureOfFeatures(known, found, rows);
		return { sure: inSeries(sure, known, known.name, found.name), rows };
	}
	if ("renderer" in known || "renderer" in found) return { sure: null, rows: [] };
	const rows = [
		rowOf("title", known.title, found.title),
		rowOf("abstract", known.abstract, found.abstract),
		place,
		rowOf("scale", scalesOf(known), scalesOf(found), hasSameScales(known, found)),
		rowOf("keywords", known.keywords?.toSorted().join(", "), found.keywords?.toSorted().join(", ")),
	].flat();
	const isSameName = known.layers.join("\n") === found.layers.join("\n");
	const sure = overlap === 0 || hides(known, found) ? null : sureOfNamed(rows, isSameName);
	const named = inSeries(sure, known, known.layers.join(" "), found.layers.join(" "));
	return { sure: inSeries(named, known, known.title ?? "", found.title ?? ""), rows };
}

/** Folder and service on an ArcGIS server, else the whole path. */
function pathOf({ service_url }: LayerDescription): string {
	const { pathname } = new URL(service_url);
	const [, path = pathname] = /\/services\/(.*?\/(?:Map|Feature)Server)(?=\/|$)/i.exec(pathname) ?? [];
	return path;
}

/** Another layer of a series is never the same; perhaps, if it is a later one that is new. */
function inSeries(sure: Agreement["sure"], known: LangDescription, before: string, after: string) {
	const step = seriesStep(before, after);
	if (step === 0 || sure === null) return sure;
	return step > 0 && known.siblings ? "perhaps" : null;
}

/** Whether name or title agree too: in these the layers of a series differ. */
export function hasItsName({ sure, rows }: Agreement): boolean {
	return sure !== null && rows.every((row) => row.agrees || (row.trait !== "name" && row.trait !== "title"));
}

function sureOfFeatures(
	known: FeatureDescription,
	found: FeatureDescription,
	rows: readonly Evidence[],
): Agreement["sure"] {
	const [before, after] = [fieldsOf(known), fieldsOf(found)];
	const common = before.filter((field) => after.includes(field)).length;
	if (!agrees(rows, "geometry") || before.length === 0 || common / before.length < minShare) return null;
	const others = rows.filter(({ trait }) => trait !== "name");
	const isSame = others.every((row) => row.agrees);
	if (agrees(rows, "name")) return isSame ? "same" : "perhaps";
	return isSame && before.length >= minFields && agrees(rows, "place") ? "perhaps" : null;
}

function sureOfNamed(rows: readonly Evidence[], isSameName: boolean): Agreement["sure"] {
	// Many layers may have the same title and lie in the same place.
	const isTelling = isSameName || agrees(rows, "abstract") || agrees(rows, "keywords");
	const isSame = isTelling && rows.every((row) => row.agrees);
	if (agrees(rows, "title") && rows.length > 1) return isSame ? "same" : "perhaps";
	if (agrees(rows, "title") && isSameName) return "perhaps";
	const abstract = rows.find(({ trait }) => trait === "abstract");
	const isLong = abstract?.agrees === true && abstract.before.length >= minAbstractLength;
	return isLong && agrees(rows, "place") ? "perhaps" : null;
}

function agrees(rows: readonly Evidence[], wanted: Evidence["trait"]): boolean {
	return rows.some(({ trait, agrees }) => trait === wanted && agrees);
}

function rowOf(
	trait: Evidence["trait"],
	before = "",
	after = "",
	agrees = normalized(before) === normalized(after),
): Evidence[] {
	return before === "" && after === "" ? [] : [{ trait, before, after, agrees }];
}

function fieldsRow(known: FeatureDescription, found: FeatureDescription): Evidence[] {
	const [before, after] = [fieldsOf(known), fieldsOf(found)];
	const changes = [
		...before.filter((one) => !after.includes(one)).map((one) => `-${one}`),
		...after.filter((one) => !before.includes(one)).map((one) => `+${one}`),
	];
	const text = [after.length, changes.join(", ")].filter(Boolean).join(": ");
	return rowOf("fields", `${before.length}`, text, changes.length === 0);
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

function isSameScale(before = 0, after = 0): boolean {
	return (
		before === after ||
		(Math.min(before, after) > 0 && Math.max(before / after, after / before) < maxHintFactor)
	);
}

function hasSameScales(known: LayerDescription, found: LayerDescription): boolean {
	return isSameScale(known.min_scale, found.min_scale) && isSameScale(known.max_scale, found.max_scale);
}

function hides(known: LayerDescription, found: LayerDescription): boolean {
	if (!("renderer" in known) && hasSameScales(known, found)) return false;
	const smallest = ({ min_scale }: LayerDescription) => min_scale || Number.POSITIVE_INFINITY;
	return smallest(found) < smallest(known) || (found.max_scale ?? 0) > (known.max_scale ?? 0);
}

function countRow(before: number | null, after: number | null): Evidence[] {
	if (before === null || after === null) return [];
	const isNear = Math.abs(before - after) <= maxGrowth * Math.max(before, after);
	return rowOf("count", `${before}`, `${after}`, isNear);
}

function overlapOf(before: readonly number[], after: readonly number[]): number {
	const [one, other] = [widened(before), widened(after)];
	const both = getArea(getIntersection(one, other));
	return both / (getArea(one) + getArea(other) - both);
}

function widened([west = 0, south = 0, east = 0, north = 0]: readonly number[]): number[] {
	return [west, south, Math.max(east, west + minSide), Math.max(north, south + minSide)];
}
