import { layerPath } from "../../../registry/smallkey.ts";
import { writeFiles } from "../../helpers/world.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { json, type Peer, png, type Route } from "./peer.ts";

export const mapLayer = "/arcgis/rest/services/Odd/MapServer/3";
export const featureLayer = "/arcgis/rest/services/Odd/FeatureServer/3";

/** A point layer with one symbol, as ArcGIS Server 10 describes it. */
export function layerDocument(more: object = {}): Record<string, unknown> {
	return {
		currentVersion: 10.81,
		id: 3,
		name: "Stations",
		type: "Feature Layer",
		geometryType: "esriGeometryPoint",
		minScale: 4000000,
		maxScale: 0,
		displayField: "NAME",
		extent: {
			xmin: -123,
			ymin: 45.4215,
			xmax: -60,
			ymax: 70,
			spatialReference: { wkid: 4269, latestWkid: 4269 },
		},
		drawingInfo: { renderer: { type: "simple", label: "Station", symbol: marker(255) } },
		fields: [
			{ name: "OBJECTID", type: "esriFieldTypeOID", alias: "OBJECTID" },
			{ name: "SHAPE", type: "esriFieldTypeGeometry", alias: "SHAPE" },
			{ name: "NAME", type: "esriFieldTypeString", alias: "Station name" },
			{ name: "CLASS", type: "esriFieldTypeInteger", alias: "Class" },
			{ name: "KIND", type: "esriFieldTypeString", alias: "Kind" },
		],
		...more,
	};
}

export function marker(red: number): object {
	return { type: "esriSMS", style: "esriSMSCircle", color: [red, 0, 0, 255], size: 6 };
}

/** A legend entry whose image is `png(mark)`. */
export function entry(label: string, mark: number, more: object = {}): object {
	return {
		label,
		contentType: "image/png",
		imageData: png(mark),
		url: "abc",
		height: 20,
		width: 20,
		...more,
	};
}

export function legend(...entries: object[]): object {
	return {
		layers: [
			{ layerId: 0, layerName: "Other", legend: [entry("other layer", 99)] },
			{ layerId: 3, layerName: "Stations", legend: entries },
		],
	};
}

/** Lets a peer be the ArcGIS server of one layer, in a map service and in a feature service. */
export function serveLayer(
	peer: Peer,
	answers: { layer?: Route; legend?: Route; count?: Route; feature?: Route } = {},
): void {
	for (const path of [mapLayer, featureLayer]) {
		peer.on(path, answers.layer ?? json(layerDocument()));
		peer.on(`${path}/query`, (request, response) => {
			const isCount = request.url?.includes("returnCountOnly");
			const route = isCount
				? (answers.count ?? json({ count: 12 }))
				: (answers.feature ?? json({ features: [{}] }));
			route(request, response);
		});
	}
	peer.on(mapLayer.replace("/3", "/legend"), answers.legend ?? json(legend(entry("Station", 1))));
}

export function storeLayer(folder: string, peer: Peer, smallkey: string, path = mapLayer): void {
	writeFiles(folder, { [layerPath(smallkey)]: JSON.stringify(featureAt(peer.origin + path)) });
}
