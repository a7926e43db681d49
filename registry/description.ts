import type { FromSchema } from "json-schema-to-ts";
import { namedLayers, type Registration, serviceTypeOf } from "./registration.ts";
import { maxKeyword, maxKeywords, type description as schema } from "./schemas/description.ts";
import { validateLangDescription } from "./schemas/validate-description.ts";
import { type Lang, langs } from "./smallkey.ts";
import { plainText, tryJson } from "./untrusted.ts";

/** `layers/<ab>/<smallkey>.service.json` */
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
	const alike = fields.filter((field) => field.name.toLowerCase() === name.toLowerCase());
	return alike.find((field) => field.name === name) ?? alike[0];
}

/** An invalid language is left out: the layer is served in its generic form. */
export function parseDescription(text: string): Description | null {
	const parts = (tryJson(text) ?? {}) as Description;
	const valid = langs.filter((lang) => validateLangDescription(parts[lang]));
	return valid.length > 0 ? Object.fromEntries(valid.map((lang) => [lang, parts[lang]])) : null;
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
	const names = "entries" in current ? [] : current.layers;
	return JSON.stringify(names) === JSON.stringify(namedLayers(registration, lang)) ? current : null;
}

export const middleRank = 1;

/** As in the older service: polygons below, points on top. */
export function drawingRank(description: Description | null): number {
	const { geometry_type } = (description?.en ?? {}) as Partial<FeatureDescription>;
	if (geometry_type === "esriGeometryPolygon") return 0;
	return geometry_type === "esriGeometryPoint" ? 2 : middleRank;
}

export function plainKeywords(keywords: readonly string[]): string[] {
	const plain = new Set(keywords.map((keyword) => plainText(keyword, maxKeyword)));
	return [...plain].filter(Boolean).slice(0, maxKeywords);
}
