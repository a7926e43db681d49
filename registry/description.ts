import { type Lang, langs } from "./smallkey.ts";

/** A field of a feature layer. */
export interface Field {
	name: string;
	alias: string;
	/** ArcGIS's own name of the type, such as `esriFieldTypeString`. */
	type: string;
}

/** ArcGIS's types of fields whose values are numbers. */
const numberTypes = new Set([
	"esriFieldTypeOID",
	"esriFieldTypeSmallInteger",
	"esriFieldTypeInteger",
	"esriFieldTypeBigInteger",
	"esriFieldTypeSingle",
	"esriFieldTypeDouble",
]);

/** Whether the values of a field are numbers in a feature's attributes. */
export function isNumberType(type: string): boolean {
	return numberTypes.has(type);
}

/** How one class of features is drawn. */
export interface Drawing {
	/** `""` where the service gives none. */
	label: string;
	/** A data URI of an image, base64. */
	image: string;
}

/** One symbol for every feature. */
export interface SimpleRenderer extends Drawing {
	type: "simple";
}

/** One symbol for each value of one to three fields. */
export interface UniqueRenderer {
	type: "unique";
	fields: string[];
	/** The symbol of every other feature, or null. */
	default: Drawing | null;
	/** `value` is a number where the one field holds numbers; the values of several fields are joined with `, `. */
	classes: (Drawing & { value: string | number })[];
}

/** One symbol for each range of a number. */
export interface BreaksRenderer {
	type: "breaks";
	field: string;
	/** Where the first range starts. */
	min: number;
	/** The symbol of every other feature, or null. */
	default: Drawing | null;
	/** In ascending order: each starts where the one before it ends. */
	classes: (Drawing & { max: number })[];
}

/** How a feature layer is drawn, in the words of no viewer. */
export type Renderer = SimpleRenderer | UniqueRenderer | BreaksRenderer;

/** A rectangle in the map's spatial reference; finite numbers. */
export interface Extent {
	wkid: number;
	xmin: number;
	ymin: number;
	xmax: number;
	ymax: number;
}

/** What was harvested from the service behind one language of a feature layer. */
export interface LangDescription {
	/** The address that it came from: it counts only while that is the registered one. */
	service_url: string;
	name: string;
	/** The field whose value names a feature; `""` where the service says none. */
	display_field: string;
	/** ArcGIS's own name of it, such as `esriGeometryPoint`. */
	geometry_type: string;
	/** Scale denominators between which the layer is drawn; 0 is no bound. */
	min_scale: number;
	max_scale: number;
	/** null where the service's own extent is unusable. */
	extent: Extent | null;
	fields: Field[];
	renderer: Renderer;
	/** How many features there are; null where the service does not say. */
	count: number | null;
}

/** A service description: the content of `layers/<ab>/<smallkey>.service.json`. */
export type Description = Partial<Record<Lang, LangDescription>>;

/** Longest description that is read, in characters: what harvesting writes stays far below. */
export const longestDescription = 2 * 1024 * 1024;

/** Longest image that a description may hold, in characters; it also bounds the pattern's work. */
const longestImage = 100_000;

/** A data URI of a known image type, in base64 (RFC 4648, section 4); its length is checked by itself. */
const imagePattern = /^data:image\/(?:png|jpeg|gif|bmp|svg\+xml);base64,([A-Za-z0-9+/]+={0,2})$/;

/** Whether `text` is an image that a description may hold. */
export function isImage(text: unknown): text is string {
	if (typeof text !== "string" || text.length > longestImage) return false;
	const data = imagePattern.exec(text)?.[1];
	return data !== undefined && data.length % 4 === 0;
}

/**
 * Reads a service description. Never throws: whatever somebody wrote into the file by hand, a language that is not
 * whole is left out, and the layer is served in its generic form.
 * @returns null where neither language is described
 */
export function parseDescription(text: string): Description | null {
	if (text.length > longestDescription) return null;
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return null;
	}
	if (!isObject(value)) return null;
	const description: Description = {};
	for (const lang of langs) {
		if (Object.hasOwn(value, lang) && isLangDescription(value[lang])) description[lang] = value[lang];
	}
	return Object.keys(description).length > 0 ? description : null;
}

/** The one form in which a description is written: equal descriptions give equal texts. Two-space indent. */
export function descriptionText(description: Description): string {
	const known = langs.filter((lang) => description[lang]);
	const ordered = Object.fromEntries(known.map((lang) => [lang, description[lang]]));
	return `${JSON.stringify(ordered, null, 2)}\n`;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isLangDescription(value: unknown): value is LangDescription {
	return (
		isObject(value) &&
		["service_url", "name", "display_field", "geometry_type"].every((name) => isText(value[name])) &&
		isScale(value.min_scale) &&
		isScale(value.max_scale) &&
		(value.extent === null || isExtent(value.extent)) &&
		isListOf(value.fields, isField) &&
		isRenderer(value.renderer) &&
		(value.count === null || isScale(value.count))
	);
}

function isText(value: unknown): value is string {
	return typeof value === "string";
}

function isScale(value: unknown): value is number {
	return Number.isFinite(value) && (value as number) >= 0;
}

function isListOf<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
	return Array.isArray(value) && value.every(isItem);
}

function isExtent(value: unknown): value is Extent {
	return (
		isObject(value) && ["wkid", "xmin", "ymin", "xmax", "ymax"].every((name) => Number.isFinite(value[name]))
	);
}

function isField(value: unknown): value is Field {
	return isObject(value) && isText(value.name) && isText(value.alias) && isText(value.type);
}

function isDrawing(value: unknown): value is Drawing & Record<string, unknown> {
	return isObject(value) && isText(value.label) && isImage(value.image);
}

function isUniqueClass(value: unknown): value is UniqueRenderer["classes"][number] {
	return isDrawing(value) && (isText(value.value) || Number.isFinite(value.value));
}

function isBreaksClass(value: unknown): value is BreaksRenderer["classes"][number] {
	return isDrawing(value) && Number.isFinite(value.max);
}

function isRenderer(value: unknown): value is Renderer {
	if (!isObject(value)) return false;
	if (value.type === "simple") return isDrawing(value);
	if (value.default !== null && !isDrawing(value.default)) return false;
	if (value.type === "unique") {
		const { fields } = value;
		return (
			isListOf(fields, isText) &&
			fields.length >= 1 &&
			fields.length <= 3 &&
			isListOf(value.classes, isUniqueClass)
		);
	}
	if (value.type !== "breaks") return false;
	return isText(value.field) && Number.isFinite(value.min) && isListOf(value.classes, isBreaksClass);
}
