import type { FromSchema } from "json-schema-to-ts";
import { type Bounds, boundsOfExtent } from "./projections.ts";
import { harvestedLangs, namedLayers, type Registration, serviceTypeOf } from "./registration.ts";
import { formats } from "./schemas/definitions.ts";
import {
	maxAbstract,
	maxKeyword,
	maxKeywords,
	maxTitle,
	type description as schema,
} from "./schemas/description.ts";
import { validateLangDescription } from "./schemas/validate-description.ts";
import { type Lang, parseLang } from "./smallkey.ts";
import { tryJson } from "./try-json.ts";
import { plainText } from "./untrusted-text.ts";

/** A service description: the content of `layers/<ab>/<smallkey>.service.json`. */
export interface Description extends FromSchema<typeof schema> {}

/** The result of harvesting the service of one language of a layer. */
export type LangDescription = NonNullable<Description["en"]>;

/** One layer of an ArcGIS service: its features, and how they are drawn. */
export type FeatureDescription = Extract<LangDescription, { renderer: unknown }>;

/** A description of the layers of an OGC service that a registration names. */
export type NamedDescription = Extract<LangDescription, { layers: unknown }>;

export type Field = FeatureDescription["fields"][number];

/** How a feature layer is drawn, independent of any viewer. */
export type Renderer = FeatureDescription["renderer"];

/** How one class of features is drawn. */
export type Drawing = NonNullable<Extract<Renderer, { type: "unique" }>["default"]>;

const numberType = /^esriFieldType(?:OID|SmallInteger|Integer|BigInteger|Single|Double)$/;

/** Whether the values of a field are numbers in a feature's attributes. */
export function isNumberType(type: string): boolean {
	return numberType.test(type);
}

/** Finds a field by its name: ArcGIS ignores the case of names, viewers do not. */
export function fieldNamed(name: string, fields: readonly Field[]): Field | undefined {
	const exact = fields.find((field) => field.name === name);
	return exact ?? fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

/** Longest description that is read, in characters; harvested ones are far shorter. */
const maxDescriptionLength = 2 * 1024 * 1024;

/** Whether `text` is an image that a description may hold. */
export function isImage(text: unknown): text is string {
	return typeof text === "string" && formats.image(text);
}

/**
 * Parses a service description. Never throws: an invalid language is left out, and the layer is then served in its
 * generic form.
 * @returns null where neither language is valid
 */
export function parseDescription(text: string): Description | null {
	if (text.length > maxDescriptionLength) return null;
	const valid = Object.entries(tryJson(text) ?? {}).filter(
		([lang, part]) => parseLang(lang) && validateLangDescription(part),
	);
	return valid.length > 0 ? inOrder(Object.fromEntries(valid)) : null;
}

/** The canonical text of a description, with a two-space indent: equal descriptions give equal texts. */
export function descriptionText(description: Description): string {
	return `${JSON.stringify(inOrder(description), null, 2)}\n`;
}

function inOrder({ en, fr }: Description): Description {
	return { ...(en && { en }), ...(fr && { fr }) };
}

/** The description of one language, if it is of the registered service, kind and layers; else null. */
export function currentDescription(
	registration: Registration,
	description: Description | null,
	lang: Lang,
): LangDescription | null {
	const known = description?.[lang];
	if (!known || known.service_url !== registration[lang].service_url) return null;
	const isFeature = serviceTypeOf(registration, lang) === "esriFeature";
	if (isFeature || "renderer" in known) return isFeature && "renderer" in known ? known : null;
	const names = namedLayers(registration, lang);
	if ("entries" in known) return names.length === 0 ? known : null;
	const isSame = names.length === known.layers.length && known.layers.every((name, at) => name === names[at]);
	return isSame ? known : null;
}

/**
 * Whether each language that is harvested has a harvested description of the registered service. A description that was
 * imported from an older service is not a harvested one.
 */
export function isDescribed(registration: Registration, description: Description | null): boolean {
	return harvestedLangs(registration).every((lang) => {
		const known = currentDescription(registration, description, lang);
		return known !== null && known.from !== "import";
	});
}

/** The rank of lines and of layers of unknown geometry. */
export const middleRank = 1;

/** A layer's rank in drawing order, as in the lists of the older service: polygons first (below), points last (on top). */
export function drawingRank(description: Description | null): number {
	const english = description?.en;
	const geometry = english && "geometry_type" in english ? english.geometry_type : "";
	if (geometry === "esriGeometryPolygon") return 0;
	return geometry === "esriGeometryPoint" ? 2 : middleRank;
}

/**
 * A service's texts about a layer in one language, for the catalogue: plain text, even where the stored description has
 * markup; and its bounds in degrees. Null or empty where the service has none, or the description is of another service.
 */
export function describedFor(
	{ registration, description }: { registration: Registration; description: Description | null },
	lang: Lang,
) {
	const known = currentDescription(registration, description, lang);
	const feature = known && "renderer" in known ? known : null;
	const title = feature ? feature.name : known && "title" in known ? known.title : "";
	const bounds = known?.bounds as Bounds | undefined;
	return {
		title: plainText(title ?? "", maxTitle) || null,
		description: plainText(known?.abstract ?? "", maxAbstract) || null,
		keywords: plainKeywords(known?.keywords ?? []),
		bounds: bounds ?? (feature?.extent ? boundsOfExtent(feature.extent) : null),
	};
}

/** Keywords as plain text: at most 20, each of at most 100 characters, without duplicates. */
export function plainKeywords(keywords: readonly string[]): string[] {
	const plain = keywords.map((keyword) => plainText(keyword, maxKeyword)).filter(Boolean);
	return [...new Set(plain)].slice(0, maxKeywords);
}
