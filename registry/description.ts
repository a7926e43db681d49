import type { FromSchema } from "json-schema-to-ts";
import { harvestedLangs, namedLayers, type Registration, serviceTypeOf } from "./registration.ts";
import { formats } from "./schemas/definitions.ts";
import { maxKeyword, maxKeywords, type description as schema } from "./schemas/description.ts";
import { validateLangDescription } from "./schemas/validate-description.ts";
import { type Lang, parseLang } from "./smallkey.ts";
import { plainText, tryJson } from "./untrusted-text.ts";

/** The content of `layers/<ab>/<smallkey>.service.json`. */
export interface Description extends FromSchema<typeof schema> {}

export type LangDescription = NonNullable<Description["en"]>;

export type FeatureDescription = Extract<LangDescription, { renderer: unknown }>;

export type NamedDescription = Extract<LangDescription, { layers: unknown }>;

export type Field = FeatureDescription["fields"][number];

export type Renderer = FeatureDescription["renderer"];

export type Drawing = NonNullable<Extract<Renderer, { type: "unique" }>["default"]>;

export function isNumberType(type: string): boolean {
	return /^esriFieldType(?:OID|SmallInteger|Integer|BigInteger|Single|Double)$/.test(type);
}

/** ArcGIS ignores the case of names, viewers do not. */
export function fieldNamed(name: string, fields: readonly Field[]): Field | undefined {
	const exact = fields.find((field) => field.name === name);
	return exact ?? fields.find((field) => field.name.toLowerCase() === name.toLowerCase());
}

/** In characters; harvested descriptions are far shorter. */
const maxDescriptionLength = 2 * 1024 * 1024;

export function isImage(text: unknown): text is string {
	return typeof text === "string" && formats.image(text);
}

/** An invalid language is left out: the layer is served in its generic form. */
export function parseDescription(text: string): Description | null {
	if (text.length > maxDescriptionLength) return null;
	const valid = Object.entries(tryJson(text) ?? {}).filter(
		([lang, part]) => parseLang(lang) && validateLangDescription(part),
	);
	return valid.length > 0 ? inOrder(Object.fromEntries(valid)) : null;
}

export function descriptionText(description: Description): string {
	return `${JSON.stringify(inOrder(description), null, 2)}\n`;
}

function inOrder({ en, fr }: Description): Description {
	return { ...(en && { en }), ...(fr && { fr }) };
}

/** Null unless it is of the registered service, kind and layers. */
export function currentDescription(
	registration: Registration,
	description: Description | null,
	lang: Lang,
): LangDescription | null {
	const current = description?.[lang];
	if (!current || current.service_url !== registration[lang].service_url) return null;
	const isFeature = serviceTypeOf(registration, lang) === "esriFeature";
	if (isFeature || "renderer" in current) return isFeature && "renderer" in current ? current : null;
	const names = namedLayers(registration, lang);
	if ("entries" in current) return names.length === 0 ? current : null;
	const isSame =
		names.length === current.layers.length && current.layers.every((name, at) => name === names[at]);
	return isSame ? current : null;
}

/** One that was imported from an older service is not a harvested one. */
export function isDescribed(registration: Registration, description: Description | null): boolean {
	return harvestedLangs(registration).every((lang) => {
		const current = currentDescription(registration, description, lang);
		return current !== null && current.from !== "import";
	});
}

export const middleRank = 1;

/** As in the older service: polygons first (below), points last (on top). */
export function drawingRank(description: Description): number {
	const english = description.en;
	const geometry = english && "geometry_type" in english ? english.geometry_type : "";
	if (geometry === "esriGeometryPolygon") return 0;
	return geometry === "esriGeometryPoint" ? 2 : middleRank;
}

export function plainKeywords(keywords: readonly string[]): string[] {
	const plain = keywords.map((keyword) => plainText(keyword, maxKeyword)).filter(Boolean);
	return [...new Set(plain)].slice(0, maxKeywords);
}
