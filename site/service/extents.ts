import type { Extent } from "../../registry/extent.ts";
import { type Bounds, type Box, boundsOf, projectBox, projectionOf } from "../../registry/projections.ts";
import { numberOf, objectOf } from "./answer.ts";
import { type Document, lacksReference } from "./arcgis.ts";
import references from "./references.json" with { type: "json" };

/** Well-known id → its definition for proj4: the spatial references of Canada beyond those of maps (EPSG, Esri). */
const definitions = new Map(
	Object.entries(references).flatMap(([definition, wkids]) =>
		wkids.map((wkid) => [wkid, definition] as const),
	),
);

/** A rectangle with the definition of its spatial reference for proj4. */
export interface Area {
	box: Box;
	definition: string;
}

/** Characters of a definition in well-known text. */
const maxTextLength = 5_000;

/** Accepts the well-known text of a spatial reference that has coordinates on the earth. */
const wellKnownText = /^\s*(?:PROJCS|GEOGCS|PROJCRS|PROJECTEDCRS|GEOGCRS|GEODCRS|GEODETICCRS)\s*\[/i;

/** The definition of an ArcGIS spatial reference for proj4; null if it is not known. */
function definitionOf(reference: unknown): string | null {
	const { latestWkid, wkid, wkt, wkt2 } = objectOf(reference);
	// `latestWkid` is EPSG's id if `wkid` is Esri's older one.
	for (const id of [latestWkid, wkid].map((value) => numberOf(value) ?? 0)) {
		const definition = projectionOf(id) ?? definitions.get(id);
		if (definition) return definition;
	}
	const text = [wkt, wkt2].find((value) => typeof value === "string" && wellKnownText.test(value));
	return typeof text === "string" && text.length <= maxTextLength ? text : null;
}

/**
 * Reads a layer's extent. One without a spatial reference is in the service's, else in that of the layer's source.
 * @param service spatial reference of the service, from its own document
 * @returns null if the numbers, or the spatial reference, are unusable
 */
export function readArea(layer: Document, service: unknown = null): Area | null {
	const extent = objectOf(layer.extent);
	const sides = ["xmin", "ymin", "xmax", "ymax"].map((name) => numberOf(extent[name]) ?? Number.NaN);
	const [xmin, ymin, xmax, ymax] = sides as [number, number, number, number];
	if (!(xmin <= xmax && ymin <= ymax)) return null;
	const definition = lacksReference(layer)
		? (definitionOf(service) ?? definitionOf(layer.sourceSpatialReference))
		: definitionOf(extent.spatialReference);
	return definition === null ? null : { box: { xmin, ymin, xmax, ymax }, definition };
}

/** Projects an ArcGIS extent to the map's spatial reference; null if it is unusable, or does not lie in it. */
export function projectExtent(extent: unknown, mapWkid: number): Extent | null {
	const area = readArea({ extent });
	return area && onMap(area, mapWkid);
}

/** An area in the map's spatial reference, rounded outwards; null if it does not lie in it. */
export function onMap({ box, definition }: Area, mapWkid: number): Extent | null {
	return projectBox(box, definition, mapWkid);
}

/** An area in degrees; null if it is not on the earth. */
export function inDegrees(area: Area): Bounds | null {
	return boundsOf(onMap(area, 4326));
}
