import * as assert from "uvu/assert";
import type { Description } from "../../../registry/description.ts";
import type {
	LangPart1,
	LangPart2,
	Registration,
	Registration1,
	Registration2,
} from "../../../registry/registration.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { type FragmentSettings, layerFacts, type Target } from "../../../registry/targets/facts.ts";
import { renderAt as render } from "../../../registry/targets/table.ts";
import { assertAcceptedAt } from "../../viewer/accepted.ts";

export const mapServer = "https://host.example/arcgis/rest/services/X/MapServer/3";
export const featureServer = "https://host.example/arcgis/rest/services/X/FeatureServer/0";
export const metadata = {
	metadata_url: "https://host.example/m.xml",
	catalogue_url: "https://host.example/c",
};

export function wmsWith(more: Partial<LangPart1>): Registration1 {
	const entry = { service_url: "https://host.example/wms", layer: "roads", ...more };
	return { version: "1.0.0", payload_type: "wms", en: entry, fr: entry };
}

export function version2(node: LangPart2): Registration2 {
	return { version: "2.0", en: node, fr: node };
}

export function describedAt(service_url: string): Description {
	const lang = {
		service_url,
		name: "Stations",
		display_field: "",
		geometry_type: "esriGeometryPoint",
		min_scale: 5000000,
		max_scale: 1000,
		extent: { wkid: 3978, xmin: 1, ymin: 2, xmax: 3, ymax: 4 },
		fields: [
			{ name: "OBJECTID", alias: "Number", type: "esriFieldTypeOID" },
			{ name: "SHAPE", alias: "Shape", type: "esriFieldTypeGeometry" },
			{ name: "NAME", alias: "<b>Name</b>", type: "esriFieldTypeString" },
		],
		renderer: { type: "simple" as const, label: "Station", image: "data:image/png;base64,iVBORw0KGgo=" },
		count: 2000,
	};
	return { en: lang, fr: lang };
}

interface RenderOptions {
	lang?: Lang;
	description?: Description;
	settings?: Partial<FragmentSettings>;
}

export function renderText(
	target: Target,
	registration: Registration,
	options: RenderOptions = {},
): string | null {
	const settings = { metadataUrl: "", catalogueUrl: "", ...options.settings };
	const { lang = "en", description = null } = options;
	return render(target.name, layerFacts(lang, "k", registration, description, settings));
}

/** What a target makes of a layer, which its readers have to accept; null where it cannot be expressed there. */
export function renderAt(
	target: Target,
	registration: Registration,
	options: RenderOptions = {},
	// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
): any {
	const text = renderText(target, registration, options);
	if (text === null) return null;
	assert.not.match(text, /\n/);
	assertAcceptedAt(target.name, text);
	return JSON.parse(text);
}
