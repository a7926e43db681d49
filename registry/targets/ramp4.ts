import { readInfoTypes } from "../registration.ts";
import { escapeMarkup } from "../untrusted.ts";
import { type LayerFacts, layerAddress, plainInfoType, type Render, type Target } from "./facts.ts";

/** RAMP4 (ramp4-pcar4), whose schema allows no other members. */
export const ramp4: Target = {
	name: "ramp4",
	doc: "ramp4",
	docs: "ramp4",
	aliases: [],
	absent: () => null,
};

export const renderRamp4: Render = (layer) => {
	const { id, url, name, entries } = layer;
	switch (layer.type) {
		case "ogcWms":
			return entries.length > 0 ? wmsLayer(layer) : null;
		case "esriFeature":
			return featureLayer(layer);
		case "esriTile":
			return { id, layerType: "esri-tile", url, name };
		case "esriImage":
			return { id, layerType: "esri-imagery", url, name };
		case "esriMapServer":
			if (entries.length === 0) return null;
			return { id, layerType: "esri-map-image", url, name, sublayers: entries.map((index) => ({ index })) };
		case "esriFeatureServer":
			return entries.length === 1
				? featureLayer({ ...layer, url: layerAddress(url, entries[0] as number) })
				: null;
		case "ogcWmts":
			return null;
	}
};

function wmsLayer(layer: LayerFacts): object {
	const { id, url, name, entries } = layer;
	const type = plainInfoType(layer) ?? "";
	return {
		id,
		layerType: "ogc-wms",
		url,
		name,
		sublayers: entries.map((entry) => ({ id: entry })),
		featureInfoMimeType: readInfoTypes.has(type) ? type : undefined,
	};
}

function featureLayer(layer: LayerFacts): object {
	const { id, url, name, nameField, members, metadataUrl, service, columns } = layer;
	const { xmin, ymin, xmax, ymax, wkid } = service.extent ?? {};
	const fieldInfo = columns.map((field) => ({ name: field.name, alias: escapeMarkup(field.alias) }));
	return {
		id,
		layerType: "esri-feature",
		url,
		name,
		nameField: nameField || undefined,
		mouseTolerance: members.tolerance,
		metadata: metadataUrl ? { url: metadataUrl } : undefined,
		// Without an extent, RAMP4 requests it from the service.
		extent: service.extent ? { xmin, ymin, xmax, ymax, spatialReference: { wkid } } : undefined,
		fieldMetadata: fieldInfo.length > 0 ? { fieldInfo } : undefined,
	};
}
