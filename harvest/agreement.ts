import type { FeatureDescription, LangDescription, NamedDescription } from "../registry/description.ts";
import type { Bounds } from "../registry/entries.ts";

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
	| "keywords"
	| "layers";

/** One row of evidence: what was known, what was found, and whether that agrees. The texts are of no language, and may quote a service. */
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

/** Smallest share of the known fields, or of the known layers of a service, that has to be found again. */
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
	if ("renderer" in known) return "renderer" in found ? ofFeatures(known, found) : none;
	if ("renderer" in found) return none;
	if ("entries" in known) return "entries" in found ? ofEntries(known.entries, found.entries) : none;
	return "entries" in found ? none : ofNamed(known, found);
}

/** Whether a found layer is the known one by its name, too: a layer of a row of alike ones has another one. */
export function hasItsName({ sure, rows }: Agreement): boolean {
	return sure !== null && rows.every((row) => row.agrees || (row.trait !== "name" && row.trait !== "title"));
}

const none: Agreement = { sure: null, rows: [] };

function ofFeatures(known: FeatureDescription, found: FeatureDescription): Agreement {
	const fields = fieldsRow(known, found);
	const place = placeRow(known.bounds, found.bounds);
	const rows = rowsOf(
		textRow("name", known.name, found.name),
		textRow("geometry", known.geometry_type, found.geometry_type),
		fields,
		place,
		textRow("symbols", symbolsOf(known), symbolsOf(found)),
		countRow(known.count, found.count),
	);
	const isAlike = agrees(rows, "geometry") && shareOf(known, found) >= minShare && !isDisjoint(known, found);
	if (!isAlike) return { sure: null, rows };
	if (rows.every((row) => row.agrees)) return { sure: agrees(rows, "name") ? "same" : "perhaps", rows };
	if (agrees(rows, "name")) return { sure: "perhaps", rows };
	const isRenamed =
		known.fields.length >= minFields && rows.every((row) => row.agrees || row.trait === "name");
	return { sure: isRenamed && place !== null ? "perhaps" : null, rows };
}

function ofNamed(known: NamedDescription, found: NamedDescription): Agreement {
	const rows = rowsOf(
		textRow("title", known.title, found.title),
		textRow("abstract", known.abstract, found.abstract),
		placeRow(known.bounds, found.bounds),
		textRow("keywords", known.keywords?.toSorted().join(", "), found.keywords?.toSorted().join(", ")),
	);
	if (isDisjoint(known, found)) return { sure: null, rows };
	const isTitled = agrees(rows, "title");
	const isSameName = known.layers.join("\n") === found.layers.join("\n");
	// A title alone may be that of many layers.
	if (isTitled && (rows.length > 1 || isSameName))
		return { sure: rows.length > 1 && rows.every((row) => row.agrees) ? "same" : "perhaps", rows };
	const isTold = agrees(rows, "abstract") && (known.abstract?.length ?? 0) >= minAbstract;
	return { sure: isTold && agrees(rows, "place") ? "perhaps" : null, rows };
}

function ofEntries(known: readonly unknown[], found: readonly unknown[]): Agreement {
	const present = new Set(found);
	const common = known.filter((entry) => present.has(entry)).length;
	const isSame = common === known.length && common === found.length;
	const after = `${found.length}: -${known.length - common} +${found.length - common}`;
	const rows: Evidence[] = [{ trait: "layers", before: `${known.length}`, after, agrees: isSame }];
	if (isSame) return { sure: "same", rows };
	return { sure: common / known.length >= minShare ? "perhaps" : null, rows };
}

/** The rows that there are; what one side does not say is no evidence. */
function rowsOf(...rows: (Evidence | null)[]): Evidence[] {
	return rows.filter((row) => row !== null);
}

function agrees(rows: readonly Evidence[], trait: Trait): boolean {
	return rows.some((row) => row.trait === trait && row.agrees);
}

function textRow(trait: Trait, before = "", after = ""): Evidence | null {
	if (before === "" && after === "") return null;
	return { trait, before, after, agrees: plain(before) === plain(after) };
}

/** A text without what may differ between two spellings of it. */
function plain(text: string): string {
	return text
		.normalize("NFC")
		.replace(/[\s_]+/g, " ")
		.trim()
		.toLowerCase();
}

function fieldsRow(known: FeatureDescription, found: FeatureDescription): Evidence {
	const [before, after] = [fieldsOf(known), fieldsOf(found)];
	const changes = [
		...[...before].filter((one) => !after.has(one)).map((one) => `-${one}`),
		...[...after].filter((one) => !before.has(one)).map((one) => `+${one}`),
	];
	const text = [`${after.size}`, ...(changes.length > 0 ? [changes.join(", ")] : [])].join(": ");
	return { trait: "fields", before: `${before.size}`, after: text, agrees: changes.length === 0 };
}

function shareOf(known: FeatureDescription, found: FeatureDescription): number {
	const [before, after] = [fieldsOf(known), fieldsOf(found)];
	return before.size === 0 ? 0 : [...before].filter((one) => after.has(one)).length / before.size;
}

/** Names with types; servers change the case of names with their database. */
function fieldsOf({ fields }: FeatureDescription): Set<string> {
	return new Set(
		fields.map(({ name, type }) => `${name.toUpperCase()} (${type.replace("esriFieldType", "")})`),
	);
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
	return { trait: "count", before: `${before}`, after: `${after}`, agrees: isNear };
}

function placeRow(
	before: readonly number[] | undefined,
	after: readonly number[] | undefined,
): Evidence | null {
	if (!before || !after) return null;
	const [one, other] = [before.join(", "), after.join(", ")];
	return { trait: "place", before: one, after: other, agrees: overlapOf(before, after) >= minOverlap };
}

function isDisjoint(known: { bounds?: number[] }, found: { bounds?: number[] }): boolean {
	return (
		known.bounds !== undefined && found.bounds !== undefined && overlapOf(known.bounds, found.bounds) === 0
	);
}

/** The share that the common part of two rectangles has of both together, from 0 to 1. */
function overlapOf(before: readonly number[], after: readonly number[]): number {
	const [one, other] = [before, after].map((bounds) => widened(bounds as Bounds)) as [Bounds, Bounds];
	const width = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
	const height = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
	if (width <= 0 || height <= 0) return 0;
	return (width * height) / (areaOf(one) + areaOf(other) - width * height);
}

function widened([west, south, east, north]: Bounds): Bounds {
	return [west, south, Math.max(east, west + minSide), Math.max(north, south + minSide)];
}

function areaOf([west, south, east, north]: Bounds): number {
	return (east - west) * (north - south);
}
