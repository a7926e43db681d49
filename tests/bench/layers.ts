import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalText, type Registration1 } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";

function registrationOf(smallkey: string, index: number): Registration1 {
	const entry = (lang: string) => {
		const service_name = lang === "en" ? `Layer ${index} of Canada` : `Couche ${index} du Canada, été`;
		const place = `${smallkey}_${lang}`;
		if (index % 10 < 7) {
			const service_url = `https://maps${index % 97}.example.ca/wms/${place}`;
			return { service_url, layer: `layer_${index}`, service_name };
		}
		const folder = `https://gis${index % 89}.example.ca/arcgis/rest/services/${place}`;
		return { service_url: `${folder}/MapServer/${index % 9}`, service_name };
	};
	const payload_type = index % 10 < 7 ? "wms" : "feature";
	return { version: "1.0.0", payload_type, en: entry("en"), fr: entry("fr") } as Registration1;
}

/** Generates `count` layers, the same each time: seven of ten are wms, the others feature. */
export function* generateLayers(count: number): Generator<{ smallkey: string; registration: Registration1 }> {
	for (let index = 0; index < count; index += 1) {
		// Multiplication by this prime (Knuth) spreads the smallkeys over the folders.
		const smallkey = `${(Math.imul(index, 2_654_435_761) >>> 0).toString(36)}-${index}`;
		yield { smallkey, registration: registrationOf(smallkey, index) };
	}
}

/** The registration with another English name. */
export function renamed(registration: Registration1, service_name: string): Registration1 {
	return { ...registration, en: { ...registration.en, service_name } };
}

/** Writes `count` layers below `folder`, as `layers/<ab>/<smallkey>.json`. */
export function writeLayers(folder: string, count: number): void {
	for (const { smallkey, registration } of generateLayers(count)) {
		const path = join(folder, layerPath(smallkey));
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, canonicalText(registration));
	}
}
