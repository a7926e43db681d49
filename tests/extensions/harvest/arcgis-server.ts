import { layerPath } from "../../../registry/smallkey.ts";
import { writeFiles } from "../../helpers/world.ts";
import { featureAt } from "../../viewer/viewer.ts";
import { answerOf, contentOf, json, type Route } from "./memory.ts";
import { type Peer, png, text } from "./peer.ts";

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
		extent: { xmin: -123, ymin: 45.4215, xmax: -60, ymax: 70, spatialReference: { wkid: 4269 } },
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

/** Of one layer, in a map and a feature service. `query`: for features, and for their number. */
export function layerRoutes({
	layer = json(layerDocument()),
	legend: images = json(legend(entry("Station", 1))),
	query = json({ count: 12, features: [{}] }),
}: Partial<Record<"layer" | "legend" | "query", Route>> = {}): Record<string, Route> {
	return {
		[mapLayer.replace("/3", "/legend")]: images,
		[mapLayer]: layer,
		[`${mapLayer}/query`]: query,
		[featureLayer]: layer,
		[`${featureLayer}/query`]: query,
	};
}

export function serveLayer(peer: Peer, ...answers: Parameters<typeof layerRoutes>) {
	for (const [path, route] of Object.entries(layerRoutes(...answers))) {
		const { status, type, body } = contentOf(answerOf(route));
		peer.on(path, text(body, type, status));
	}
}

export function storeLayer(folder: string, peer: Peer, smallkey: string, path = mapLayer) {
	writeFiles(folder, { [layerPath(smallkey)]: JSON.stringify(featureAt(peer.origin + path)) });
}
