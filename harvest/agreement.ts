import type { FeatureDescription, LangDescription } from "../registry/description.ts";

/** What two descriptions are compared by. */
export type Trait =
	| "name"
	| "geometry"
	| "fields"
	| "place"
	| "symbols"
	| "count"
	| "title"
	| "abstract"
	| "keywords";

/**
 * One row of evidence: what was known, what was found, and whether that agrees. The texts are of no language, and may
 * quote a service.
 */
export interface Evidence {
	trait: Trait;
	before: string;
	after: string;
	agrees: boolean;
}

/**
 * How far a found layer agrees with a known one. `same`: in every row. `perhaps`: in part, and in what matters most.
 * null: too little, or one of them cannot be compared.
 */
export interface Agreement {
	sure: "same" | "perhaps" | null;
	rows: Evidence[];
}

/** Smallest share of the known fields that has to be found again. */
const minShare = 0.75;

/** Smallest share that the common part of two rectangles has of both together, where they are one place. */
const minOverlap = 0.8;

/** Largest relative difference of two numbers of features that agree. */
const maxGrowth = 0.1;

/** Fewest fields by which a layer of another name can be known again: many layers have two or three alike. */
const minFields = 4;

/** Shortest abstract by which a layer of another title can be known again, in characters. */
const minAbstract = 30;

/** A side of a rectangle is at least so long, in degrees: a single point has a place, too. */
const minSide = 0.001;

/** Compares what was last known of a layer with what another address says. */
export function agreementOf(known: LangDescription, found: LangDescription): Agreement {
	if ("entries" in known || "entries" in found) return { sure: null, rows: [] };
	const overlap = known.bounds && found.bounds ? overlapOf(known.bounds, found.bounds) : null;
	const bounds = [known.bounds, found.bounds].map((sides) => sides?.join(", "));
	const place = overlap === null ? null : rowOf("place", bounds[0], bounds[1], overlap >= minOverlap);
	if ("renderer" in known && "renderer" in found) {
		const rows = [
			rowOf("name", known.name, found.name),
			rowOf("geometry", known.geometry_type, found.geometry_type),
			fieldsRow(known, found),
			place,
			rowOf("symbols", symbolsOf(known), symbolsOf(found)),
			countRow(known.count, found.count),
		].filter((row) => row !== null);
		return { sure: overlap === 0 ? null : sureOfFeatures(known, found, rows), rows };
	}
	if ("renderer" in known || "renderer" in found) return { sure: null, rows: [] };
	const rows = [
		rowOf("title", known.title, found.title),
		rowOf("abstract", known.abstract, found.abstract),
		place,
		rowOf("keywords", known.keywords?.toSorted().join(", "), found.keywords?.toSorted().join(", ")),
	].filter((row) => row !== null);
	const isSameName = known.layers.join("\n") === found.layers.join("\n");
	return { sure: overlap === 0 ? null : sureOfNamed(rows, isSameName), rows };
}

/** Whether a found layer is the known one by its name, too: a layer of a row of alike ones has another one. */
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

/** @param isSameName whether the WMS calls it as it did */
function sureOfNamed(rows: readonly Evidence[], isSameName: boolean): Agreement["sure"] {
	// A title alone may be that of many layers.
	if (agrees(rows, "title") && rows.length > 1) return rows.every((row) => row.agrees) ? "same" : "perhaps";
	if (agrees(rows, "title") && isSameName) return "perhaps";
	const abstract = rows.find(({ trait }) => trait === "abstract");
	const isLong = abstract?.agrees === true && abstract.before.length >= minAbstract;
	return isLong && agrees(rows, "place") ? "perhaps" : null;
}

function agrees(rows: readonly Evidence[], wanted: Trait): boolean {
	return rows.some(({ trait, agrees }) => trait === wanted && agrees);
}

/** Null if neither says anything: that is no evidence. */
function rowOf(
	trait: Trait,
	before = "",
	after = "",
	agrees = plain(before) === plain(after),
): Evidence | null {
	return before === "" && after === "" ? null : { trait, before, after, agrees };
}

/** A text without what may differ between two spellings of it. */
function plain(text: string): string {
	return text
		.normalize("NFC")
		.replace(/[\s_]+/g, " ")
		.trim()
		.toLowerCase();
}

/** The number of fields, with those that are gone and those that are new. */
function fieldsRow(known: FeatureDescription, found: FeatureDescription): Evidence | null {
	const [before, after] = [fieldsOf(known), fieldsOf(found)];
	const changes = [
		...before.filter((one) => !after.includes(one)).map((one) => `-${one}`),
		...after.filter((one) => !before.includes(one)).map((one) => `+${one}`),
	];
	const text = [after.length, changes.join(", ")].filter(Boolean).join(": ");
	return rowOf("fields", `${before.length}`, text, changes.length === 0);
}

/** Names with types, each once; servers change the case of names with their database. */
function fieldsOf({ fields }: FeatureDescription): string[] {
	const texts = fields.map(
		({ name, type }) => `${name.toUpperCase()} (${type.replace("esriFieldType", "")})`,
	);
	return [...new Set(texts)];
}

/** How features are distinguished; not the pictures, which a newer server draws in another way. */
function symbolsOf({ renderer }: FeatureDescription): string {
	if (renderer.type === "simple") return renderer.label;
	const by = renderer.type === "unique" ? renderer.fields.join(", ") : renderer.field;
	return `${by}: ${renderer.classes.map(({ label }) => label).join(", ")}`;
}

function countRow(before: number | null, after: number | null): Evidence | null {
	if (before === null || after === null) return null;
	const isNear = Math.abs(before - after) <= maxGrowth * Math.max(before, after);
	return rowOf("count", `${before}`, `${after}`, isNear);
}

/** The share that the common part of two rectangles has of both together, from 0 to 1. */
function overlapOf(before: readonly number[], after: readonly number[]): number {
	const [[west, south, east, north], [left, bottom, right, top]] = [widened(before), widened(after)];
	const width = Math.min(east, right) - Math.max(west, left);
	const height = Math.min(north, top) - Math.max(south, bottom);
	if (width <= 0 || height <= 0) return 0;
	const both = (east - west) * (north - south) + (right - left) * (top - bottom);
	return (width * height) / (both - width * height);
}

function widened([west = 0, south = 0, east = 0, north = 0]: readonly number[]) {
	return [west, south, Math.max(east, west + minSide), Math.max(north, south + minSide)] as const;
}
