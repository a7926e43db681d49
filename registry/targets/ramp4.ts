import { harmless } from "../shown.ts";
import { geometryFieldType, type LayerFacts } from "./facts.ts";
import type { Target } from "./target.ts";

/** A layer of the configuration of RAMP4 (ramp4-pcar4), whose schema allows no other members. */
export const ramp4: Target = {
	name: "ramp4",
	doc: "ramp4",
	docs: "ramp4",
	aliases: [],
	absent: () => null,
	render: (layer) => JSON.stringify(layer.type === "ogcWms" ? wmsLayer(layer) : featureLayer(layer)),
};

const featureInfoTypes = new Set(["text/html", "text/plain", "application/json"]);

function wmsLayer({ id, url, name, entries, entry }: LayerFacts): object {
	const type = entry.feature_info_type ?? "";
	return {
		id,
		layerType: "ogc-wms",
		url,
		name,
		sublayers: entries.map((one) => ({ id: one })),
		featureInfoMimeType: featureInfoTypes.has(type) ? type : undefined,
	};
}

function featureLayer({ id, url, name, nameField, metadataUrl, service }: LayerFacts): object {
	const fields = service.fields.filter((field) => field.type !== geometryFieldType);
	const fieldInfo = fields.map((field) => ({ name: field.name, alias: harmless(field.alias) }));
	return {
		id,
		layerType: "esri-feature",
		url,
		name,
		nameField: nameField || undefined,
		metadata: metadataUrl ? { url: metadataUrl } : undefined,
		extent: extentOf(service.extent),
		fieldMetadata: fieldInfo.length > 0 ? { fieldInfo } : undefined,
	};
}

/** The extent with its own spatial reference. Without one RAMP4 asks the service. */
function extentOf(extent: LayerFacts["service"]["extent"]): object | undefined {
	if (!extent) return undefined;
	const { xmin, ymin, xmax, ymax, wkid } = extent;
	return { xmin, ymin, xmax, ymax, spatialReference: { wkid } };
}
