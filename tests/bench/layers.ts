import { canonicalText, type Registration1 } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { writeFiles } from "../helpers/world.ts";

export interface Layer {
	smallkey: string;
	registration: Registration1;
}

function registrationOf(smallkey: string, index: number): Registration1 {
	const isWms = index % 10 < 7;
	const entry = (place: string, service_name: string) => {
		if (isWms) {
			const service_url = `https://maps${index % 97}.example.ca/wms/${place}`;
			return { service_url, layer: `layer_${index}`, service_name };
		}
		const folder = `https://gis${index % 89}.example.ca/arcgis/rest/services/${place}`;
		return { service_url: `${folder}/MapServer/${index % 9}`, service_name };
	};
	const en = entry(`${smallkey}_en`, `Layer ${index} of Canada`);
	const fr = entry(`${smallkey}_fr`, `Couche ${index} du Canada, été`);
	return { version: "1.0.0", payload_type: isWms ? "wms" : "feature", en, fr } as Registration1;
}

/** Generates `count` layers, the same each time: seven of ten are wms, the others feature. */
export function generateLayers(count: number): Layer[] {
	return Array.from({ length: count }, (_, index) => {
		// Multiplication by this prime (Knuth) spreads the smallkeys over the folders.
		const smallkey = `${(Math.imul(index, 2_654_435_761) >>> 0).toString(36)}-${index}`;
		return { smallkey, registration: registrationOf(smallkey, index) };
	});
}

/** The registration with another English name. */
export function renamed(registration: Registration1, service_name: string): Registration1 {
	return { ...registration, en: { ...registration.en, service_name } };
}

/** Writes layers below `folder`, as `layers/<ab>/<smallkey>.json`. */
export function writeLayers(folder: string, layers: readonly Layer[]): void {
	for (const { smallkey, registration } of layers)
		writeFiles(folder, { [layerPath(smallkey)]: canonicalText(registration) });
}
